package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"plimsoll/ground/host/dirs"
)

var errNotDir = syscall.ENOTDIR

// writeFile replaces a file atomically: a reader sees the old or the new text, even after a power cut.
func writeFile(path string, text []byte, mode os.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return environment(fmt.Errorf("write %s: %w", path, err))
	}
	defer func() {
		if err != nil {
			err = environment(fmt.Errorf("write %s: %w", path, err))
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func sys(info os.FileInfo) (stat *syscall.Stat_t, ok bool) {
	if info == nil {
		return nil, false
	}
	stat, ok = info.Sys().(*syscall.Stat_t)
	return stat, ok
}

// readData reads a file of the data folder.
func (c *Cluster) readData(name string) ([]byte, error) {
	return dirs.ReadIn(c.DataDir(), name, dataFileMax)
}

// dataFileMax is far more than a pid file or PG_VERSION takes.
const dataFileMax = 64 << 10

// syncDir makes a rename in the folder survive a power cut.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return environment(fmt.Errorf("sync %s: %w", dir, err))
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return environment(fmt.Errorf("sync %s: %w", dir, err))
	}
	return nil
}

// removeCluster removes a cluster's folder, the marker last, so that an interrupted removal still leaves a folder known
// as ours. os.RemoveAll follows no link, even one that is put in the place of a folder meanwhile.
func removeCluster(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return environment(fmt.Errorf("remove cluster: %w", err))
	}
	ReleaseMemory(filepath.Join(dir, "data"))
	for _, e := range entries {
		if e.Name() == MarkerFile {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return environment(fmt.Errorf("remove cluster: %w", err))
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return environment(fmt.Errorf("remove cluster: %w", err))
	}
	return nil
}

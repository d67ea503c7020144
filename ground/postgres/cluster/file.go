package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/kept"
)

var errNotDir = syscall.ENOTDIR

// writeFile replaces a file atomically: a reader sees the old or the new text, even after a power cut.
func writeFile(path string, text []byte, mode os.FileMode) error {
	if err := kept.WriteText(path, text, mode); err != nil {
		return environment(fmt.Errorf("write %s: %w", path, err))
	}
	return nil
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
	if err := kept.SyncFolder(dir); err != nil {
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
	if m, err := readMarker(dir); err == nil {
		if err := m.removeOutside(); err != nil {
			return fmt.Errorf("remove cluster: %w", err)
		}
	}
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

package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

var errNotDir = syscall.ENOTDIR

// writeFile replaces a file whole: whoever reads it sees the old or the new
// text, even after a power cut.
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

// removeCluster removes a cluster's folder so that one cut short is still known
// as ours: the marker goes last.
func removeCluster(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return environment(fmt.Errorf("remove cluster: %w", err))
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

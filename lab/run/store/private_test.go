package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// withUmask calls do under another umask, which belongs to the whole process.
func withUmask(mask int, do func()) {
	before := syscall.Umask(mask)
	defer syscall.Umask(before)
	do()
}

func TestRunsAreTheirOwnersAlone(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o077} {
		withUmask(mask, func() {
			s, ids := stored(t, noon)
			mark, err := s.UnderWay(t.Context(), ids[0])
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = mark.Release() }()
			folder := filepath.Dir(s.Dir(ids[0]))
			_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
				if err != nil {
					t.Fatal(err)
				}
				info, err := e.Info()
				if err != nil {
					t.Fatal(err)
				}
				if e.Name() != underWayFile && info.Mode().Perm()&0o077 != 0 {
					t.Errorf("umask %03o: %s has mode %03o", mask, path, info.Mode().Perm())
				}
				return nil
			})
		})
	}
}

// A folder of runs that an earlier version made is made private as well.
func TestOlderRunsAreClosed(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "runs")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(folder).Begin(noon, 1); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, error %v: want 0700", info.Mode(), err)
	}
}

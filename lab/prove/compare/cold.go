package compare

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/rig"
)

// dropCaches is Linux's interface to drop the page cache of the whole machine.
const dropCaches = "/proc/sys/vm/drop_caches"

// ColdStart restarts the server of a rig with empty caches and says what could not be done. Without a rig, or where
// another process keeps the server, it is not restarted.
func ColdStart(r *rig.Rig) func(ctx context.Context, settings map[string]string) (missing []string, err error) {
	return func(ctx context.Context, settings map[string]string) (missing []string, err error) {
		if r == nil || !r.Started() {
			return []string{"the server is not restarted: this command did not start it (run 'plimsoll down' first)",
				"the operating system's cache is not dropped while the server runs"}, nil
		}
		err = restart(ctx, r, settings, func() error { missing = emptyCache(r.Cluster().DataDir()); return nil })
		return missing, err
	}
}

// Restart of the server of a rig with settings on its command line; nil where this process did not start it.
func Restart(r *rig.Rig) func(ctx context.Context, settings map[string]string) error {
	if r == nil || !r.Started() {
		return nil
	}
	return func(ctx context.Context, settings map[string]string) error {
		return restart(ctx, r, settings, func() error { return nil })
	}
}

func restart(ctx context.Context, r *rig.Rig, settings map[string]string, between func() error) error {
	before := r.DSN().Secret()
	var all []profile.Setting
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		all = append(all, profile.Setting{Name: name, Value: settings[name]})
	}
	err := r.Restart(ctx, between, all...)
	if err == nil && r.DSN().Secret() != before {
		err = problem.New(problem.Environment, fmt.Errorf("the server started on a different port"), "try again")
	}
	return err
}

// emptyCache drops the cache of the operating system, or asks it to forget the files of a folder.
func emptyCache(dir string) (missing []string) {
	unix.Sync()
	err := os.WriteFile(dropCaches, []byte("3\n"), 0)
	if err == nil {
		return nil
	}
	left := 0
	_ = process.WithOwnerPermissions(dir, func() {
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return nil
			}
			if forget(path) != nil {
				left++
			}
			return nil
		})
	})
	missing = []string{"the operating system's cache cannot be dropped here; it was " +
		"asked to evict the files of the data folder"}
	if left > 0 {
		missing = append(missing, fmt.Sprintf("%d files of the data folder could not be evicted", left))
	}
	return missing
}

func forget(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

package system

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
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/problem"
)

// dropCaches is Linux's interface to drop the page cache of the whole machine.
const dropCaches = "/proc/sys/vm/drop_caches"

// Restarts returns how to restart the system's server with settings on its command line, so that nothing of them stays;
// nil where this process did not start it.
func (y *System) Restarts() func(ctx context.Context, settings map[string]string) error {
	r := y.rig
	if r == nil || !r.Started() {
		return nil
	}
	return func(ctx context.Context, settings map[string]string) error {
		return r.restart(ctx, settings, func() {})
	}
}

// StartCold restarts the system's server with empty caches and says what could not be done. A server that this process
// did not start is not restarted.
func (y *System) StartCold(ctx context.Context, settings map[string]string) (missing []string, err error) {
	r := y.rig
	if r == nil || !r.Started() {
		return []string{"the server is not restarted: this command did not start it (run 'plimsoll down' first)",
			"the operating system's cache is not dropped while the server runs"}, nil
	}
	err = r.restart(ctx, settings, func() { missing = emptyCache(r.cluster.DataDir()) })
	return missing, err
}

// restart the server, with something to do while it is down, and settings that last until it is stopped.
func (r *Rig) restart(ctx context.Context, settings map[string]string, between func()) (err error) {
	if r.started == nil {
		return fmt.Errorf("restart cluster %s: another process keeps it up", r.cluster.Name())
	}
	before := r.DSN().Secret()
	if err := r.started.Stop(ctx, cluster.Fast); err != nil {
		return err
	}
	r.started = nil
	between()
	var all []profile.Setting
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		all = append(all, profile.Setting{Name: name, Value: settings[name]})
	}
	r.started, err = r.cluster.Start(ctx, cluster.StartOptions{Settings: all})
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
	missing = []string{"the operating system's cache cannot be dropped here; it was asked to evict the files of the " +
		"data folder"}
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

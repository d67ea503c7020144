package cluster

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/host/process"
)

// A cluster under creation or removal is called .NAME~RANDOM: hidden, and not a valid cluster name. One that no process
// works on was left by a killed command.
func leftoverPrefix(name string) string { return "." + name + "~" }

var leftoverName = regexp.MustCompile(`^\.([a-z0-9][a-z0-9_-]{0,39})~[0-9]+$`)

// sweep removes what killed commands left; locked is the cluster whose lock we hold. Errors are ignored: a leftover
// blocks nobody.
func (s *Store) sweep(ctx context.Context, locked string) {
	entries, err := os.ReadDir(s.dir())
	if err != nil {
		return
	}
	for _, e := range entries {
		found := leftoverName.FindStringSubmatch(e.Name())
		if found == nil || !e.IsDir() || ctx.Err() != nil {
			continue
		}
		s.sweepOne(ctx, found[1], filepath.Join(s.dir(), e.Name()), found[1] == locked)
	}
}

func (s *Store) sweepOne(ctx context.Context, name, dir string, locked bool) {
	if !locked {
		l, err := lock.Acquire(ctx, s.lockPath(name), "sweep", 0)
		if err != nil {
			return // a process works on it
		}
		defer s.unlock(l, name)
	}
	if _, err := readMarker(dir); errors.Is(err, errForeign) {
		os.Remove(dir) // killed before it wrote the marker: ours only if empty
		return
	}
	endWorkers(ctx, filepath.Join(dir, "data"))
	if err := removeCluster(dir); err != nil {
		s.say("cannot remove %s, left by a killed command: %v", dir, err)
		return
	}
	s.say("removed %s, left by a killed command", dir)
}

// endWorkers ends what a killed initdb left running in its data folder.
func endWorkers(ctx context.Context, data string) {
	account, err := process.OwnerOf(data)
	if err != nil {
		return
	}
	workers, err := process.In(data, "postgres", account)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, w := range workers {
		if w.Signal(syscall.SIGKILL) == nil {
			_ = w.AwaitEnd(ctx)
		}
	}
}

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// all lists every process in /proc; those that end meanwhile are left out.
func all() ([]stat, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []stat
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil && !s.ended() {
			found = append(found, s)
		}
	}
	return found, nil
}

// In lists the account's processes that run a program with dir as their working directory.
func In(dir, program string, a *Account) (found []ID, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("list processes in %s: %w", dir, err)
	}
	processes, err := all()
	if err != nil {
		return nil, err
	}
	a.WithPermissions(func() {
		for _, s := range processes {
			if s.id.program() == program && s.id.worksIn(info) {
				found = append(found, s.id)
			}
		}
	})
	return found, nil
}

// At is the process with this pid, if it belongs to the account, runs the program and works in dir; otherwise the pid
// has been reused or is free.
func At(pid int, dir, program string, a *Account) (id ID, ok bool) {
	info, err := os.Stat(dir)
	if err != nil {
		return ID{}, false
	}
	id, err = Of(pid)
	if err != nil {
		return ID{}, false
	}
	a.WithPermissions(func() { ok = id.program() == program && id.worksIn(info) && id.Alive() })
	return id, ok
}

// Descendants are the children of a process, their children, and so on.
func (id ID) Descendants() ([]ID, error) {
	processes, err := all()
	if err != nil {
		return nil, err
	}
	var found []ID
	family := map[int]bool{id.PID: true}
	for grew := true; grew; {
		grew = false
		for _, s := range processes {
			if family[s.parent] && !family[s.id.PID] {
				family[s.id.PID], grew = true, true
				found = append(found, s.id)
			}
		}
	}
	return found, nil
}

// How long a process may take to stop. It obeys when it leaves the kernel, so a write to a slow disk finishes first.
const freezeMax = 10 * time.Second

// KillTree ends a process and all its descendants with SIGKILL. It stops the process first, so that no child is forked
// after the list was made; the descendants get no time to clean up.
func (id ID) KillTree(ctx context.Context) error {
	if err := id.freeze(ctx); err != nil {
		return err
	}
	family, err := id.Descendants()
	// If the list cannot be read, the stopped process must still go.
	errs := []error{err, id.Signal(syscall.SIGKILL)}
	for _, d := range family {
		if err := d.Signal(syscall.SIGKILL); !errors.Is(err, ErrGone) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (id ID) freeze(ctx context.Context) error {
	if err := id.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, freezeMax)
	defer cancel()
	for {
		s, err := readStat(id.PID)
		switch {
		case err != nil || s.id != id || s.ended():
			return ErrGone
		case s.stopped():
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), id.Signal(syscall.SIGCONT))
		case <-time.After(time.Millisecond):
		}
	}
}

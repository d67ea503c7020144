// Package lock provides mutual exclusion between commands: a lock file that names its holder and is released when the
// holder dies.
package lock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"plimsoll/ground/host/process"
)

// Owner says who holds a lock, and for what.
type Owner struct {
	process.ID
	What  string    `json:"what"` // "keeper", "create", …
	Since time.Time `json:"since"`
}

func (o Owner) String() string {
	return fmt.Sprintf("%s (pid %d, since %s)", o.What, o.PID, o.Since.Format(time.TimeOnly))
}

// HeldError says that another process holds the lock.
type HeldError struct {
	Path  string
	Owner Owner // zero while the owner has not yet written its name
}

func (e *HeldError) Error() string {
	if e.Owner.PID == 0 {
		return "in use by another process"
	}
	return "in use by " + e.Owner.String()
}

// Lock is a lock that this process holds.
type Lock struct {
	file *os.File
	path string
}

const retryEvery = 20 * time.Millisecond

// Acquire takes the lock, waiting at most wait for another owner; after that the error is a *HeldError. A lock ends
// with its process, so none is ever stale.
func Acquire(ctx context.Context, path, what string, wait time.Duration) (*Lock, error) {
	deadline := time.Now().Add(wait)
	for {
		l, err := try(path, what)
		if err == nil || !errors.As(err, new(*HeldError)) || time.Now().After(deadline) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait: %w (%w)", ctx.Err(), err)
		case <-time.After(retryEvery):
		}
	}
}

func try(path, what string) (*Lock, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o644)
		if err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			defer f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, &HeldError{path, readOwner(f)}
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		// Another process may have removed the file between our opening and locking it. Then our lock is on a file that
		// nobody else finds.
		if !stillAt(f, path) {
			f.Close()
			continue
		}
		l := &Lock{f, path}
		// On a full disk the owner's name stays empty. The lock holds all the same, and 'destroy', which frees the
		// disk, needs it.
		if err := l.sign(what); err != nil && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
			l.Release()
			return nil, err
		}
		return l, nil
	}
}

func stillAt(f *os.File, path string) bool {
	mine, err1 := f.Stat()
	named, err2 := os.Lstat(path)
	return err1 == nil && err2 == nil && os.SameFile(mine, named)
}

func (l *Lock) sign(what string) error {
	text, err := json.Marshal(Owner{process.Self(), what, time.Now().Truncate(time.Second)})
	if err != nil {
		return fmt.Errorf("write owner of lock: %w", err)
	}
	if err := l.file.Truncate(0); err != nil {
		return fmt.Errorf("write owner of lock: %w", err)
	}
	if _, err := l.file.WriteAt(append(text, '\n'), 0); err != nil {
		return fmt.Errorf("write owner of lock: %w", err)
	}
	return nil
}

// Release unlocks and leaves the file.
func (l *Lock) Release() error { return l.file.Close() }

// Remove unlocks and removes the file.
func (l *Lock) Remove() error {
	return errors.Join(os.Remove(l.path), l.file.Close())
}

// HeldBy is the owner of a lock; false when it is free.
func HeldBy(path string) (Owner, bool, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		return Owner{}, false, nil
	}
	if err != nil {
		return Owner{}, false, fmt.Errorf("read owner of lock: %w", err)
	}
	defer f.Close()
	// A shared lock is granted only when nobody holds the file; closing releases it.
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return readOwner(f), true, nil
	}
	if err != nil {
		return Owner{}, false, fmt.Errorf("read owner of lock %s: %w", path, err)
	}
	return Owner{}, false, nil
}

// readOwner is zero while the owner is still writing.
func readOwner(f *os.File) (o Owner) {
	text := make([]byte, 1024)
	n, _ := f.ReadAt(text, 0)
	_ = json.Unmarshal(text[:n], &o)
	return o
}

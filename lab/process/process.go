// Package process owns the processes of this machine as /proc shows them: who a
// pid really is, who its children are, and signalling it without hitting
// another that took over the number.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ID is a process beyond its number, which the kernel gives out again: no two
// processes of one boot share the number and the start.
type ID struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks after boot
}

// ErrGone says that the process has ended.
var ErrGone = errors.New("the process has ended")

// Self is this process.
func Self() ID {
	id, err := Of(os.Getpid())
	if err != nil {
		return ID{PID: os.Getpid()} // no /proc: the number alone has to do
	}
	return id
}

// Of is the process that has this number now.
func Of(pid int) (ID, error) {
	s, err := readStat(pid)
	if err != nil {
		return ID{}, err
	}
	return s.id, nil
}

// Alive says whether the process still runs; one that has ended and waits to be
// reaped does not.
func (id ID) Alive() bool {
	s, err := readStat(id.PID)
	return err == nil && s.id == id && !s.ended()
}

// Signal reaches the process or nobody: the handle is taken first (a pidfd,
// where the kernel has it), the identity checked after.
func (id ID) Signal(sig syscall.Signal) error {
	p, err := os.FindProcess(id.PID)
	if err != nil {
		return ErrGone
	}
	defer p.Release()
	if !id.Alive() {
		return ErrGone
	}
	err = p.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return ErrGone
	}
	if err != nil {
		return fmt.Errorf("signal process %d: %w", id.PID, err)
	}
	return nil
}

// The end of a process that is not our child can only be looked for.
const (
	lookFirst = 5 * time.Millisecond
	lookMax   = 100 * time.Millisecond
)

// AwaitEnd returns when the process has ended.
func (id ID) AwaitEnd(ctx context.Context) error {
	for pause := lookFirst; id.Alive(); pause = min(2*pause, lookMax) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	return nil
}

// program is the file name of what the process runs; empty when it may not be known.
func (id ID) program() string {
	exe, err := os.Readlink(procFile(id.PID, "exe"))
	if err != nil {
		return ""
	}
	return filepath.Base(strings.TrimSuffix(exe, " (deleted)"))
}

// worksIn says whether the process's working directory is dir, by whatever
// path; false when it may not be known.
func (id ID) worksIn(dir os.FileInfo) bool {
	cwd, err := os.Stat(procFile(id.PID, "cwd"))
	return err == nil && os.SameFile(cwd, dir)
}

func procFile(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

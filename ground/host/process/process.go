// Package process deals with processes of this machine through /proc: the identity behind a pid, its descendants, and
// signals that never hit another process that reused the pid.
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

// ID identifies a process better than its pid, which the kernel reuses: no two processes of one boot share pid and
// start time.
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
		return ID{PID: os.Getpid()} // no /proc: the pid alone must do
	}
	return id
}

// Of is the process that has this pid now.
func Of(pid int) (ID, error) {
	s, err := readStat(pid)
	if err != nil {
		return ID{}, err
	}
	return s.id, nil
}

// Alive says whether the process still runs; a zombie does not.
func (id ID) Alive() bool {
	s, err := readStat(id.PID)
	return err == nil && s.id == id && !s.ended()
}

// Signal reaches this process or none: it takes the handle first (a pidfd, if the kernel has it) and then checks the
// identity.
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

// The end of a process that is not our child must be polled.
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

// program is the file name of the program; empty if we may not know it.
func (id ID) program() string {
	exe, err := os.Readlink(procFile(id.PID, "exe"))
	if err != nil {
		return ""
	}
	return filepath.Base(strings.TrimSuffix(exe, " (deleted)"))
}

// worksIn says whether the process's working directory is dir, also through links; false if we may not know.
func (id ID) worksIn(dir os.FileInfo) bool {
	cwd, err := os.Stat(procFile(id.PID, "cwd"))
	return err == nil && os.SameFile(cwd, dir)
}

func procFile(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

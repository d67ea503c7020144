// Package burner owns processes that take processors from a measured system: nobody's children, under a name of their
// own, which end by themselves whatever becomes of their maker.
package burner

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"plimsoll/ground/host/cpu"
	"plimsoll/ground/host/process"
)

// Name of a burner, as the kernel keeps it.
const Name = "plimsoll-burner"

// Burners that were started together.
type Burners []process.ID

// Start so many, with a shell by a link in dir. Each ends after so many seconds of processor time at the latest.
func Start(ctx context.Context, dir string, n, most int) (all Burners, err error) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		return nil, err
	}
	link := filepath.Join(dir, Name)
	if err := os.Symlink(shell, link); err != nil && !os.IsExist(err) {
		return nil, err
	}
	for range n {
		script := fmt.Sprintf(`ulimit -t %d; "$0" -c 'while :; do :; done' >/dev/null 2>&1 & echo $!`, most)
		output, err := exec.CommandContext(ctx, shell, "-c", script, link).Output()
		var pid int
		if err == nil {
			_, err = fmt.Sscan(string(output), &pid)
		}
		var started process.ID
		if err == nil {
			started, err = process.Of(pid)
		}
		if err != nil {
			return all, fmt.Errorf("start %s: %w", Name, err)
		}
		all = append(all, started)
		register(started)
	}
	return all, nil
}

// ours are the burners that this process has started.
var ours struct {
	sync.Mutex
	started Burners
}

func register(one process.ID) {
	ours.Lock()
	defer ours.Unlock()
	ours.started = append(ours.started, one)
}

// Ours are the processes of all burners that this process has started and that have not ended: who looks for strangers
// leaves them out.
func Ours() (pids []int) {
	ours.Lock()
	defer ours.Unlock()
	ours.started = slices.DeleteFunc(ours.started, func(one process.ID) bool { return !one.Alive() })
	for _, one := range ours.started {
		pids = append(pids, one.PID)
	}
	return pids
}

// Used so far; nothing of one that has ended.
func (b Burners) Used() (sum time.Duration) {
	for _, one := range b {
		if used, err := cpu.Process(one.PID); err == nil {
			sum += used
		}
	}
	return sum
}

// End them.
func (b Burners) End() {
	for _, one := range b {
		_ = one.Signal(syscall.SIGKILL) // it may have ended by itself
	}
}

// Package memory reads how much private memory processes use. What cannot be read is an error, never zero.
package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"plimsoll/ground/host/process"
)

// private is the line of /proc/PID/status (proc_pid_status(5)) of memory that belongs to one process: heap and stacks.
// Program files and shared memory, such as a database's buffers, are excluded, so it can be summed over processes; only
// pages shared since a fork count twice.
const private = "RssAnon"

// Tree is the memory of a process and all its descendants.
func Tree(root process.ID) (int64, error) {
	family, err := root.Descendants()
	if err != nil {
		return 0, err
	}
	sum, err := memoryOf(root.PID)
	if err != nil {
		return 0, err
	}
	for _, id := range family {
		n, err := memoryOf(id.PID)
		if errors.Is(err, process.ErrGone) || errors.Is(err, errNone) {
			continue // it has ended since, or is about to
		}
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// Own is the memory of this process, without children.
func Own() (int64, error) { return memoryOf(os.Getpid()) }

func memoryOf(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return 0, process.ErrGone
	}
	if err != nil {
		return 0, fmt.Errorf("read memory of process %d: %w", pid, err)
	}
	return parse(pid, string(text))
}

// parse finds a line such as "RssAnon:        1234 kB"; a zombie has none.
func parse(pid int, text string) (int64, error) {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		if name != private {
			continue
		}
		number, unit, _ := strings.Cut(strings.TrimSpace(value), " ")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || unit != "kB" {
			return 0, fmt.Errorf("read memory of process %d: unexpected %q", pid, line)
		}
		return n << 10, nil
	}
	if strings.Contains(text, "\nState:\tZ") {
		return 0, process.ErrGone
	}
	return 0, fmt.Errorf("read memory of process %d: %w", pid, errNone)
}

// errNone: a process that is ending has released its memory before it is a zombie.
var errNone = errors.New("it has no line " + private)

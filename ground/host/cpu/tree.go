// Package cpu reads processor time: of this process, of another with all its descendants, and of the whole machine.
// What cannot be read is an error, never zero.
package cpu

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// clockTick is the unit of times in /proc: 1/100 s on every Linux that Go runs on (USER_HZ).
const clockTick = 10 * time.Millisecond

// process is one line of /proc/PID/stat.
type process struct {
	parent int
	began  int64         // clock ticks after the machine's start
	used   time.Duration // by itself
	reaped time.Duration // by children that have ended and were waited for
}

func readProcess(pid int) (process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, fmt.Errorf("read process %d: %w", pid, err)
	}
	// The name, in parentheses, may hold anything; the fields begin after it (proc(5)).
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return process{}, fmt.Errorf("read process %d: %d fields", pid, len(fields))
	}
	number := func(field int) int64 { n, _ := strconv.ParseInt(fields[field-3], 10, 64); return n }
	ticks := func(field int) time.Duration { return time.Duration(number(field)) * clockTick }
	return process{parent: int(number(4)), began: number(22), used: ticks(14) + ticks(15),
		reaped: ticks(16) + ticks(17)}, nil
}

// Own is the processor time of this process, without children.
func Own() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("read own processor time: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

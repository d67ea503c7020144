package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// stat holds the fields of /proc/PID/stat that we use.
type stat struct {
	id      ID
	parent  int
	threads int
	state   byte
}

// ended: the main thread of a killed process can be a zombie while other threads still hold files and locks; the
// process has ended only without them.
func (s stat) ended() bool { return s.state == 'X' || s.state == 'Z' && s.threads <= 1 }

func (s stat) stopped() bool { return s.state == 'T' || s.state == 't' }

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(procFile(pid, "stat"))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return stat{}, ErrGone
	}
	if err != nil {
		return stat{}, fmt.Errorf("read process %d: %w", pid, err)
	}
	return parseStat(pid, string(text))
}

// Fields of proc(5) after the program's name, which is in parentheses and may hold anything: state is field 3, the
// parent 4, the number of threads 20, the start 22.
func parseStat(pid int, text string) (stat, error) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return stat{}, fmt.Errorf("read process %d: unexpected %q", pid, text)
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return stat{}, fmt.Errorf("read process %d: parent %w", pid, err)
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("read process %d: start %w", pid, err)
	}
	threads, err := strconv.Atoi(fields[17])
	if err != nil {
		return stat{}, fmt.Errorf("read process %d: threads %w", pid, err)
	}
	return stat{id: ID{pid, start}, parent: parent, threads: threads, state: fields[0][0]}, nil
}

// Activity of a process as the scheduler sees it.
type Activity int

// Ready: on a processor or in the queue for one. Asleep: it waits for something. Halted: stopped by a signal, or asleep
// for a disk.
const (
	Ready Activity = iota
	Asleep
	Halted
)

// State of the process that has this pid now.
func State(pid int) (Activity, error) {
	s, err := readStat(pid)
	switch {
	case err != nil:
		return Asleep, err
	case s.state == 'R':
		return Ready, nil
	case s.stopped(), s.state == 'D':
		return Halted, nil
	}
	return Asleep, nil
}

package cpu

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Schedule is what the scheduler did with a process, in nanoseconds.
type Schedule struct {
	Ran    time.Duration // on a processor
	Waited time.Duration // ready to run, but in a queue for a processor
}

// ReadSchedule adds up the live threads of a process. Threads that have ended are not included.
func ReadSchedule(pid int) (sum Schedule, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		return sum, fmt.Errorf("read process %d: it has no threads", pid)
	}
	for _, path := range threads {
		one, err := scheduleIn(path)
		if os.IsNotExist(err) {
			continue // it has ended since
		}
		if err != nil {
			return sum, fmt.Errorf("read process %d: %w", pid, err)
		}
		sum.Ran += one.Ran
		sum.Waited += one.Waited
	}
	return sum, nil
}

// ReadMainSchedule is ReadSchedule for a process of one thread, as a PostgreSQL backend is: one file instead of a
// folder.
func ReadMainSchedule(pid int) (Schedule, error) {
	s, err := scheduleIn(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err != nil {
		return s, fmt.Errorf("read process %d: %w", pid, err)
	}
	return s, nil
}

// scheduleIn reads time on a processor and time in the queue (Documentation/scheduler/sched-stats).
func scheduleIn(file string) (Schedule, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Schedule{}, err
	}
	return parseSchedule(file, string(text))
}

func parseSchedule(file, text string) (Schedule, error) {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return Schedule{}, fmt.Errorf("%s has %d fields", file, len(fields))
	}
	ran, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return Schedule{}, err
	}
	waited, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return Schedule{}, err
	}
	return Schedule{Ran: time.Duration(ran), Waited: time.Duration(waited)}, nil
}

// ScheduleFile is ReadMainSchedule for a process that is read often: its file stays open.
type ScheduleFile struct{ file *os.File }

// OpenSchedule opens the figures of a process of one thread.
func OpenSchedule(pid int) (*ScheduleFile, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err != nil {
		return nil, fmt.Errorf("read process %d: %w", pid, err)
	}
	return &ScheduleFile{file}, nil
}

// Read it again.
func (s *ScheduleFile) Read() (Schedule, error) {
	var text [128]byte // three numbers
	n, err := s.file.ReadAt(text[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Schedule{}, err
	}
	return parseSchedule(s.file.Name(), string(text[:n]))
}

// Close it.
func (s *ScheduleFile) Close() error { return s.file.Close() }

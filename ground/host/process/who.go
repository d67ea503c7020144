package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of ID.Start on every Linux that Go runs on (USER_HZ).
const clockTick = 10 * time.Millisecond

// Parent of the process.
func (id ID) Parent() (ID, error) {
	s, err := readStat(id.PID)
	if err != nil {
		return ID{}, err
	}
	return Of(s.parent)
}

// Name of the process as the kernel keeps it; empty when it has ended.
func (id ID) Name() string {
	text, err := os.ReadFile(procFile(id.PID, "comm"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// StartedAt is the wall-clock time of the start, to about a second.
func (id ID) StartedAt() (time.Time, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}, fmt.Errorf("read time of boot: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		value, found := strings.CutPrefix(line, "btime ")
		if !found {
			continue
		}
		boot, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil {
			return time.Time{}, fmt.Errorf("read time of boot: %w", err)
		}
		return time.Unix(boot, 0).Add(time.Duration(id.Start) * clockTick), nil
	}
	return time.Time{}, fmt.Errorf("read time of boot: not in /proc/stat")
}

// Package pressure reads what the machine withholds from its processes: processor time beyond a quota, and time lost to
// a shortage of memory, processors or disk. What cannot be read is unknown, never zero.
package pressure

import (
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Reading is the time lost since the control groups and the machine started; nil: not known.
type Reading struct {
	Throttled *time.Duration // by the quota of the control group or one above it: the largest
	Memory    *time.Duration // in which some process waited for memory
	CPU       *time.Duration // in which some process waited for a processor
	IO        *time.Duration // in which some process waited for a disk
}

// Read reads this machine's figures, and the quota of our own control group.
func Read() Reading { return readAt("/", "self") }

// ReadFor reads this machine's figures, and the quota of the control group of another process.
func ReadFor(pid int) Reading { return readAt("/", strconv.Itoa(pid)) }

// readAt reads the files of a machine below root.
func readAt(root, process string) Reading {
	return Reading{throttled(root, process), stalled(root, "memory"), stalled(root, "cpu"), stalled(root, "io")}
}

// stalled reads pressure stall information (Documentation/accounting/psi.rst): "some avg10=… total=MICROSECONDS".
func stalled(root, resource string) *time.Duration {
	text, err := os.ReadFile(filepath.Join(root, "proc/pressure", resource))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if _, total, found := strings.Cut(line, "total="); found && strings.HasPrefix(line, "some ") {
			return number(total, time.Microsecond)
		}
	}
	return nil
}

// throttled looks at the control group of a process and all above it. Version 2 counts throttled_usec, version 1
// throttled_time in nanoseconds.
func throttled(root, process string) (most *time.Duration) {
	text, err := os.ReadFile(filepath.Join(root, "proc", process, "cgroup"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // ID:CONTROLLERS:PATH
		if len(parts) != 3 {
			continue
		}
		top := "sys/fs/cgroup"
		if controllers := "," + parts[1] + ","; strings.Contains(controllers, ",cpu,") {
			top += "/cpu"
		} else if parts[1] != "" {
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			if lost := throttledIn(filepath.Join(root, top, group, "cpu.stat")); lost != nil &&
				(most == nil || *lost > *most) {
				most = lost
			}
			if group == "/" {
				break
			}
		}
	}
	return most
}

func throttledIn(file string) *time.Duration {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "throttled_usec "); found {
			return number(value, time.Microsecond)
		}
		if value, found := strings.CutPrefix(line, "throttled_time "); found {
			return number(value, time.Nanosecond)
		}
	}
	return nil
}

func number(text string, unit time.Duration) *time.Duration {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return nil
	}
	d := time.Duration(n) * unit
	return &d
}

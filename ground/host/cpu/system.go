package cpu

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// System is the processor time of all cores since boot.
type System struct {
	Busy  time.Duration // spent working, for any process
	Steal time.Duration // wanted here, but given to another machine by the hypervisor
}

// ReadSystem reads the first line of /proc/stat.
func ReadSystem() (System, error) {
	lines, err := statLines()
	if err != nil || len(lines) == 0 {
		return System{}, fmt.Errorf("read processor time of the machine: %w", err)
	}
	return lines[0], nil
}

// ReadCores reads each core that is switched on, in the kernel's order.
func ReadCores() ([]System, error) {
	lines, err := statLines()
	if err != nil || len(lines) < 2 {
		return nil, fmt.Errorf("read processor time of the cores: %w", err)
	}
	return lines[1:], nil
}

// statLines are all cores together, then each: user nice system idle iowait irq softirq steal (guest is in user
// already).
func statLines() (lines []System, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "cpu") {
			break
		}
		one, err := statLine(strings.Fields(line)[1:])
		if err != nil {
			return nil, err
		}
		lines = append(lines, one)
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("/proc/stat names no processor")
	}
	return lines, nil
}

func statLine(fields []string) (System, error) {
	var ticks [8]time.Duration
	if len(fields) < len(ticks) {
		return System{}, fmt.Errorf("%d fields", len(fields))
	}
	for i := range ticks {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return System{}, err
		}
		ticks[i] = time.Duration(n) * clockTick
	}
	return System{Busy: ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6], Steal: ticks[7]}, nil
}

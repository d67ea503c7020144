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

// ReadSystem reads /proc/stat: user nice system idle iowait irq softirq steal
// (guest is in user already).
func ReadSystem() (System, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return System{}, fmt.Errorf("read processor time of the machine: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(strings.TrimPrefix(first, "cpu "))
	if len(fields) < 8 {
		return System{}, fmt.Errorf("read processor time of the machine: %d fields", len(fields))
	}
	var ticks [8]time.Duration
	for i := range ticks {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return System{}, fmt.Errorf("read processor time of the machine: %w", err)
		}
		ticks[i] = time.Duration(n) * clockTick
	}
	return System{Busy: ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6], Steal: ticks[7]}, nil
}

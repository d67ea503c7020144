package cpu

import (
	"time"

	"golang.org/x/sys/unix"
)

// Thread is the processor time of the calling thread. A goroutine must be locked to it.
func Thread() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, err
	}
	return time.Duration(t.Nano()), nil
}

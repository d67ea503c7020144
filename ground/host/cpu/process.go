package cpu

import "time"

// Process is the processor time of the live threads of a process, in nanoseconds: fine enough for a single operation,
// where Tree counts in hundredths of a second. Threads that have ended are not included.
func Process(pid int) (time.Duration, error) {
	s, err := ReadSchedule(pid)
	return s.Ran, err
}

package result

import (
	"errors"
	"fmt"
)

// Check rejects a result whose parts do not fit together, so that views need not check.
func (r *Result) Check() error {
	if r.ID == "" || r.Started.IsZero() {
		return errors.New("it names no run")
	}
	if sum := r.OK + r.Refused + r.Errors + r.Overload; sum != r.Ops {
		return fmt.Errorf("%d operations, of which %d ended", r.Ops, sum)
	}
	return r.Series.check()
}

func (s Series) check() error {
	for _, column := range []struct {
		name   string
		length int
		old    bool // older results lack it
	}{
		{"users", len(s.Users), false}, {"ok", len(s.OK), false}, {"refused", len(s.Refused), false},
		{"errors", len(s.Errors), false},
		{"overload", len(s.Overload), false}, {"apdex", len(s.Apdex), false}, {"p50_ms", len(s.P50MS), false},
		{"p95_ms", len(s.P95MS), false},
		{"p99_ms", len(s.P99MS), false}, {"lag_ms_max", len(s.LagMSMax), false}, {"in_flight", len(s.InFlight), false},
		{"cpu_generator", len(s.CPUGenerator), false}, {"cpu_workers", len(s.CPUWorkers), false},
		{"cpu_database", len(s.CPUDatabase), false},
		{"cpu_machine", len(s.CPUMachine), false}, {"backlog", len(s.Backlog), true},
		{"memory_generator", len(s.MemoryGenerator), true},
		{"memory_workers", len(s.MemoryWorkers), true}, {"memory_database", len(s.MemoryDatabase), true},
	} {
		if column.length != len(s.T) && !(column.old && column.length == 0) {
			return fmt.Errorf("its series %s has %d moments, its time %d", column.name, column.length, len(s.T))
		}
	}
	return nil
}

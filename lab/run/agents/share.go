package agents

import (
	"time"

	"plimsoll/ground/host/cpu"
)

// share of its machine's cores that an agent used in the steady state.
type share struct {
	from, to    time.Duration
	cores       int
	first, last struct{ at, used time.Duration }
	readings    int
}

// read takes the processor time of this process, once a second.
func (s *share) read(at time.Duration) {
	used, err := cpu.Own()
	if err != nil || at < s.from || at > s.to+time.Second {
		return
	}
	if s.readings++; s.readings == 1 {
		s.first.at, s.first.used = at, used
	}
	s.last.at, s.last.used = at, used
}

// value is null without two readings.
func (s *share) value() *float64 {
	if s.readings < 2 || s.last.at <= s.first.at {
		return nil
	}
	part := min(1, (s.last.used-s.first.used).Seconds()/(s.last.at-s.first.at).Seconds()/float64(max(1, s.cores)))
	return &part
}

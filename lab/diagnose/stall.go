package diagnose

import "time"

// stall is a time in which the sampler saw nothing: the server, the network or this process stood still.
type stall struct{ at, length time.Duration }

// Standing is a time without a sample.
type Standing struct {
	AtS  float64 `json:"at_s"`
	ForS float64 `json:"for_s"`
}

// standstillLeast is how long it takes to be told of, and how often it is told.
const (
	standstillLeast = 200 * time.Millisecond
	stallsMost      = 100
)

// stood still before a look.
func (b *book) stood(at, length time.Duration) {
	b.unobserved += length.Seconds()
	if length >= standstillLeast && len(b.stalls) < stallsMost {
		b.stalls = append(b.stalls, stall{at, length})
	}
}

func (b *book) standstills() (all []Standing) {
	for _, s := range b.stalls {
		all = append(all, Standing{s.at.Seconds(), s.length.Seconds()})
	}
	return all
}

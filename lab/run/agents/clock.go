package agents

import "time"

const (
	// pings are asked one after the other; the quickest answer knows best.
	pings = 8
	// lead is how far ahead of the start it is ordered.
	lead = time.Second
)

// offset is how much an agent's clock is ahead, and how far that may be wrong: an answer was
// given somewhere between question and arrival (D. L. Mills, RFC 5905).
type offset struct{ ahead, within time.Duration }

// measure a clock by questions.
func measure(ask func() (time.Time, error)) (best offset, err error) {
	for i := range pings {
		asked := time.Now()
		theirs, err := ask()
		if err != nil {
			return best, err
		}
		arrived := time.Now()
		half := arrived.Sub(asked) / 2
		// Round strips the monotonic reading: theirs has none.
		if one := (offset{theirs.Sub(asked.Add(half).Round(0)), half}); i == 0 || one.within < best.within {
			best = one
		}
	}
	return best, nil
}

// there is the moment by the agent's clock.
func (o offset) there(at time.Time) time.Time { return at.Round(0).Add(o.ahead) }

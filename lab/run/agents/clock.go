package agents

import "time"

const (
	// pings are sent one after the other; the quickest answer is the most accurate.
	pings = 8
	// lead is how far ahead the start is ordered.
	lead = time.Second
)

// offset is how far an agent's clock is ahead, and the largest error: the answer was given some time between question
// and arrival (D. L. Mills, RFC 5905).
type offset struct{ ahead, within time.Duration }

// measure estimates a clock's offset by questions.
func measure(ask func() (time.Time, error)) (best offset, err error) {
	for i := range pings {
		asked := time.Now()
		remote, err := ask()
		if err != nil {
			return best, err
		}
		arrived := time.Now()
		half := arrived.Sub(asked) / 2
		// Round strips the monotonic reading: the agent's time has none. Where both readings differ, the clock was
		// set meanwhile, or the thread stood still between reading one and the other.
		moved := arrived.Round(0).Sub(asked.Round(0)) - arrived.Sub(asked)
		one := offset{remote.Sub(asked.Add(half).Round(0)), half + moved.Abs()}
		if i == 0 || one.within < best.within {
			best = one
		}
	}
	return best, nil
}

// agentTime converts a moment to the agent's clock.
func (o offset) agentTime(at time.Time) time.Time { return at.Round(0).Add(o.ahead) }

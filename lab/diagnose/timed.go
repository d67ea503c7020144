package diagnose

import (
	"fmt"
	"math"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// Timed is what the server's own clock says of a wait event: our engine with track_wait_timing times every wait.
type Timed struct {
	S     float64 `json:"s"`
	Waits float64 `json:"waits"` // that have ended
}

// text before the objects of an event; empty: not timed.
func (t *Timed) text() string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("timed %.1f s, %.0f waits; ", t.S, t.Waits)
}

// timed event of client sessions; nil: not known.
func (m *measured) timed(event string) *Timed {
	ms, n := m.delta.Grew(counters.WaitTimes, event, "ms_time"), m.delta.Grew(counters.WaitTimes, event, "waits")
	if !m.server.TimesWaits || ms == nil || n == nil {
		return nil
	}
	return &Timed{*ms / 1000, *n}
}

// addTimed adds the exact times to the sampled ones. Gaps between statements are not an event of the server's.
func (m *measured) addTimed() {
	for i := range m.ledger.Lines {
		for j := range m.ledger.Lines[i].Events {
			e := &m.ledger.Lines[i].Events[j]
			e.Timed = m.timed(e.Name)
		}
	}
}

// samplingErrors is how many standard errors two measurements of the same may be apart.
const samplingErrors = 3

// timedAndSampled compares the samples of each class of waits with the server's clock. Waits for clients are left out:
// the server also times those of idle sessions.
//
// A wait of length d that is looked at each t seconds is found in floor(d/t) or one more looks, so that its variance is
// at most t²/4; that of many short ones with a sum of S is at most S·t.
func timedAndSampled(m *measured) Contradiction {
	if why := m.delta.Why(counters.WaitTimes); why != "" {
		return unknown(why)
	}
	if !m.server.TimesWaits {
		return unknown("the server does not time its waits: track_wait_timing is off, or it has no such setting")
	}
	lasted := m.delta.Grew(counters.WaitTimes, "clock", "ms_time") // between the two readings of this view
	if m.ledger.Samples == 0 || m.ledger.ObservedS <= 0 || lasted == nil || *lasted <= 0 {
		return unknown("nothing was sampled")
	}
	clock, ended, all := map[waits.Class]Timed{}, 0.0, 0.0
	for _, key := range m.delta.Keys(counters.WaitTimes) {
		kind, name, _ := strings.Cut(key, ":")
		class := waits.Event{Type: kind, Name: name}.Class()
		one := m.timed(key)
		if one == nil || class == waits.Client {
			continue
		}
		clock[class] = Timed{clock[class].S + one.S, clock[class].Waits + one.Waits}
		all += one.S
		if gone := m.delta.Grew(counters.WaitTimes, key, "ended_ms_time"); gone != nil {
			ended += *gone / 1000
		}
	}
	sampled := map[waits.Class]float64{}
	for key, w := range m.book.events {
		if key.class != waits.Client && key.class != waits.Running {
			sampled[key.class] += w.seconds
			if _, known := clock[key.class]; !known {
				clock[key.class] = Timed{} // what only the samples saw
			}
		}
	}
	if ended > endedMost.Value*all {
		return unknown("many of the timed waits are those of processes that have ended, and the server's own are "+
			"among them", Figure{"of processes that have ended", human.Percent(ended / all)})
	}
	every := m.ledger.ObservedS / float64(m.ledger.Samples)
	seen := *lasted / 1000 / m.ledger.ObservedS // beyond 1: not observed
	worst, apart := waits.Class(""), 0.0
	for class, exact := range clock {
		looked := sampled[class] * seen
		ends := exact.Waits + m.ledger.Sessions + 1 // those under way have one end within
		sigma := math.Sqrt(min(max(exact.S, looked)*every, ends*every*every/4)) * seen
		beyond := max(0, abs(looked-exact.S)-samplingErrors*sigma)
		if beyond > apart || beyond == apart && (worst == "" || class < worst) {
			worst, apart = class, beyond
		}
	}
	if worst == "" {
		return unknown("no session waited")
	}
	share := apart / max(all, m.ledger.TotalS*noteFrom.Value, 1e-9)
	return Contradiction{
		Figures: []Figure{{"waits in " + string(worst) + ", sampled", fmt.Sprintf("%.1f s", sampled[worst]*seen)},
			{"timed by the server", fmt.Sprintf("%.1f s in %.0f waits", clock[worst].S, clock[worst].Waits)}},
		Says: fmt.Sprintf("the two differ by %s of the waits, more than sampling explains: the samples are not taken "+
			"at random moments, or the server reports a wait that it does not end", human.Percent(share)),
		Excluded: "chance: the difference is beyond three standard errors of the samples",
		Next:     "plimsoll diagnose --rate 100 --duration 5m    SELECT * FROM plimsoll_waits",
	}.contradictIf(share > timedApart.Value, "the server's clock agrees with the samples, within their error")
}

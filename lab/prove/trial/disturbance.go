package trial

import (
	"fmt"
	"math"
	"os"
	"strings"

	"plimsoll/ground/host/neighbours"
	"plimsoll/lab/prove/burner"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/run/result"
	"plimsoll/lab/stats"
)

// Watch observes the machine from now on. The end says how others disturbed the turn; empty: they did not.
type Watch func() (end func() []string)

// Machine watches this machine as a run does (lab/run): processor time of processes that are neither ours nor below the
// roots, steal, throttling and shortage of memory, each against the limit. Burners that a turn plants are ours, and so
// are the orphans of a server that it kills. A limit of 0 turns it off.
func Machine(limit float64, roots ...int) Watch {
	if limit <= 0 || limit >= 1 {
		return nil
	}
	ours := func() []int { return append(burner.Ours(), append([]int{os.Getpid()}, roots...)...) }
	return func() func() []string {
		m := neighbours.Begin(ours)
		return func() []string {
			t := m.End()
			if t.For < neighbours.Shortest {
				return nil
			}
			d := result.Disturbance{Limit: limit, Others: t.Others, Who: t.Who, Steal: t.Steal,
				Throttled: t.Throttled, MemoryStall: t.MemoryStall}
			return d.Beyond()
		}
	}
}

// voidMost is how many disturbed turns of a part are made again: half as many as it has, and two at least.
func (p Part) voidMost() int { return max(2, p.turns()/2) }

// watched plays a turn. One that others disturbed is void: what it measured is dropped, and so are failures that prove
// nothing; one that refutes stands whatever the machine did.
func (p *playing) watched(part Part, r *Record, play func() (Figures, error)) (f Figures, void string, err error) {
	mark, end := p.made.mark(), func() []string { return nil }
	if p.options.Watch != nil && !part.Counted {
		end = p.options.Watch()
	}
	r.void = nil
	busy := part.watchProcessors()
	f, err = play()
	busy(f)
	if why := append(end(), r.void...); err == nil && len(why) > 0 {
		void = strings.Join(why, ", ")
		p.made.cut(mark, p.Rules)
	}
	return f, void, err
}

// marked is a moment of the measurements.
type marked struct {
	figures  map[Ref]int
	failures int
}

func (m *Measurements) mark() marked {
	at := marked{map[Ref]int{}, len(m.failures)}
	for r, figures := range m.figures {
		at.figures[r] = len(figures)
	}
	return at
}

// cut off what was measured since.
func (m *Measurements) cut(at marked, rules Rules) {
	for r, figures := range m.figures {
		m.figures[r] = figures[:at.figures[r]]
	}
	kept := m.failures[:at.failures:at.failures]
	for _, f := range m.failures[at.failures:] {
		if rules.refutedBy(f.check) {
			kept = append(kept, f)
		}
	}
	m.failures = kept
}

// refutedBy says whether failing the check refutes the claim.
func (r Rules) refutedBy(check string) bool {
	for _, c := range r.Checks {
		if c.Name == check && c.Refuted != "" {
			return true
		}
	}
	return false
}

// turnsEach is the fewest turns with figures that a judged side has.
type turnsEach struct{ parts []Part }

// judged are the rules with what holds for every trial: a verdict takes four turns of each judged side.
func (t Trial) judged(r Rules) Rules {
	var q turnsEach
	for _, p := range t.Parts {
		if !p.Unjudged && !p.Counted {
			q.parts = append(q.parts, p)
		}
	}
	if q.parts != nil {
		r.Requires = append([]Criterion{{Of: q, Confirm: AtLeast(stats.RunsMin)}}, r.Requires...)
	}
	return r
}

// RulesText says what confirms the claim, what refutes it, and without what there is no verdict.
func (t Trial) RulesText() string { return t.judged(t.Rules).Text() }

// Name implements Quantity.
func (turnsEach) Name() string { return "turns of each side" }

func (q turnsEach) fewest(m *Measurements) (turns int, fewest Ref) {
	turns = math.MaxInt
	for _, p := range q.parts {
		for _, side := range p.Sides {
			if n := m.turnsOf(p, side.Name); n < turns && !side.Unjudged {
				turns, fewest = n, Ref{Part: p.Name, Side: side.Name}
			}
		}
	}
	return turns, fewest
}

// turnsOf a side that have all series which it measures.
func (m *Measurements) turnsOf(p Part, side string) (fewest int) {
	for _, s := range p.Series {
		if n := m.turns[Ref{p.Name, side, s.Name}]; n > 0 && (fewest == 0 || n < fewest) {
			fewest = n
		}
	}
	return fewest
}

// Interval implements Quantity.
func (q turnsEach) Interval(m *Measurements) Interval {
	turns, fewest := q.fewest(m)
	if turns >= stats.RunsMin {
		return Interval{Low: float64(turns), Middle: float64(turns), High: float64(turns)}
	}
	why := fmt.Sprintf("%s, %d of %d", tooFewTurns, turns, stats.RunsMin)
	if fewest.Side != "" {
		why += " for " + quoted(fewest.Side)
	}
	if fewest.Part != "" {
		why += " (" + fewest.Part + ")"
	}
	if void := m.void[fewest.Part]; void > 0 {
		why += fmt.Sprintf("; %d were disturbed by other programs and are void", void)
	}
	return Interval{Unsure: why}
}

// Text implements Value.
func (q turnsEach) Text(m *Measurements) string {
	turns, _ := q.fewest(m)
	return fmt.Sprint(turns)
}

func (turnsEach) words(b bound) string { return Known{}.words(b) }

func (t Trial) answer(r Rules, m *Measurements) (claims.Verdict, claims.Answers, string) {
	return t.judged(r).Answer(m)
}

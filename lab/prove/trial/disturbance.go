package trial

import (
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/ground/host/cpu"
	"plimsoll/ground/host/neighbours"
	"plimsoll/ground/host/pressure"
	"plimsoll/lab/prove/burner"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/run/result"
	"plimsoll/lab/stats"
)

// Watch observes the machine from now on. The end says how others disturbed the turn; empty: they did not.
type Watch func() (end func() []string)

// watchShortest is the shortest turn that is judged: the kernel counts processor time in hundredths of a second.
const watchShortest = 500 * time.Millisecond

// watchBeat is how often processes are read: what a process used between its last reading and its end is lost.
const watchBeat = time.Second

// Machine watches this machine as a run does (lab/run): processor time of processes that are neither ours nor below the
// roots, steal, throttling and shortage of memory, each against the limit. Burners that a turn plants are ours, and so
// are the orphans of a server that it kills. A limit of 0 turns it off.
func Machine(limit float64, roots ...int) Watch {
	if limit <= 0 || limit >= 1 {
		return nil
	}
	cores := runtime.NumCPU()
	return func() func() []string {
		m := machineWatch{roots: append([]int{os.Getpid()}, roots...), began: time.Now(), stop: make(chan struct{}),
			others: neighbours.Watch{To: forever, Names: cpu.Name, Cores: cores}}
		m.first = readLost()
		m.look()
		m.looks.Add(1)
		go m.keepLooking()
		return func() []string {
			close(m.stop)
			m.looks.Wait()
			m.look()
			return m.disturbance(limit, cores).Beyond()
		}
	}
}

const forever = 1 << 62

// machineWatch is a turn that is watched.
type machineWatch struct {
	roots  []int
	began  time.Time
	first  lost
	ours   cpu.Family
	others neighbours.Watch
	stop   chan struct{}
	looks  sync.WaitGroup
}

func (m *machineWatch) look() {
	if everyone, err := cpu.ReadEveryone(); err == nil {
		m.ours = everyone.Family(m.ours, append(burner.Ours(), m.roots...)...)
		m.others.Look(time.Since(m.began), everyone.Others(slices.Collect(maps.Keys(m.ours))...))
	}
}

func (m *machineWatch) keepLooking() {
	defer m.looks.Done()
	beat := time.NewTicker(watchBeat)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			m.look()
		case <-m.stop:
			return
		}
	}
}

// disturbance since the beginning, in the form in which runs are judged.
func (m *machineWatch) disturbance(limit float64, cores int) *result.Disturbance {
	took := time.Since(m.began)
	if took < watchShortest {
		return nil
	}
	now := readLost()
	d := &result.Disturbance{Limit: limit, Steal: partOf(m.first.steal, now.steal, took*time.Duration(cores)),
		Throttled:   partOf(m.first.Throttled, now.Throttled, took),
		MemoryStall: partOf(m.first.Memory, now.Memory, took)}
	d.Others, d.Who = m.others.Share()
	return d
}

// lost is time that the machine did not give; nil: not known.
type lost struct {
	pressure.Reading
	steal *time.Duration
}

func readLost() lost {
	l := lost{Reading: pressure.Read()}
	if system, err := cpu.ReadSystem(); err == nil {
		l.steal = &system.Steal
	}
	return l
}

// partOf a length that a meter went on by; nil if it could not be read.
func partOf(before, after *time.Duration, length time.Duration) *float64 {
	if before == nil || after == nil {
		return nil
	}
	part := min(1, max(0, (*after-*before).Seconds()/length.Seconds()))
	return &part
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
	f, err = play()
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
		if !p.Beside && !p.Counted {
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
			if n := m.turnsOf(p, side.Name); n < turns && !side.Beside {
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
		why += fmt.Sprintf("; others disturbed %d, which are void", void)
	}
	return Interval{Unsure: why}
}

// Text implements Value.
func (q turnsEach) Text(m *Measurements) string {
	turns, _ := q.fewest(m)
	return fmt.Sprint(turns)
}

func (turnsEach) words(b bound) string { return Known{}.words(b) }

func (t Trial) answer(r Rules, m *Measurements) (claims.Verdict, string) {
	return t.judged(r).Answer(m)
}

package compare

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"plimsoll/ground/postgres/identity"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/session"
	"plimsoll/lab/stats"
	"plimsoll/web"
)

// Planted is what a self-test plants in its second side.
type Planted string

const (
	AA   Planted = "aa"   // nothing
	Slow Planted = "slow" // a delay that makes operations 10 % slower
	// Failing refuses a fifth of what it is asked; the other side has a delay, so it is faster in the rest.
	Failing Planted = "failing"
)

// AllPlanted are the kinds of self-tests.
var AllPlanted = []string{string(AA), string(Slow), string(Failing)}

const (
	// slower is the factor that Slow plants.
	slower = 0.1
	// leastFound and mostWrong are what the self-test requires.
	leastFound, mostWrong = 0.90, 0.05
	// trialSeeds is the distance between the random seeds of two trials, larger than the number of rounds in one.
	trialSeeds = 1000
)

// SelfTested counts the verdicts of many comparisons: the JSON of 'plimsoll compare --self-test'.
type SelfTested struct {
	Schema  string  `json:"schema"`
	Planted Planted `json:"planted"`
	Plan    string  `json:"plan"` // fingerprint of what all trials have in common
	// Software and Server of all trials.
	Software string             `json:"software,omitempty"`
	Server   *identity.Identity `json:"server,omitempty"`
	DelayMS  float64            `json:"delay_ms,omitempty"` // of the proxy, both directions together
	Wanted   int                `json:"trials"`
	Done     int                `json:"done"`
	TookS    float64            `json:"took_s"` // all trials
	Verdicts map[string]int     `json:"verdicts"`
	Trials   []SelfTrial        `json:"all"`
	// UnderWay is the id of a comparison that was stopped; --resume continues it.
	UnderWay string `json:"under_way,omitempty"`
	// Holds: at most 5 % of the verdicts are wrong, or at least 90 % found what was planted.
	Holds bool   `json:"holds"`
	Says  string `json:"says"`
}

// SelfTrial is one comparison.
type SelfTrial struct {
	ID      string          `json:"id"`
	Verdict verdict.Verdict `json:"verdict"`
	Pairs   int             `json:"pairs"`
	Effect  float64         `json:"effect"`
	Low     float64         `json:"low"`
	High    float64         `json:"high"`
	Stopped string          `json:"stopped,omitempty"`
}

// selfTest is a self-test under way.
type selfTest struct {
	Options
	*SelfTested
	say   func(string)
	began time.Time // of the trial
}

// SelfTest compares the first side with itself, many times. What was done is kept after each trial: Options.Resume
// continues the self-test of the same plan. It also returns what was done if ctx ends, and nil if nothing was.
func SelfTest(ctx context.Context, o Options, planted Planted, trials int, say func(string)) (*SelfTested, error) {
	if err := o.Sides[0].takes(planted); err != nil {
		return nil, err
	}
	if len(o.Sides[0].Command) == 0 {
		if err := o.Sides[0].identify(ctx); err != nil {
			return nil, err
		}
	}
	o.Sides = []Side{o.Sides[0], o.Sides[0]}
	t, release, err := beginSelfTest(ctx, o, planted, trials)
	if err != nil {
		return nil, err
	}
	defer release()
	s := &selfTest{Options: o, SelfTested: t, say: say}
	if planted != AA {
		proxies, err := s.plant(ctx)
		if err != nil {
			return nil, err
		}
		defer proxies.close()
	}
	if t.Done > 0 {
		say(fmt.Sprintf("%d earlier trials: %s", t.Done, t.tally()))
	}
	_, err = session.Session[int]{
		Next: func() (int, bool) { return t.Done, t.Done < trials },
		Make: s.trial,
		Keep: func(string) error { return s.Store.keepSelfTest(t) },
	}.All(ctx)
	t.conclude()
	return t, err
}

// beginSelfTest makes one, or finds the one to continue.
func beginSelfTest(ctx context.Context, o Options, planted Planted, trials int) (t *SelfTested, release func(),
	err error) {
	s := &comparing{Options: o, Comparison: &Comparison{}}
	t = &SelfTested{Schema: "plimsoll.compare-self-test/1", Planted: planted, Plan: s.plan().fingerprint(),
		Verdicts: map[string]int{}, Software: o.Version, Server: o.Sides[0].identity}
	if release, err = o.Store.holdSelfTest(ctx, t.file()); err != nil {
		return nil, nil, err
	}
	if o.Resume {
		kept, err := o.Store.selfTest(t.file())
		if err == nil {
			if foreign := t.plan().foreign(kept.plan(), "this self-test"); foreign != "" {
				err = session.Mixed(foreign)
			}
		}
		if err != nil {
			release()
			return nil, nil, err
		}
		t = kept
	}
	t.Wanted = trials
	return t, release, nil
}

// plan of what all trials depend on besides the fingerprint.
func (t *SelfTested) plan() Plan {
	return Plan{Software: t.Software, Sides: []Described{{Server: t.Server}}}
}

// file that keeps the self-test.
func (t *SelfTested) file() string { return fmt.Sprintf("self-test-%s-%s.json", t.Planted, t.Plan) }

// trial makes the next comparison, or the rest of the one that was stopped.
func (s *selfTest) trial(ctx context.Context, n int) error {
	s.began = time.Now()
	o := s.Options
	o.Title = fmt.Sprintf("%sself-test %s, trial %d of %d", s.Title, s.Planted, n+1, s.Wanted)
	o.Seed = s.Seed + uint64(n*trialSeeds)
	o.Resume, o.ResumeID = s.UnderWay != "", s.UnderWay
	o.Progress = s.progress
	c, err := Compare(ctx, o)
	if c != nil {
		s.UnderWay = c.ID
	}
	s.TookS += time.Since(s.began).Seconds()
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil && !c.Complete:
		return ctx.Err()
	}
	s.add(c)
	s.say(fmt.Sprintf("trial %d of %d: %s, %d pairs in %s; so far %s", n+1, s.Wanted, c.Statement(),
		c.Findings[0].Headline.Runs[0], time.Since(s.began).Round(time.Second), s.tally()))
	return nil
}

// progress of all trials together: one still to be made takes as long as those that were made, on average, and during
// the first as long as that one will.
func (s *selfTest) progress(p Progress) {
	if s.Options.Progress == nil {
		return
	}
	here := time.Since(s.began)
	took := time.Duration(s.TookS*float64(time.Second)) + here
	trial := here + p.Left
	if s.Done > 0 {
		trial = (took - here) / time.Duration(s.Done)
		p.Left = max(0, min(p.Left, trial-here))
	}
	p.Left += time.Duration(s.Wanted-s.Done-1) * trial
	p.Share = session.Share(took, p.Left)
	p.Trial = s.Done + 1
	s.Options.Progress(p)
}

func (t *SelfTested) add(c *Comparison) {
	f := c.Findings[0]
	t.Done++
	t.UnderWay = ""
	t.Verdicts[string(f.Verdict)]++
	t.Trials = append(t.Trials, SelfTrial{ID: c.ID, Verdict: f.Verdict, Pairs: f.Headline.Runs[0],
		Effect: f.Headline.Effect, Low: f.Headline.Low, High: f.Headline.High, Stopped: c.Stopped})
}

// tally of the verdicts: "3 equal, 1 inconclusive".
func (t *SelfTested) tally() string {
	var parts []string
	for _, v := range []verdict.Verdict{verdict.Better, verdict.Worse, verdict.Equal, verdict.Inconclusive,
		verdict.TooFew} {
		if n := t.Verdicts[string(v)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return strings.Join(parts, ", ")
}

func (t *SelfTested) conclude() {
	count := func(v verdict.Verdict) int { return t.Verdicts[string(v)] }
	switch t.Planted {
	case AA:
		wrong := count(verdict.Better) + count(verdict.Worse)
		t.Holds = t.Done > 0 && float64(wrong) <= mostWrong*float64(t.Done)
		t.Says = fmt.Sprintf("a system was called better or worse than itself in %d of %d trials; at most 5 %% are "+
			"allowed", wrong, t.Done)
	case Failing:
		better, worse := count(verdict.Better), count(verdict.Worse)
		t.Holds = t.Done > 0 && better == 0 && float64(worse) >= leastFound*float64(t.Done)
		t.Says = fmt.Sprintf("the system that fails a fifth was called better in %d of %d trials, where none is "+
			"allowed, and worse in %d; at least 90 %% are required", better, t.Done, worse)
	default:
		t.Holds = t.Done > 0 && float64(count(verdict.Worse)) >= leastFound*float64(t.Done)
		t.Says = fmt.Sprintf("the slower system was called worse in %d of %d trials; at least 90 %% are required",
			count(verdict.Worse), t.Done)
	}
}

// Text writes the table for a terminal.
func (t *SelfTested) Text(w io.Writer) error {
	fmt.Fprintf(w, "\nSelf-test of the comparison: %s, %d of %d trials\n\n", t.Planted, t.Done, t.Wanted)
	switch {
	case t.Done == 0:
	case t.Planted == Failing:
		fmt.Fprintf(w, "  planted: B refuses statements a fifth of the time; A has a delay of %.3g ms for each round "+
			"trip\n\n", t.DelayMS)
	case t.DelayMS > 0:
		fmt.Fprintf(w, "  planted: a delay of %.3g ms for each round trip; median effect over the trials %+.1f %%\n\n",
			t.DelayMS, 100*(t.median()-1))
	}
	table := web.Table{Names: true, Columns: []string{"trial", "comparison", "verdict", "pairs", "effect",
		"95 % interval"}}
	for i, one := range t.Trials {
		table.Rows = append(table.Rows, []string{fmt.Sprint(i + 1), one.ID, string(one.Verdict), fmt.Sprint(one.Pairs),
			fmt.Sprintf("%.3f", one.Effect), fmt.Sprintf("%.3f to %.3f", one.Low, one.High)})
	}
	if err := table.Text(w, "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n  %s\n  %s\n", t.tally(), t.Says)
	return err
}

func (t *SelfTested) median() float64 {
	var all []float64
	for _, one := range t.Trials {
		all = append(all, one.Effect)
	}
	return stats.Median(all)
}

package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/prove/delay"
	"plimsoll/platform/problem"
)

// Planted is what a self-test plants in its second side.
type Planted string

const (
	AA   Planted = "aa"   // nothing
	Slow Planted = "slow" // a delay that makes operations 10 % slower
)

const (
	// slower is the factor that Slow plants.
	slower = 0.1
	// probe is the delay that shows how often operations cross the network.
	probe = 2 * time.Millisecond
	// leastFound and mostWrong are what the self-test requires.
	leastFound, mostWrong = 0.90, 0.05
	// trialSeeds is the distance between the random seeds of two trials, larger than the number of rounds in one.
	trialSeeds = 1000
)

// SelfTested counts the verdicts of many comparisons: the JSON of 'plimsoll compare --self-test'.
type SelfTested struct {
	Schema   string         `json:"schema"`
	Planted  Planted        `json:"planted"`
	DelayMS  float64        `json:"delay_ms,omitempty"` // of the proxy, both directions together
	Wanted   int            `json:"trials"`
	Done     int            `json:"done"`
	Verdicts map[string]int `json:"verdicts"`
	Trials   []SelfTrial    `json:"all"`
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

// SelfTest compares the first side with itself, many times.
func SelfTest(ctx context.Context, o Options, planted Planted, trials int, say func(string)) (t *SelfTested,
	err error) {
	if len(o.Sides[0].Command) > 0 {
		return nil, problem.New(problem.Usage, errors.New("--self-test slow needs a database, not a command: it "+
			"slows the connection"),
			"compare it with one that is")
	}
	t = &SelfTested{Schema: "plimsoll.compare-self-test/1", Planted: planted, Wanted: trials,
		Verdicts: map[string]int{}}
	o.Sides = []Side{o.Sides[0], o.Sides[0]}
	if planted == Slow {
		proxies, d, err := plant(ctx, o, say)
		if err != nil {
			return nil, err
		}
		for i, proxy := range proxies {
			defer proxy.Close()
			o.Sides[i].Through = proxy.Address()
		}
		t.DelayMS = d.Seconds() * 1000
	}
	began, done, report := time.Now(), 0, o.Progress
	if report != nil {
		o.Progress = func(p Progress) {
			trial := o.Estimate()
			if done > 0 {
				trial = time.Since(began) / time.Duration(done)
			}
			p.Left += time.Duration(trials-done-1) * trial
			p.Share = time.Since(began).Seconds() / max(1e-3, (time.Since(began)+p.Left).Seconds())
			p.Trial = done + 1
			report(p)
		}
	}
	title, seed := o.Title, o.Seed
	for n := range trials {
		o.Title, o.Seed = fmt.Sprintf("%sself-test %s, trial %d of %d", title, planted, n+1, trials),
			seed+uint64(n*trialSeeds)
		c, err := Compare(ctx, o)
		if err != nil || ctx.Err() != nil {
			t.conclude()
			return t, err
		}
		t.add(c)
		done++
		say(fmt.Sprintf("trial %d of %d: %s", n+1, trials, c.Statement()))
	}
	t.conclude()
	return t, nil
}

func (t *SelfTested) add(c *Comparison) {
	f := c.Findings[0]
	t.Done++
	t.Verdicts[string(f.Verdict)]++
	t.Trials = append(t.Trials, SelfTrial{ID: c.ID, Verdict: f.Verdict, Pairs: f.Headline.Runs[0],
		Effect: f.Headline.Effect, Low: f.Headline.Low, High: f.Headline.High, Stopped: c.Stopped})
}

func (t *SelfTested) conclude() {
	of := func(v verdict.Verdict) int { return t.Verdicts[string(v)] }
	switch t.Planted {
	case AA:
		wrong := of(verdict.Better) + of(verdict.Worse)
		t.Holds = t.Done > 0 && float64(wrong) <= mostWrong*float64(t.Done)
		t.Says = fmt.Sprintf("a system was called better or worse than itself in %d of %d trials; at most 5 %% are "+
			"allowed",
			wrong, t.Done)
	default:
		t.Holds = t.Done > 0 && float64(of(verdict.Worse)) >= leastFound*float64(t.Done)
		t.Says = fmt.Sprintf("the slower system was called worse in %d of %d trials; at least 90 %% are wanted",
			of(verdict.Worse), t.Done)
	}
}

// Text writes the table for a terminal.
func (t *SelfTested) Text(w io.Writer) error {
	fmt.Fprintf(w, "\nSelf-test of the comparison: %s, %d of %d trials\n\n", t.Planted, t.Done, t.Wanted)
	if t.DelayMS > 0 {
		fmt.Fprintf(w, "  planted: a delay of %.3g ms for each round trip; median effect over the trials %+.1f %%\n\n",
			t.DelayMS, 100*(t.median()-1))
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  trial\tcomparison\tverdict\tpairs\teffect\t95 % interval")
	for i, one := range t.Trials {
		fmt.Fprintf(table, "  %d\t%s\t%s\t%d\t%.3f\t%.3f to %.3f\n", i+1, one.ID, one.Verdict, one.Pairs, one.Effect,
			one.Low, one.High)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n  better %d, worse %d, equal %d, inconclusive %d, too few %d\n  %s\n",
		t.Verdicts["better"], t.Verdicts["worse"], t.Verdicts["equal"], t.Verdicts["inconclusive"],
		t.Verdicts["too few"], t.Says)
	return err
}

func (t *SelfTested) median() float64 {
	var all []float64
	for _, one := range t.Trials {
		all = append(all, one.Effect)
	}
	if len(all) == 0 {
		return 1
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// plant a proxy before each side, of which the second's delay makes the operations a tenth slower: runs without a delay
// and with a known one show how much latency a millisecond adds. Both sides have a proxy, because it costs time itself.
func plant(ctx context.Context, o Options, say func(string)) (proxies [2]*delay.Proxy, d time.Duration, err error) {
	config, err := pgx.ParseConfig(o.Sides[0].Run.DSN)
	if err != nil {
		return proxies, 0, fmt.Errorf("connection string: %w", err)
	}
	network, address := pgxAddress(config)
	dial := func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}
	listen := func(d time.Duration) (err error) {
		if proxies[0], err = delay.Listen(0, dial); err != nil {
			return err
		}
		if proxies[1], err = delay.Listen(d, dial); err != nil {
			return errors.Join(err, proxies[0].Close())
		}
		return nil
	}
	if err := listen(probe); err != nil {
		return proxies, 0, err
	}
	say(fmt.Sprintf("%d runs find out what delay is a tenth", 2*verdict.RunsMin))
	tried := o
	tried.Sides = slices.Clone(o.Sides)
	for i, proxy := range proxies {
		tried.Sides[i].Through = proxy.Address()
	}
	tried.Title, tried.Pairs, tried.Control, tried.Resume = "calibration of a self-test", verdict.RunsMin, false, false
	c, err := Compare(ctx, tried)
	if closed := errors.Join(proxies[0].Close(), proxies[1].Close()); err == nil {
		err = closed
	}
	if err != nil {
		return proxies, 0, err
	}
	if ctx.Err() != nil {
		return proxies, 0, problem.New(problem.Interrupted, errors.New("stopped during the calibration"), "")
	}
	head := c.Findings[0].Headline
	if head.Effect <= 1 {
		return proxies, 0, problem.New(problem.Environment, errors.New("a delay of 2 ms does not show in the latency"),
			"longer runs, or a quieter machine")
	}
	d = time.Duration(float64(probe) * slower / (head.Effect - 1))
	say(fmt.Sprintf("2 ms add %.0f %%, so %s are a tenth", 100*(head.Effect-1), d.Round(time.Microsecond)))
	return proxies, d, listen(d)
}

func pgxAddress(c *pgx.ConnConfig) (network, address string) {
	if len(c.Host) > 0 && c.Host[0] == '/' {
		return "unix", fmt.Sprintf("%s/.s.PGSQL.%d", c.Host, c.Port)
	}
	return "tcp", net.JoinHostPort(c.Host, fmt.Sprint(c.Port))
}

package self

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"plimsoll/lab/line"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/system"
)

// PairsDefault is how many pairs of equal systems the long form measures of each kind.
const PairsDefault = 40

// Pairs of equal systems (A/A). A difference may be claimed in one pair of twenty: that is what 95 % means. An
// instrument that claims none ever would pass as well, so a quarter as many pairs of unequal systems follow, most
// of which must be distinguished.
const (
	claimedMost  = 0.05
	unequalShare = 4
	unequalLeast = 4
	foundLeast   = 0.5
	// pairsAbreast are measured at once: their servers sleep. The two sides of a pair follow one another, so that the
	// noise of the moment is not the same for both.
	pairsAbreast = 5
)

// The load of the pairs of runs: long compared with a slow phase of the server.
const (
	runPairLasts = 20 * time.Second
	runPairTakes = 2*runPairLasts + 2*time.Second
)

// spells of the planted server "wandering": all answers of a good one take delayFast, of a bad one spellSlow.
const (
	spellGood, spellBad = time.Second, 500 * time.Millisecond // means of their lengths
	spellSlow           = 250 * time.Millisecond
	spellFactor         = 3 // all answers of "wandering-slow" take so much longer
)

// wandering has bad spells: operations of one moment share its luck, which intervals must know.
func wandering(factor float64) behaviour {
	return func(context.Context) (func(*received), error) {
		var mu sync.Mutex
		var slow bool
		var until time.Time
		now := func() time.Duration {
			mu.Lock()
			defer mu.Unlock()
			for at := time.Now(); until.Before(at); {
				if until.IsZero() {
					until, slow = at, rand.Float64() < spellBad.Seconds()/(spellBad+spellGood).Seconds()
				} else {
					slow = !slow
				}
				mean := spellGood
				if slow {
					mean = spellBad
				}
				until = until.Add(time.Duration(rand.ExpFloat64() * float64(mean)))
			}
			wait := delayFast
			if slow {
				wait = spellSlow
			}
			return time.Duration(factor * float64(wait))
		}
		return func(r *received) { r.wait(now()) }, nil
	}
}

// serving has slots, and each answer takes a random time.
func serving(slots int) behaviour {
	return func(context.Context) (func(*received), error) {
		free := make(chan struct{}, slots)
		return func(r *received) {
			free <- struct{}{}
			r.wait(time.Duration(rand.ExpFloat64() * float64(queueService)))
			<-free
		}, nil
	}
}

// claims are the differences that the instrument claims in a pair, by figure; nil: the pair could not be measured.
type claims map[string]bool

// pairing makes one pair of systems of two behaviours. The number is of the pair.
type pairing func(ctx context.Context, s *stage, n int, a, b string) (claims, error)

// pairsOf a kind: equal ones, and then unequal ones.
func pairsOf(pair pairing, equal, unequal string, figures ...string) func(context.Context, *stage) (outcome, error) {
	return func(ctx context.Context, s *stage) (outcome, error) {
		end := watch("")
		aa, void, err := s.pairs(ctx, s.pairCount(), func(n int) (claims, error) {
			return pair(ctx, s, n, equal, equal)
		})
		if err != nil {
			return outcome{}, err
		}
		ab, more, err := s.pairs(ctx, unequalPairs(s.pairCount()), func(n int) (claims, error) {
			return pair(ctx, s, s.pairCount()+n, equal, unequal)
		})
		out := outcome{disturbed: end().disturbed()}
		if void += more; void > 0 {
			out.disturbed = append(out.disturbed, fmt.Sprintf("%d pairs could not be measured", void))
		}
		for _, f := range figures {
			out.figures = append(out.figures, claimed(f, aa), distinguished(f, ab))
		}
		return out, err
	}
}

func unequalPairs(pairs int) int { return max(unequalLeast, pairs/unequalShare) }

// count the pairs in which a figure differs.
func count(figure string, all []claims) (n int) {
	for _, c := range all {
		if c[figure] {
			n++
		}
	}
	return n
}

// claimed differences of equal systems.
func claimed(figure string, all []claims) Figure {
	most := int(claimedMost * float64(len(all)))
	n := count(figure, all)
	return states(figure+", equal", fmt.Sprintf("differs in at most %d", most), fmt.Sprintf("%d of %d", n, len(all)),
		len(all) > 0 && n <= most).excused()
}

// distinguished is the figure of the differences between unequal systems.
func distinguished(figure string, all []claims) Figure {
	least := max(1, int(foundLeast*float64(len(all))))
	n := count(figure, all)
	return states(figure+", unequal", fmt.Sprintf("differs in at least %d", least),
		fmt.Sprintf("%d of %d", n, len(all)), n >= least).excused()
}

// pairs until so many could be measured, several at once; of twice as many tries the rest is void.
func (s *stage) pairs(ctx context.Context, wanted int, pair func(n int) (claims, error)) (usable []claims, void int,
	err error) {
	for tried := 0; len(usable) < wanted && tried < 2*wanted; {
		batch := make([]claims, wanted-len(usable))
		group := errgroup.Group{}
		group.SetLimit(pairsAbreast)
		for i := range batch {
			group.Go(func() (err error) {
				if ctx.Err() == nil {
					batch[i], err = pair(tried + i)
				}
				return err
			})
		}
		if err := group.Wait(); err != nil || ctx.Err() != nil {
			return usable, void, err
		}
		tried += len(batch)
		measured := slices.DeleteFunc(batch, func(c claims) bool { return c == nil })
		void += tried - void - len(usable) - len(measured)
		usable = append(usable, measured...)
	}
	return usable, void, nil
}

// briskLook has a target between what answers of good and of bad spells take.
const briskLook = `
[operations.look]
target = "100ms"
url = "/"
`

// runPair is two runs; a figure differs if its intervals do not meet.
func runPair(ctx context.Context, s *stage, n int, a, b string) (claims, error) {
	var sides [2]*result.Result
	for i, behaviour := range []string{a, b} {
		o, server, err := s.side(ctx, fmt.Sprintf("run-%d-%d", n, i), behaviour, header+briskLook, runPairLasts)
		if err != nil {
			return nil, err
		}
		r, err := run.Run(ctx, o)
		server.Stop()
		if err != nil {
			return nil, err
		}
		if !r.Valid || r.Interval == nil || r.Operations[0].LatencyIntervals == nil {
			return nil, nil
		}
		sides[i] = r
	}
	x, y := sides[0], sides[1]
	px, py := x.Operations[0].LatencyIntervals, y.Operations[0].LatencyIntervals
	return claims{
		"Apdex": disjoint(scoreRange(x.Interval), scoreRange(y.Interval)),
		"rate":  disjoint(x.OpsPerSInterval, y.OpsPerSInterval),
		"p50":   disjoint(px.P50, py.P50),
		"p95":   disjoint(px.P95, py.P95),
	}, nil
}

func scoreRange(i *apdex.Interval) *result.Range { return &result.Range{Low: i.Low, High: &i.High} }

// disjoint says that two intervals do not meet. One without an upper end meets all above it.
func disjoint(a, b *result.Range) bool {
	if a == nil || b == nil {
		return false
	}
	return a.High != nil && *a.High < b.Low || b.High != nil && *b.High < a.Low
}

// The searches of the pairs of lines. By Little's law ten slots of 50 ms carry about 70 users with this time to think
// at the target.
const (
	linePairLasts = 2 * time.Second
	linePairTakes = 2 * 14 * (linePairLasts + time.Second) // about 14 trials
	linePairFirst = 40
	linePairMost  = 320
	linePairWidth = 0.1
)

const linePairLoad = `
application = "none"
[think]
mean = "250ms"
distribution = "constant"
` + briskLook

// linePair is two searches in turns: of equal systems the search and its A/A control. Lines differ if 1 lies outside
// the interval of their ratio.
func linePair(ctx context.Context, s *stage, n int, a, b string) (claims, error) {
	behaviours := []string{a, b}
	if a == b {
		behaviours = behaviours[:1]
	}
	var systems []*system.System
	for i, behaviour := range behaviours {
		o, server, err := s.side(ctx, fmt.Sprintf("line-%d-%d", n, i), behaviour, linePairLoad, linePairLasts)
		if err != nil {
			return nil, err
		}
		defer server.Stop()
		o.Seed = uint64(n) + 1
		systems = append(systems, &system.System{Name: fmt.Sprint(i), Run: o})
	}
	found, err := line.FindAll(ctx, line.Options{Control: a == b, Target: line.TargetDefault, Reset: system.ResetNone,
		Bounds: line.Bounds{First: linePairFirst, Most: linePairMost, Resolution: linePairWidth,
			Confirmations: line.ConfirmationsDefault}}, systems)
	if err != nil {
		return nil, err
	}
	x, y := found.Lines[0].Line, found.Lines[1].Line
	if !found.Complete || x.Open() || y.Open() || x.Answer == nil || y.Answer == nil {
		return nil, nil
	}
	ratio := found.Lines[1].Ratio
	return claims{lineFigure: ratio != nil && ratio.Differs}, nil
}

const lineFigure = "line"

// side of a pair: a load, and its planted server.
func (s *stage) side(ctx context.Context, name, behaviour, text string, lasts time.Duration) (o run.Options,
	server *server, err error) {
	if o, err = s.options(name, text, lasts); err != nil {
		return o, nil, err
	}
	if s.DisturbedLimit > 0 {
		o.DisturbedLimit = s.DisturbedLimit
	}
	if server, err = s.plant(ctx, behaviour, ""); err == nil {
		o.Scenario.Own.Base = server.URL
	}
	return o, server, err
}

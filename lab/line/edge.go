package line

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Repeats are the trials made at one end of the bracket after it was found. The trial that found it does not count: it
// was chosen because of its outcome.
type Repeats struct {
	Passed    int `json:"passed"`
	Failed    int `json:"failed"`
	Undecided int `json:"undecided,omitempty"`
}

func (r *Repeats) add(o Outcome) {
	switch o {
	case Passes:
		r.Passed++
	case Fails:
		r.Failed++
	case Undecided:
		r.Undecided++
	}
}

// notPassed are those that did not pass.
func (r Repeats) notPassed() int { return r.Failed + r.Undecided }

func (r Repeats) trials() int { return r.Passed + r.notPassed() }

// UsersInterval is the 95 % interval of the number of users that half of all trials would pass. An end is null if no
// trial bounds it.
type UsersInterval struct {
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	Trials int      `json:"trials"` // that it rests on
}

// posterior is the probability of each number of users being the line, given the trials.
//
// A trial of n users passes with probability Φ((ln L − ln n)/s), where L is the line and s the spread between trials of
// one system. The prior is uniform in ln L and weighs s by what machines show; Bayes' rule gives the posterior of L,
// summed over s. How the search chose the numbers does not matter: it is no part of the likelihood.
type posterior struct {
	from    int       // grid step of the first weight
	weights []float64 // they sum to 1; one per grid step of ln L
	passed  bool      // a trial passed, so the line has a lower bound
	failed  bool
	trials  int
}

// The grid of ln L, shared by all posteriors, and how far it extends beyond the numbers tried.
const (
	latticeStep = 0.01
	latticeMore = 1.5 // in ln: 4.5 times
)

// spreads between trials that are considered, 1 % to 50 % of the users, with their prior weights: a compromise between
// uniform in the spread and uniform in its logarithm.
var spreads, spreadWeights = func() (all, weights []float64) {
	for s := 0.01; s < 0.51; s *= 1.35 {
		all, weights = append(all, s), append(weights, math.Sqrt(s))
	}
	return all, weights
}()

func posteriorOf(trials []Trial) (b posterior) {
	passed, failed := map[int]int{}, map[int]int{}
	least, most := math.Inf(1), 0.0
	for _, t := range trials {
		if t.madeAgain() {
			continue // it counts once, as what it turns out to be
		}
		switch t.Outcome {
		case Passes:
			passed[t.Users]++
			b.passed = true
		case Fails, Undecided: // either is a score below the target
			failed[t.Users]++
			b.failed = true
		default:
			continue
		}
		b.trials++
		least, most = math.Min(least, float64(t.Users)), math.Max(most, float64(t.Users))
	}
	if b.trials == 0 {
		return b
	}
	b.from = int(math.Floor((math.Log(least) - latticeMore) / latticeStep))
	to := int(math.Ceil((math.Log(most) + latticeMore) / latticeStep))
	b.weights = make([]float64, to-b.from+1)
	sum := 0.0
	for i := range b.weights {
		at := float64(b.from+i) * latticeStep
		for k, s := range spreads {
			b.weights[i] += spreadWeights[k] * likelihood(at, s, passed, failed)
		}
		sum += b.weights[i]
	}
	for i := range b.weights {
		b.weights[i] /= sum
	}
	b.holdBack(least, most)
	return b
}

// holdBack what lies beyond the numbers tried where no trial bounds the line: it is the prior alone, as wide as the
// grid, and would move the other end of the interval past every number that was tried. It counts as the last number
// tried.
func (b posterior) holdBack(least, most float64) {
	if !b.failed {
		last := int(math.Floor(math.Log(most)/latticeStep)) - b.from
		for i := last + 1; i < len(b.weights); i++ {
			b.weights[last], b.weights[i] = b.weights[last]+b.weights[i], 0
		}
	}
	if !b.passed {
		first := int(math.Ceil(math.Log(least)/latticeStep)) - b.from
		for i := range first {
			b.weights[first], b.weights[i] = b.weights[first]+b.weights[i], 0
		}
	}
}

func likelihood(lnLine, spread float64, passed, failed map[int]int) float64 {
	ln := 0.0
	for n, times := range passed {
		ln += float64(times) * lnChance((lnLine-math.Log(float64(n)))/spread)
	}
	for n, times := range failed {
		ln += float64(times) * lnChance((math.Log(float64(n))-lnLine)/spread)
	}
	return math.Exp(ln)
}

// lnChance is ln Φ(z), bounded so that no outcome is impossible: one trial in a thousand goes wrong for another reason.
func lnChance(z float64) float64 {
	const amiss = 0.001
	return math.Log(amiss + (1-2*amiss)*distuv.UnitNormal.CDF(z))
}

// interval of the line; nil without trials.
func (b posterior) interval() *UsersInterval {
	if b.trials == 0 {
		return nil
	}
	low, high := ends(b.weights)
	users := func(step int) *float64 { n := math.Exp(float64(b.from+step) * latticeStep); return &n }
	i := &UsersInterval{Trials: b.trials}
	if b.passed {
		i.Low = users(low)
	}
	if b.failed {
		i.High = users(high)
	}
	return i
}

// ends of the middle 95 %.
func ends(weights []float64) (low, high int) {
	const tail = 0.025
	sum := 0.0
	low = -1
	for i, w := range weights {
		if sum += w; low < 0 && sum >= tail {
			low = i
		}
		if sum >= 1-tail {
			return low, i
		}
	}
	return low, len(weights) - 1
}

// ratioTo is the interval of the ratio of this line to another; nil if one of them has no trial.
func (b posterior) ratioTo(base posterior) (low, high *float64) {
	if b.trials == 0 || base.trials == 0 {
		return nil, nil
	}
	quotients := make([]float64, len(b.weights)+len(base.weights)-1)
	for i, w := range b.weights {
		for k, v := range base.weights {
			quotients[i-k+len(base.weights)-1] += w * v
		}
	}
	first := b.from - base.from - len(base.weights) + 1
	at := func(step int) *float64 { r := math.Exp(float64(first+step) * latticeStep); return &r }
	from, to := ends(quotients)
	if b.passed && base.failed {
		low = at(from)
	}
	if b.failed && base.passed {
		high = at(to)
	}
	return low, high
}

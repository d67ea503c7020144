package verdict

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/lab/stats"
)

// NotWorse is the verdict about new runs beside stored ones: no worsening was found, and one as large as the margin
// would have been.
const NotWorse Verdict = "not worse"

// Past is what new runs say beside stored ones, made at other times. A gate asks about one direction: is it worse?
//
//   - worse: the exact one-sided rank test finds it, and the interval does not lie within the margin
//   - not worse: it does not, and it would have found a worsening of the margin in 8 of 10 such comparisons
//   - inconclusive: the runs vary too much for that
//   - too few: no figures could have been significant
//
// So equal systems are called worse in at most Alpha of the comparisons, and a worsening by the margin passes in at
// most a fifth.
type Past struct {
	Verdict Verdict `json:"verdict"`
	Scale   Scale   `json:"scale"`
	// Stored and New are the medians, Runs how many there are of each.
	Stored float64 `json:"stored"`
	New    float64 `json:"new"`
	Runs   [2]int  `json:"runs"`
	// Effect as in Row; Low and High are its interval.
	Effect     float64 `json:"effect"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
	// P that equal systems would look so much worse; PLeast is the smallest that so many runs can give.
	P      float64 `json:"p"`
	PLeast float64 `json:"p_least"`
	// Detects is the worsening that such runs find in 8 of 10 comparisons, on the scale of the effect's distance from
	// no difference: a share for ratios, an amount for differences.
	Detects float64 `json:"detects"`
	Margin  float64 `json:"margin"`
	// MoreNew and MoreStored are how many further runs would do, one or the other; 0: no number up to a hundred.
	MoreNew    int `json:"more_new,omitempty"`
	MoreStored int `json:"more_stored,omitempty"`
}

const (
	// wide is the share of the cases in which the true spread lies below the one that is reckoned with: few runs can
	// be alike by chance, and would promise too much.
	wide = 0.8
	// moreRuns are as many as are worth advising.
	moreRuns = 100
)

// OfPast judges one figure. Rule.Alpha is of one side.
func OfPast(stored, fresh []float64, rule Rule) Past {
	n, m := len(stored), len(fresh)
	p := Past{Verdict: TooFew, Scale: Difference, Runs: [2]int{n, m}, P: 1, PLeast: 1, Margin: rule.Margin,
		Stored: stats.Median(stored), New: stats.Median(fresh)}
	if n == 0 || m == 0 {
		return p
	}
	margin := rule.Margin
	switch {
	case rule.Amount:
	case slices.Min(stored) > 0 && slices.Min(fresh) > 0:
		p.Scale = Ratio
		stored, fresh, margin = logs(stored), logs(fresh), math.Log1p(rule.Margin)
	default:
		margin = rule.Margin * math.Abs(p.Stored)
		p.Margin = margin
	}
	all := []stats.Stratum{{Base: stored, Variant: fresh}}
	differences := stats.Differences(all)
	k, confidence := stats.IntervalRank(stats.BelowAtMost(all), 2*rule.alpha())
	effect, low, high := stats.Median(differences), differences[k-1], differences[len(differences)-k]
	p.Confidence, p.PLeast = confidence, leastP(n, m)
	if p.P = stats.RankTail(stored, fresh); rule.HigherBetter {
		p.P = stats.RankTail(fresh, stored)
	}
	spread := spreadOf(all) * reckoned(n+m-2)
	detects := detectable(spread, n, m, rule.alpha())
	p.Verdict = p.decide(rule.alpha(), margin, detects, low, high)
	if p.Verdict == TooFew || p.Verdict == Inconclusive {
		p.MoreNew = more(func(i int) bool { return enough(spread, n, m+i, rule.alpha(), margin) })
		p.MoreStored = more(func(i int) bool { return enough(spread, n+i, m, rule.alpha(), margin) })
	}
	p.Effect, p.Low, p.High, p.Detects = effect, low, high, detects
	if p.Scale == Ratio {
		p.Effect, p.Low, p.High, p.Detects = math.Exp(effect), math.Exp(low), math.Exp(high), math.Expm1(detects)
	}
	return p
}

func (p Past) decide(alpha, margin, detects, low, high float64) Verdict {
	switch {
	case p.PLeast > alpha+rounding:
		return TooFew
	case -margin <= low && high <= margin:
		return NotWorse
	case p.P <= alpha+rounding:
		return Worse
	case detects > margin:
		return Inconclusive
	}
	return NotWorse
}

// leastP is that of runs that lie wholly apart: one of all ways to choose the new ones.
func leastP(n, m int) float64 {
	return math.Exp(-combin.LogGeneralizedBinomial(float64(n+m), float64(m)))
}

// reckoned is by how much the spread of so few runs may be too small.
func reckoned(free int) float64 {
	if free < 1 {
		return 1
	}
	return math.Sqrt(float64(free) / distuv.ChiSquared{K: float64(free)}.Quantile(1-wide))
}

// detectable is the distance that a rank test finds with a chance of 80 %.
func detectable(spread float64, n, m int, alpha float64) float64 {
	return spread * math.Sqrt(1/float64(n)+1/float64(m)) * (distuv.UnitNormal.Quantile(1-alpha) + power80) /
		math.Sqrt(efficiency)
}

func enough(spread float64, n, m int, alpha, margin float64) bool {
	return leastP(n, m) <= alpha+rounding && detectable(spread, n, m, alpha) <= margin
}

// more is the least number that does; 0: none.
func more(does func(int) bool) int {
	for i := 1; i <= moreRuns; i++ {
		if does(i) {
			return i
		}
	}
	return 0
}

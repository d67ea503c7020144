// Package verdict owns the statistics of a comparison: what the figures of several runs of two systems, one figure a
// run, say about the difference between the systems.
//
//   - Strata: a machine's pace wanders, so runs are compared only with runs of the same stretch of the session.
//   - Effect: Hodges and Lehmann, the median of all differences between a figure of one side and one of the other, of
//     the same stratum; of figures that are all positive the differences of their logarithms, which is a ratio. Its
//     interval inverts the exact test.
//   - Better or worse: the exact Mann-Whitney test, its ranks added over the strata, after Holm over the rows of a
//     family.
//   - Equal: two one-sided tests (TOST; D. J. Schuirmann, 1987). The interval of confidence 1 - 2α lies within the
//     margin.
//   - Looks: a comparison that may stop early spends its error over the looks (see Looks).
//
// No distribution is assumed, only that the runs of a stratum could have come in any order.
package verdict

import (
	"math"
	"slices"

	"plimsoll/lab/stats"
)

// Verdict about the second system.
type Verdict string

const (
	Better       Verdict = "better"
	Worse        Verdict = "worse"
	Equal        Verdict = "equal"        // the difference is within the margin
	Inconclusive Verdict = "inconclusive" // more runs are needed
	TooFew       Verdict = "too few"      // fewer runs than any test can use
)

// Alpha is the error that a comparison may make: calling equal systems better or worse, or calling systems equal that
// differ by the margin.
const Alpha = 0.05

// RunsMin of each side: with 3 and 3, complete separation happens by chance once in ten.
const RunsMin = stats.RunsMin

// rounding is the share of the largest difference that the middle of two opposite ones may be off 0 by.
const rounding = 1e-12

// Scale of an effect.
type Scale string

const (
	Ratio      Scale = "ratio"
	Difference Scale = "difference"
)

// Rule is how a row is judged.
type Rule struct {
	// Margin within which figures are equal: a share of the base (0.05), or an amount if Amount is set.
	Margin       float64
	Amount       bool
	HigherBetter bool
	Alpha        float64 // of this look; 0 means Alpha
}

func (r Rule) alpha() float64 {
	if r.Alpha == 0 {
		return Alpha
	}
	return r.Alpha
}

// Row is the result for one figure.
type Row struct {
	Verdict Verdict `json:"verdict"`
	Scale   Scale   `json:"scale"`
	// Base and Variant are the medians of the runs.
	Base    float64 `json:"base"`
	Variant float64 `json:"variant"`
	Runs    [2]int  `json:"runs"`
	// Effect of the variant: a ratio (1.1 means 10 % more) or a difference; Low and High are its interval.
	Effect     float64 `json:"effect"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
	// Above and Below are the shares of the pairs of one run of each side in which the variant has more, and less.
	Above float64 `json:"above"`
	Below float64 `json:"below"`
	// P of the test, and after Holm over the family.
	P     float64 `json:"p"`
	PHolm float64 `json:"p_holm"`
	// PEqual of the two one-sided tests for "equal", and after Holm over the family.
	PEqual     float64 `json:"p_equal"`
	PEqualHolm float64 `json:"p_equal_holm"`
	// Margin that counts as equal, on the scale of the effect's figures: a share for ratios, an amount for differences.
	Margin float64 `json:"margin"`
	// MorePairs is an estimate of the pairs that an inconclusive row still needs; 0: unknown, or none.
	MorePairs int `json:"more_pairs,omitempty"`

	rule         Rule
	spread, move float64 // on the scale of the test
	// shift is above 0 if the variant has the higher ranks. The median difference can be 0 where the test finds one.
	shift int
	// What Holm multiplies the row's p by, for a difference and for equality; 0 means 1.
	factor, factorEqual float64
}

// Of judges one figure by itself, outside a family. The figures are in the order of the rounds; that of a run which has
// none is NaN. They must not be infinite.
func Of(base, variant []float64, rule Rule) Row {
	all := allStrata(strata(base, variant))
	r := Row{Verdict: TooFew, Scale: Difference, Runs: [2]int{len(all.Base), len(all.Variant)}, P: 1, PHolm: 1,
		PEqual: 1, PEqualHolm: 1, rule: rule}
	r.Base, r.Variant, r.Margin = stats.Median(all.Base), stats.Median(all.Variant), rule.Margin
	if len(all.Base) == 0 || len(all.Variant) == 0 {
		return r
	}
	margin := rule.Margin
	switch {
	case rule.Amount:
	case slices.Min(all.Base) > 0 && slices.Min(all.Variant) > 0:
		r.Scale = Ratio
		base, variant, margin = logs(base), logs(variant), math.Log1p(rule.Margin)
	default:
		margin = rule.Margin * math.Abs(r.Base)
		r.Margin = margin
	}
	r.measure(strata(base, variant), margin)
	return r
}

// measure fills in effect, interval and test from figures on the scale of the test.
func (r *Row) measure(strata []stats.Stratum, margin float64) {
	all := stats.Differences(strata)
	if len(all) == 0 { // no stratum has both sides
		return
	}
	r.move = stats.Median(all)
	if math.Abs(r.move) < rounding*max(-all[0], all[len(all)-1]) {
		r.move = 0
	}
	above, below := 0, 0
	for _, d := range all {
		switch {
		case d > 0:
			above++
		case d < 0:
			below++
		}
	}
	r.shift = above - below
	r.Above, r.Below = float64(above)/float64(len(all)), float64(below)/float64(len(all))
	chances := stats.BelowAtMost(strata)
	k, confidence := stats.IntervalRank(chances, r.rule.alpha())
	r.Low, r.High, r.Confidence = all[k-1], all[len(all)-k], confidence
	r.spread, r.P, r.PEqual = spreadOf(strata), stats.RankTest(strata), testEqual(all, chances, margin)
	r.Effect = r.move
	if r.Scale == Ratio {
		r.Effect, r.Low, r.High = math.Exp(r.move), math.Exp(r.Low), math.Exp(r.High)
	}
	r.PHolm, r.PEqualHolm = r.P, r.PEqual
	r.decide(margin)
}

// decide sets the verdict.
func (r *Row) decide(margin float64) {
	r.MorePairs = 0
	switch {
	case min(r.Runs[0], r.Runs[1]) < RunsMin:
		r.Verdict = TooFew
		return
	case r.PEqualHolm <= r.rule.alpha():
		r.Verdict = Equal
	case r.PHolm > r.rule.alpha():
		r.Verdict, r.MorePairs = Inconclusive, r.more(margin)
	case r.shift > 0 == r.rule.HigherBetter:
		r.Verdict = Better
	default:
		r.Verdict = Worse
	}
}

// Withhold the verdict of a row before the first look, which is so many pairs away.
func (r *Row) Withhold(pairs int) {
	if r.Verdict != TooFew {
		r.Verdict, r.MorePairs = Inconclusive, pairs
	}
}

// testEqual is the larger p of two one-sided tests: that the variant is not below the margin, and not above it. It is
// small just where the interval of the effect lies within the margin. A margin of 0, that of a base which is mostly 0,
// has nothing within: most differences lie on its edge, and only figures that are all the same are equal.
func testEqual(differences, chances []float64, margin float64) float64 {
	if margin <= 0 && slices.ContainsFunc(differences, func(d float64) bool { return d != 0 }) {
		return 1
	}
	above, below := 0, 0
	for _, d := range differences {
		if d >= -margin {
			above++
		}
		if d <= margin {
			below++
		}
	}
	return chances[len(differences)-min(above, below)]
}

// Holm corrects the rows of one family: with many rows one of them looks different, or equal, by chance. Both kinds of
// verdict are corrected, each for itself (stats.Holm).
func Holm(rows []*Row) {
	p, equal := make([]float64, len(rows)), make([]float64, len(rows))
	for i, r := range rows {
		p[i], equal[i] = r.P, r.PEqual
	}
	correctedP, factors := stats.Holm(p)
	correctedEqual, factorsEqual := stats.Holm(equal)
	for i, r := range rows {
		r.PHolm, r.factor, r.PEqualHolm, r.factorEqual = correctedP[i], factors[i], correctedEqual[i], factorsEqual[i]
		if r.Verdict != TooFew {
			r.decide(r.testMargin())
		}
	}
}

// testMargin is the margin on the scale of the test.
func (r *Row) testMargin() float64 {
	if r.Scale == Ratio {
		return math.Log1p(r.rule.Margin)
	}
	return r.Margin
}

func logs(values []float64) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = math.Log(v)
	}
	return all
}

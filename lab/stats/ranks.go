package stats

import (
	"cmp"
	"slices"
	"sync"
)

// Stratum is figures of two sides that are compared with each other alone.
type Stratum struct{ Base, Variant []float64 }

// RankTest is two-sided: how many of all ways to deal the figures of each stratum to its two sides give ranks whose sum
// is at least as far from its mean. With one stratum that is the exact Mann-Whitney test. Equal figures share their
// mean rank. The test of go-moremath is not used: with ties it doubles one tail, of a distribution that ties make skew,
// and its p can be 0.
func RankTest(strata []Stratum) float64 {
	ways, sum, mean := []float64{1}, 0, 0
	for _, s := range strata {
		ranks, ofBase := doubledRanks(s.Base, s.Variant)
		ways = convolve(ways, rankSumWays(ranks, len(s.Base)))
		sum, mean = sum+ofBase, mean+len(s.Base)*(len(ranks)+1)
	}
	far, all := 0.0, 0.0
	for s, n := range ways {
		if all += n; max(s-mean, mean-s) >= max(sum-mean, mean-sum) {
			far += n
		}
	}
	return far / all
}

// Differences of all figures of each stratum, in order of size; their median is the estimate of Hodges and Lehmann.
func Differences(strata []Stratum) (all []float64) {
	for _, s := range strata {
		for _, x := range s.Base {
			for _, y := range s.Variant {
				all = append(all, y-x)
			}
		}
	}
	slices.Sort(all)
	return all
}

// BelowAtMost is how likely at most 0, 1, 2 … of all differences are below 0 if the sides do not differ and no figures
// are equal: the distribution of Mann and Whitney's U, added over the strata.
func BelowAtMost(strata []Stratum) (chances []float64) {
	ways := []float64{1}
	for _, s := range strata {
		n, m := len(s.Base), len(s.Variant)
		ranks := make([]int, n+m)
		for i := range ranks {
			ranks[i] = i + 1
		}
		least := n * (n + 1) / 2
		ways = convolve(ways, rankSumWays(ranks, n)[least:least+n*m+1])
	}
	chances = make([]float64, len(ways))
	sum := 0.0
	for u, n := range ways {
		sum += n
		chances[u] = sum
	}
	for u := range chances {
		chances[u] /= sum
	}
	return chances
}

// IntervalRank inverts the test: it is the largest k for which the interval from the k-th difference to the k-th from
// the end has the confidence 1 - alpha or more, and that confidence,
//
//	P(U ≤ k−1) ≤ alpha/2
//
// It is less only where there are too few differences. The chances are those of BelowAtMost.
func IntervalRank(chances []float64, alpha float64) (k int, confidence float64) {
	k = 1
	for k < (len(chances)-1)/2 && chances[k] <= alpha/2 {
		k++
	}
	return k, 1 - 2*chances[k-1]
}

// tooMany ways would not fit into a float64 when multiplied once more.
const tooMany = 1e200

// convolve gives in how many ways each sum of two draws comes about.
func convolve(x, y []float64) []float64 {
	all, most := make([]float64, len(x)+len(y)-1), 0.0
	for i, a := range x {
		if a == 0 {
			continue
		}
		for j, b := range y {
			all[i+j] += a * b
			most = max(most, all[i+j])
		}
	}
	if most > tooMany {
		for i := range all {
			all[i] /= most
		}
	}
	return all
}

// doubledRanks of all figures, which makes mean ranks whole numbers, and their sum on the first side.
func doubledRanks(a, b []float64) (ranks []int, sum int) {
	type figure struct {
		value float64
		first int // 1 on the first side
	}
	var all []figure
	for _, v := range a {
		all = append(all, figure{v, 1})
	}
	for _, v := range b {
		all = append(all, figure{v, 0})
	}
	slices.SortFunc(all, func(x, y figure) int { return cmp.Compare(x.value, y.value) })
	for i := 0; i < len(all); {
		end := i
		for end < len(all) && all[end].value == all[i].value {
			end++
		}
		rank := i + 1 + end
		for ; i < end; i++ {
			ranks = append(ranks, rank)
			sum += rank * all[i].first
		}
	}
	return ranks, sum
}

// untied ranks are dealt in the same ways whatever the figures are: each comparison asks for a few sizes, many times.
var untied sync.Map // of deal to []float64, which nobody changes

type deal struct{ step, ranks, n int }

// rankSumWays gives in how many ways n of the ranks have each sum.
func rankSumWays(ranks []int, n int) []float64 {
	for i, r := range ranks {
		if r != ranks[0]*(i+1) {
			return countDeals(ranks, n)
		}
	}
	if len(ranks) == 0 {
		return countDeals(ranks, n)
	}
	key := deal{ranks[0], len(ranks), n}
	ways, known := untied.Load(key)
	if !known {
		ways, _ = untied.LoadOrStore(key, countDeals(ranks, n))
	}
	return ways.([]float64)
}

func countDeals(ranks []int, n int) []float64 {
	total := 0
	ways := make([][]float64, n+1) // by how many were taken so far
	for _, r := range ranks {
		total += r
	}
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	reached := 0
	for i, r := range ranks {
		reached += r
		for k := min(i+1, n); k > 0; k-- {
			for s := reached; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	return ways[n]
}

// RankTail is one-sided: how many of all ways to deal the figures to two sides give the variant ranks at least as
// high. Equal figures share their mean rank.
func RankTail(base, variant []float64) float64 {
	ranks, ofVariant := doubledRanks(variant, base)
	ways := rankSumWays(ranks, len(variant))
	far, all := 0.0, 0.0
	for s, n := range ways {
		if all += n; s >= ofVariant {
			far += n
		}
	}
	return far / all
}

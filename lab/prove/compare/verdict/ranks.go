package verdict

import (
	"cmp"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// exactMost is how many figures the exact test takes; with as many it needs some 50 ms. With more the normal
// approximation is as good.
const exactMost = 100

// test is the two-sided Mann-Whitney test: how many of all ways to deal the figures to the two sides give rank sums
// that are at least as far from their mean. Equal figures share their mean rank. The exact test of go-moremath is not
// used: with ties it doubles one tail, of a distribution that ties make skew, and its p can be 0.
func test(a, b []float64) float64 {
	if len(a)+len(b) > exactMost {
		t, err := stats.MannWhitneyUTest(a, b, stats.LocationDiffers)
		if err != nil { // all figures are equal
			return 1
		}
		return min(1, t.P)
	}
	ranks, sum := doubledRanks(a, b)
	mean := len(a) * (len(ranks) + 1) // of the doubled ranks' sum
	far, all := 0.0, 0.0
	for s, ways := range dealt(ranks, len(a)) {
		if all += ways; max(s-mean, mean-s) >= max(sum-mean, mean-sum) {
			far += ways
		}
	}
	return far / all
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

// dealt is in how many ways n of the ranks have each sum.
func dealt(ranks []int, n int) []float64 {
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

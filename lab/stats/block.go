package stats

import "math"

// blockLength is the number of neighbours that depend on each other so much that they are drawn together, by the rule
// of Politis and White:
//
//	b = ( 2 G² / D )^⅓ · n^⅓,  G = Σ λ(k/M) |k| R(k),  D = 4/3 · ( Σ λ(k/M) R(k) )²
//
// R is the autocovariance, M twice the largest lag with a significant autocorrelation, λ flat up to ½ and then falling
// to 0.
func blockLength(x []float64) int {
	n := len(x)
	longest := lagMost(n)
	r := autocovariance(x, longest)
	if r[0] <= 0 {
		return 1
	}
	m := min(2*lastOutstanding(r, n), longest)
	g, sum := 0.0, r[0]
	for k := 1; k <= m; k++ {
		weight := window(float64(k) / float64(m))
		g += 2 * weight * float64(k) * r[k]
		sum += 2 * weight * r[k]
	}
	if sum <= 0 || g <= 0 { // negative dependence: no block is too short
		return 1
	}
	return max(1, int(math.Ceil(math.Cbrt(2*g*g/(4.0/3*sum*sum)*float64(n)))))
}

// quiet is how many lags in a row must be insignificant.
func quiet(n int) int { return max(5, int(math.Ceil(math.Sqrt(math.Log10(float64(n)))))) }

func lagMost(n int) int {
	return min(int(math.Ceil(math.Sqrt(float64(n))))+quiet(n), n-1)
}

// lastOutstanding is the largest significant lag: the next few are insignificant.
func lastOutstanding(r []float64, n int) int {
	least := 2 * math.Sqrt(math.Log10(float64(n))/float64(n))
	last := 0
	for k := 1; k < len(r) && k-last <= quiet(n); k++ {
		if math.Abs(r[k]/r[0]) > least {
			last = k
		}
	}
	return last
}

// window is flat up to one half, and falls to 0 at 1.
func window(t float64) float64 { return min(1, max(0, 2*(1-t))) }

// autocovariance of values with mean 0, for lags up to the given one.
func autocovariance(x []float64, longest int) []float64 {
	r := make([]float64, longest+1)
	for k := range r {
		for i := k; i < len(x); i++ {
			r[k] += x[i] * x[i-k] / float64(len(x))
		}
	}
	return r
}

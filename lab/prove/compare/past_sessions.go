package compare

import (
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/run/result"
)

// sessionGap separates sessions. Runs that follow each other share the state of the machine and its neighbours.
const sessionGap = 30 * time.Minute

// sessions are runs that follow each other, by their places; the runs are in the order of time.
func sessions(runs []*result.Result) (all [][]int) {
	for i, r := range runs {
		if i > 0 && r.Started.Sub(runs[i-1].Finished) < sessionGap {
			all[len(all)-1] = append(all[len(all)-1], i)
			continue
		}
		all = append(all, []int{i})
	}
	return all
}

// enoughSessions: from so many on, one new session can be significant.
func enoughSessions(n int) bool { return float64(n+1)*verdict.Alpha >= 1-1e-9 }

func sessionsLeast() (n int) {
	for !enoughSessions(n) {
		n++
	}
	return n
}

// differ says whether sessions differ by more than their runs do: the F test of the analysis of variance, on logarithms
// where all figures are positive.
func differ(series []float64, groups [][]int) bool {
	var all [][]float64
	total, n := 0.0, 0
	positive := true
	for _, v := range series {
		positive = positive && v > 0
	}
	for _, group := range groups {
		var figures []float64
		for _, at := range group {
			v := series[at]
			if !isKnown(v) {
				continue
			}
			if positive {
				v = math.Log(v)
			}
			figures, total, n = append(figures, v), total+v, n+1
		}
		if len(figures) > 0 {
			all = append(all, figures)
		}
	}
	if len(all) < 2 || n <= len(all) {
		return false
	}
	between, within := 0.0, 0.0
	for _, figures := range all {
		mean := 0.0
		for _, v := range figures {
			mean += v / float64(len(figures))
		}
		between += float64(len(figures)) * (mean - total/float64(n)) * (mean - total/float64(n))
		for _, v := range figures {
			within += (v - mean) * (v - mean)
		}
	}
	free, left := float64(len(all)-1), float64(n-len(all))
	if within == 0 {
		return between > 0
	}
	return 1-(distuv.F{D1: free, D2: left}).CDF(between/free/(within/left)) <= verdict.Alpha
}

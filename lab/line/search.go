package line

import (
	"math"
	"slices"
)

// Purpose of a trial.
type Purpose string

const (
	Coarse  Purpose = "coarse"
	Bisect  Purpose = "bisect"
	Confirm Purpose = "confirm"
	Longer  Purpose = "longer" // the same again, because it passed without being steady
)

// Defaults of a search.
const (
	TargetDefault        = 0.85
	FirstDefault         = 100
	MostDefault          = 30_000
	ResolutionDefault    = 0.05
	ConfirmationsDefault = 3
)

// Bounds of a search.
type Bounds struct {
	First         int     `json:"first"` // users of the first trial
	Most          int     `json:"most"`  // users beyond which nothing is tried
	Resolution    float64 `json:"resolution"`
	Confirmations int     `json:"confirmations"`
}

// lengthenMost is how often a trial that is not steady is made twice as long: four
// times the length at most.
const lengthenMost = 2

// Step is the width of the answer at n users.
func (b Bounds) Step(n int) int { return max(1, int(math.Round(b.Resolution*float64(n)))) }

// Next is what to try next; the second figure is 0 when the search is over.
func (b Bounds) Next(trials []Trial) (Purpose, int, int) {
	if purpose, n, longer := repeated(trials); n > 0 {
		return purpose, n, longer
	}
	if n, longer := unsteady(trials); n > 0 {
		return Longer, n, longer
	}
	longer := lengthened(trials)
	low, high := b.bracket(trials)
	void := unmeasured(trials)
	switch {
	case len(trials) == 0:
		return Coarse, min(b.First, b.Most), longer
	case low == 0 && void != nil && void.Users == high:
		return "", 0, 0 // fewer could hardly be measured, and nothing passed that they would better
	case high == 0 && low >= b.Most, high == 1:
		if high == 1 || confirmations(trials, low) >= b.Confirmations {
			return "", 0, 0
		}
		return Confirm, low, longer
	case high == 0:
		return Coarse, min(2*low, b.Most), longer
	case low == 0:
		return Coarse, max(1, high/2), longer
	case high-low > b.Step(low):
		return Bisect, b.between(low, high), longer
	case confirmations(trials, low) < b.Confirmations:
		return Confirm, low, longer
	}
	return "", 0, 0
}

// between halves the bracket, rounded to whole steps above the lower end, so that the
// last trial is just one step above.
func (b Bounds) between(low, high int) int {
	step := b.Step(low)
	steps := int(math.Round(float64(high-low) / 2 / float64(step)))
	return min(high-1, low+max(1, steps)*step)
}

// bracket is the largest number that always passed below the smallest that ever failed, or
// could not be measured. Zero: there is none. One failure counts: who carries N carries it
// each time.
func (b Bounds) bracket(trials []Trial) (low, high int) {
	high = leastFailed(trials)
	if void := unmeasured(trials); void != nil && (high == 0 || void.Users < high) {
		high = void.Users
	}
	for _, t := range trials {
		if t.Outcome == Passes && t.Users > low && (high == 0 || t.Users < high) {
			low = t.Users
		}
	}
	return low, high
}

// leastFailed is the smallest number that ever failed; 0: none did.
func leastFailed(trials []Trial) (least int) {
	for _, t := range trials {
		if t.Outcome == Fails && (least == 0 || t.Users < least) {
			least = t.Users
		}
	}
	return least
}

// confirmations count those trials only that were made to confirm: the one that found the
// number was chosen because it passed.
func confirmations(trials []Trial, n int) (sum int) {
	for _, t := range trials {
		if t.Users == n && t.Purpose == Confirm && t.Outcome == Passes {
			sum++
		}
	}
	return sum
}

// unsteady asks for the last trial again, longer, when it decided nothing.
func unsteady(trials []Trial) (n, longer int) {
	if len(trials) == 0 {
		return 0, 0
	}
	last := trials[len(trials)-1]
	if last.Outcome != Unsteady || last.Longer >= lengthenMost {
		return 0, 0
	}
	return last.Users, last.Longer + 1
}

// lengthened is how long trials had to be made so far: what was once needed stays.
func lengthened(trials []Trial) (longest int) {
	for _, t := range trials {
		longest = max(longest, t.Longer)
	}
	return longest
}

// Left is about how many trials are still to come.
func (b Bounds) Left(trials []Trial) int {
	low, high := b.bracket(trials)
	left := b.Confirmations - confirmations(trials, low)
	width := high - low
	switch {
	case len(trials) == 0:
		low, width = b.First, 4*b.First
		left += 4
	case high == 0:
		width = 2 * low
		left += 2
	case low == 0:
		width = high
		left += 2
	}
	if ratio := float64(width) / float64(b.Step(max(1, low))); ratio > 1 {
		left += int(math.Ceil(math.Log2(ratio)))
	}
	return max(0, left)
}

// levels are the numbers of users that were tried, ascending.
func levels(trials []Trial) (all []int) {
	for _, t := range trials {
		all = append(all, t.Users)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

package line

import (
	"math"
	"slices"
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
	Most          int     `json:"most"`  // no trial has more users
	Resolution    float64 `json:"resolution"`
	Confirmations int     `json:"confirmations"`
}

// Step is the width of the answer at n users.
func (b Bounds) Step(n int) int { return max(1, int(math.Round(b.Resolution*float64(n)))) }

// Next is the next trial; 0 users when the search is over.
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
		return "", 0, 0 // fewer could hardly be measured, and no smaller number has passed
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
	case failuresRepeated(trials, leastFailed(trials)) < b.Confirmations && leastFailed(trials) == high:
		return Beyond, high, longer
	}
	return "", 0, 0
}

// between halves the bracket, rounded to whole steps above the lower end, so that the last trial lies exactly one step
// above it.
func (b Bounds) between(low, high int) int {
	step := b.Step(low)
	steps := int(math.Round(float64(high-low) / 2 / float64(step)))
	return min(high-1, low+max(1, steps)*step)
}

// bracket is the largest number that always passed below the smallest that failed or could not be measured; 0 if there
// is none. One failure counts: a system that carries N users carries them every time.
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

// confirmations counts only trials made to confirm: the trial that found the number was chosen because it passed.
func confirmations(trials []Trial, n int) (sum int) {
	for _, t := range trials {
		if t.Users == n && t.Purpose == Confirm && t.Outcome == Passes {
			sum++
		}
	}
	return sum
}

// failuresRepeated counts the trials that repeat a failure. Their outcomes do not change the bracket. Those that stayed
// void count too.
func failuresRepeated(trials []Trial, n int) (sum int) {
	for _, t := range trials {
		if t.Users == n && t.Purpose == Beyond && (t.Outcome != Void && t.Outcome != Unsteady ||
			t.Again >= repeatMost) {
			sum++
		}
	}
	return sum
}

// unsteady asks for the last trial again, longer, if it was undecided.
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

// lengthened is how often trials have been lengthened so far; later trials keep that length.
func lengthened(trials []Trial) (longest int) {
	for _, t := range trials {
		longest = max(longest, t.Longer)
	}
	return longest
}

// Left estimates how many trials remain.
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
	left += b.Confirmations - failuresRepeated(trials, leastFailed(trials))
	if ratio := float64(width) / float64(b.Step(max(1, low))); ratio > 1 {
		left += int(math.Ceil(math.Log2(ratio)))
	}
	return max(0, left)
}

// levels are the numbers of users tried, ascending.
func levels(trials []Trial) (all []int) {
	for _, t := range trials {
		all = append(all, t.Users)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

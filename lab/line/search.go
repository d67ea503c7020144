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
	longer := lengthened(trials)
	if len(trials) == 0 {
		return Coarse, min(b.First, b.Most), longer
	}
	low, high := b.bracket(trials)
	failed := b.leastFailed(trials)
	void := unmeasured(trials)
	switch {
	case low == 0 && void != nil && void.Users == high:
		return "", 0, 0 // fewer could hardly be measured, and no smaller number has passed
	case high == 0 && low < b.Most:
		return Coarse, min(2*low, b.Most), longer
	case low == 0 && high > 1:
		return Coarse, max(1, high/2), longer
	case low > 0 && high > 0 && high-low > b.Step(low):
		return Bisect, b.middle(low, high), longer
	case low > 0 && levelOf(trials, low).left(b.Confirmations) > 0:
		return Confirm, low, max(longer, levelOf(trials, low).longer)
	case failed > 0 && failed == high && levelOf(trials, failed).left(b.Confirmations) > 0:
		return Beyond, failed, max(longer, levelOf(trials, failed).longer)
	}
	return "", 0, 0
}

// middle halves the bracket, rounded to whole steps above the lower end, so that the last trial lies exactly one step
// above it.
func (b Bounds) middle(low, high int) int {
	step := b.Step(low)
	steps := int(math.Round(float64(high-low) / 2 / float64(step)))
	return min(high-1, low+max(1, steps)*step)
}

// bracket is the largest number that passes below the smallest that fails or could not be measured; 0 if there is none.
func (b Bounds) bracket(trials []Trial) (low, high int) {
	high = b.leastFailed(trials)
	if void := unmeasured(trials); void != nil && (high == 0 || void.Users < high) {
		high = void.Users
	}
	for _, l := range levelsOf(trials) {
		if l.passed(b.Confirmations) && (high == 0 || l.users < high) {
			low = l.users
		}
	}
	return low, high
}

// leastFailed is the smallest number that does not pass; 0: there is none.
func (b Bounds) leastFailed(trials []Trial) int {
	for _, l := range levelsOf(trials) {
		if !l.passed(b.Confirmations) {
			return l.users
		}
	}
	return 0
}

// lengthened is how often trials were lengthened because they were not steady or too short; later trials keep that
// length. A score close to the target lengthens the trials of its number of users alone.
func lengthened(trials []Trial) (longest int) {
	for _, t := range trials {
		if t.Outcome == Unsteady || t.Outcome == Void && t.Short {
			longest = max(longest, min(t.Longer+1, lengthenMost))
		}
	}
	return longest
}

// Left estimates how many trials remain.
func (b Bounds) Left(trials []Trial) int {
	low, high := b.bracket(trials)
	left := levelOf(trials, low).left(b.Confirmations)
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
	left += levelOf(trials, b.leastFailed(trials)).left(b.Confirmations)
	if ratio := float64(width) / float64(b.Step(max(1, low))); ratio > 1 {
		left += int(math.Ceil(math.Log2(ratio)))
	}
	return max(0, left)
}

// numbers of users tried, ascending.
func numbers(trials []Trial) (all []int) {
	for _, t := range trials {
		all = append(all, t.Users)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

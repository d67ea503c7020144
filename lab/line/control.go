package line

import (
	"fmt"
	"math"
)

// controlMost is how far the ratio of a system to itself may lie from 1, at each end of its interval, for the control
// to approve the session: differences of this size and more then cannot be the session's noise.
const controlMost = 1.5

// controls are the repeated searches of the first system.
func (c *Comparison) controls() (all []Compared) {
	for _, one := range c.Lines {
		if one.Control {
			all = append(all, one)
		}
	}
	return all
}

// controlText says what the A/A control showed; empty without one. It approves nothing but a closed interval that holds
// 1 and is narrow enough to have shown a difference.
func (c *Comparison) controlText() string {
	for _, one := range c.controls() {
		name := c.Lines[0].Line.Plan.Configuration
		switch r := one.Ratio; {
		case r == nil && one.Line.Answer != nil && one.Line.Answer.Below == nil:
			return fmt.Sprintf("A/A control: not approved, no number of users failed on %s", name)
		case r == nil:
			return fmt.Sprintf("A/A control: not approved, %s has no second line", name)
		case r.Differs:
			return fmt.Sprintf("A/A control: not approved, %s differs from itself, %s: do not trust the differences "+
				"of this session", name, r)
		case r.IntervalLow == nil || r.IntervalHigh == nil:
			return fmt.Sprintf("A/A control: not approved, the trials of %s do not bound its ratio to itself: %s; "+
				"repeat with a larger --most, so that some number of users fails in both searches", name, r)
		case r.beyond() > controlMost:
			return fmt.Sprintf("A/A control: not approved, the interval of %s against itself is too wide: %s, where "+
				"×%.3g to %.3g is needed; make about %d more trials in each search: --confirmations %d", name, r,
				1/controlMost, controlMost, r.moreTrials(one.Line), r.confirmations(one.Line))
		default:
			return fmt.Sprintf("A/A control: approved, %s against itself %s, as it should be", name, r)
		}
	}
	return ""
}

// beyond is how far the interval's farther end lies from 1, as a factor.
func (r *Ratio) beyond() float64 { return max(*r.IntervalHigh, 1 / *r.IntervalLow) }

// moreTrials that each search needs for an interval as narrow as controlMost: its width shrinks with their root.
func (r *Ratio) moreTrials(l *Line) int {
	wide := math.Log(r.beyond()) / math.Log(controlMost)
	n := posteriorOf(l.Trials).trials
	return max(1, int(math.Ceil(float64(n)*(wide*wide-1))))
}

// confirmations that add that many trials: each is run at both ends.
func (r *Ratio) confirmations(l *Line) int { return l.Plan.Confirmations + (r.moreTrials(l)+1)/2 }

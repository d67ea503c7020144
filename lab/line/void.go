package line

import (
	"slices"

	"plimsoll/lab/apdex"
	"plimsoll/lab/result"
	"plimsoll/lab/run"
)

// repeatMost is how often a void trial is made again.
const repeatMost = 2

// lateMost is the share of the operations that the p99 of the lag says nothing of.
const lateMost = 0.01

// Unmeasured is the least number of users that could not be measured, however often it was tried:
// nothing is known from there on, though more may have failed.
type Unmeasured struct {
	Users int    `json:"users"`
	Times int    `json:"times"`
	Why   string `json:"why"` // the last time
}

// repeated gives the users and the length of a void trial that is to be made again: twice as
// long where nothing but operations was lacking.
func repeated(trials []Trial) (purpose Purpose, n, longer int) {
	if len(trials) == 0 {
		return "", 0, 0
	}
	last := trials[len(trials)-1]
	if last.Outcome != Void || last.Again >= repeatMost {
		return "", 0, 0
	}
	if last.Short && last.Longer < lengthenMost {
		return last.Purpose, last.Users, last.Longer + 1
	}
	return last.Purpose, last.Users, last.Longer
}

// again counts the void trials at the end, for which the next one is made again.
func again(trials []Trial) int {
	if _, n, _ := repeated(trials); n == 0 {
		return 0
	}
	return trials[len(trials)-1].Again + 1
}

// unmeasured is the last trial of the least number that could not be measured; nil: there is none.
func unmeasured(trials []Trial) (least *Unmeasured) {
	for _, t := range trials {
		if t.Outcome == Void && t.Again >= repeatMost && (least == nil || t.Users < least.Users) {
			least = &Unmeasured{t.Users, t.Again + 1, t.Why}
		}
	}
	return least
}

// blame says why a run that is not valid is a failure of the system all the same; empty:
// it may not be. A crash, a stall of the machine or a hand excuse the system. A generator that
// fell behind does where its lag may be what the users suffered from.
func blame(r *result.Result, target float64) string {
	excused := func(c result.Cause) bool {
		return c != result.BySystem && c != result.ByFewness && c != result.ByGenerator
	}
	below := func(score float64) bool { return score < target }
	switch best, ok := scoreAtBest(r); {
	case slices.ContainsFunc(r.InvalidCauses, excused):
		return ""
	case slices.Contains(r.InvalidCauses, result.ByGenerator):
		if ok && below(best) {
			return "Apdex below the target, however late the generator was"
		}
		return ""
	case slices.Contains(r.InvalidCauses, result.BySystem):
		return r.InvalidReasons[slices.Index(r.InvalidCauses, result.BySystem)]
	case r.Apdex != nil && below(*r.Apdex):
		return "Apdex below the target"
	}
	return ""
}

// scoreAtBest is the highest score that a run may have had whose load had been sent in time.
//
// All but one of 100 operations were late by at most the lag's p99, so of an answer in unit u
// of its target T, which came after u·T at least, the server took u·T − lag or more. One of
// 100 counts as satisfied. Failures stay: the server refused, or let a whole timeout go by.
// Where the generator used too many processors any answer may have waited for it, so that
// failures alone count.
func scoreAtBest(r *result.Result) (float64, bool) {
	busy := known(r.Generator.CPUShare) > run.GeneratorCPUMax
	var all []apdex.Weighed
	for _, op := range r.Operations {
		w := apdex.Weighed{Priority: op.Priority}
		w.Frustrated = op.Errors + op.Overload
		for unit, n := range op.HistogramT {
			switch least := float64(unit) - r.Generator.LagMSP99/op.TargetMS; { // of T
			case busy || least < 1:
				w.Satisfied += n
			case least < apdex.FrustrationFactor:
				w.Tolerating += n
			default:
				w.Frustrated += n
			}
		}
		all = append(all, w)
	}
	score, _, ok := apdex.Overall(all)
	return score + lateMost, ok
}

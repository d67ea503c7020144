// Package claims holds the claims of the five field reports, what this machine found about each, and how long that
// finding is valid.
//
//	not yet ──an experiment is built──▶ not run ──Run──▶ confirmed | in direction | small scale | refuted |
//	                                                     inconclusive (kept with the machine's fingerprint)
package claims

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/problem"
)

// Claim is one numbered line of a report.
type Claim struct {
	ID        string `json:"id"`
	Statement string `json:"statement"` // one line
	Claimed   string `json:"claimed"`   // the effect, with the figures given for it
	// NotHere says why no experiment of this program can test it; empty: there is one, or could be.
	NotHere string `json:"not_here,omitempty"`
}

// Report is one field report and its claims.
type Report struct {
	Title  string
	Claims []Claim
}

// Verdict is the result of testing a claim.
type Verdict string

const (
	Confirmed    Verdict = "confirmed"    // direction, size and situation
	InDirection  Verdict = "in direction" // it shows in the report's situation, smaller or larger than claimed
	SmallScale   Verdict = "small scale"  // it shows in a smaller situation than the report's
	Refuted      Verdict = "refuted"
	Inconclusive Verdict = "inconclusive"
	NotRun       Verdict = "not run"            // there is an experiment, not yet run on this machine
	NotYet       Verdict = "not yet"            // there is no experiment
	NotHere      Verdict = "cannot be had here" // and none can be
)

// Verdicts are all of them, the best first.
var Verdicts = []Verdict{Confirmed, InDirection, SmallScale, Refuted, Inconclusive, NotRun, NotYet, NotHere}

// Unproven is the verdict of a claim that nothing was measured for.
func (c Claim) Unproven(experiment bool) Verdict {
	switch {
	case experiment:
		return NotRun
	case c.NotHere != "":
		return NotHere
	}
	return NotYet
}

// All are the claims of all reports, by number.
func All() []Claim {
	var all []Claim
	for _, r := range Reports {
		all = append(all, r.Claims...)
	}
	slices.SortFunc(all, func(a, b Claim) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Find a claim by its id, in upper or lower case. A shorter form is refused with the id that is meant: what follows may
// be an experiment of many minutes, and C1 may be the beginning of another id.
func Find(id string) (Claim, error) {
	digits, hint := strings.TrimLeft(strings.TrimLeft(id, "Cc"), "0"), "'plimsoll prove' lists the claims"
	for _, c := range All() {
		switch {
		case strings.EqualFold(c.ID, id):
			return c, nil
		case digits != "" && strings.TrimLeft(c.ID[1:], "0") == digits:
			hint = "did you mean " + c.ID + "?"
		}
	}
	return Claim{}, problem.New(problem.Usage, fmt.Errorf("unknown claim %q", id), hint)
}

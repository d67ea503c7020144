// Package claims holds the claims of the five field reports, what this machine found about each, and how long that
// finding is valid.
//
//	not yet ──an experiment is built──▶ not run ──Run──▶ confirmed | refuted | inconclusive
//	                                                     (kept with the machine's fingerprint)
package claims

import (
	"fmt"
	"strings"

	"plimsoll/ground/problem"
)

// Claim is one numbered line of a report.
type Claim struct {
	ID        string `json:"id"`
	Statement string `json:"statement"` // one line
	Claimed   string `json:"claimed"`   // the effect, with the figures given for it
}

// Report is one field report and its claims.
type Report struct {
	Title  string
	Claims []Claim
}

// Verdict is the result of testing a claim.
type Verdict string

const (
	Confirmed    Verdict = "confirmed"
	Refuted      Verdict = "refuted"
	Inconclusive Verdict = "inconclusive"
	NotRun       Verdict = "not run" // there is an experiment, not yet run on this machine
	NotYet       Verdict = "not yet" // there is no experiment
)

// All are the claims of all reports, by number.
func All() []Claim {
	var all []Claim
	for _, r := range Reports {
		all = append(all, r.Claims...)
	}
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

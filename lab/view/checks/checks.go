// Package checks owns what a CI server is told of a result: each condition as a test case (JUnit XML), and a summary in
// Markdown for a pull request. It knows neither runs nor searches; they come as a Report.
package checks

import (
	"time"

	"plimsoll/web"
)

// Outcome of a check.
type Outcome string

const (
	Passed    Outcome = "passed"
	Failed    Outcome = "failed"
	Undecided Outcome = "cannot be decided" // for a CI server an error: it must not look like a pass
	Skipped   Outcome = "skipped"           // nobody asked for it, or it was not done
)

// Check is one condition.
type Check struct {
	Group   string // "gates"
	Name    string // "goods_sale.post: p95 > 200ms"
	Outcome Outcome
	Says    string // what was measured, or why it is so
}

// Report is what a command found.
type Report struct {
	Command  string // plimsoll run
	ID       string
	Headline string // the answer in a sentence
	Started  time.Time
	Took     time.Duration
	Host     string
	Checks   []Check
	Facts    []string    // what the answer depends on
	Tables   []web.Table // figures, for Markdown
}

// Bad says whether anything failed or cannot be decided.
func (r Report) Bad() bool { return r.count(Failed)+r.count(Undecided) > 0 }

func (r Report) count(o Outcome) (n int) {
	for _, c := range r.Checks {
		if c.Outcome == o {
			n++
		}
	}
	return n
}

// groups in the order of their first checks.
func (r Report) groups() (names []string, of map[string][]Check) {
	of = map[string][]Check{}
	for _, c := range r.Checks {
		if of[c.Group] == nil {
			names = append(names, c.Group)
		}
		of[c.Group] = append(of[c.Group], c)
	}
	return names, of
}

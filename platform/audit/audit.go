// Package audit owns the invariants that hold for the books of any application: totals equal
// movements, posted documents have movements and no others do, numbers are unique. It is set-based, and sees one snapshot, so
// that it may run beside live posting.
//
//	all:     every invariant in whole                                  clean ──▶ a clean point is kept
//	changed: census ─▶ what differs from the clean point ─▶ invariants of that   clean ──▶ the clean point moves
//	sample:  every invariant over a share of documents and keys
package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ExamplesMax is how many violations of an invariant are named; all are counted.
const ExamplesMax = 20

// Report of an audit. Violations counts all of them; each Check names the first few.
type Report struct {
	// Mode that was used: SinceClean becomes All where there is nothing to start from, and Reason says why.
	Mode   Mode   `json:"mode"`
	Reason string `json:"reason,omitempty"`
	// Since is when the clean point was made that the audit starts from.
	Since *time.Time `json:"since,omitempty"`
	// Looked at, of what there is.
	Documents    int64 `json:"documents"`
	DocumentsAll int64 `json:"documents_all"`
	Months       int   `json:"months"` // of organisations
	MonthsAll    int   `json:"months_all"`
	// Share of documents and keys in a sample; a single wrong one is found with this probability.
	Share float64 `json:"share,omitempty"`
	Seed  int64   `json:"seed,omitempty"`
	// Kept tells that the books were clean and that the next audit can start from here; Unkept why it cannot.
	Kept   bool   `json:"clean_point_kept"`
	Unkept string `json:"clean_point_not_kept,omitempty"`

	RowsRead    int64   `json:"rows_read"` // from tables, for everything
	Connections int     `json:"connections"`
	Violations  int64   `json:"violations"`
	Checks      []Check `json:"checks"`
	ElapsedMS   float64 `json:"elapsed_ms"`
}

// Check is one invariant: how many things were looked at, and what was wrong.
type Check struct {
	Invariant  string      `json:"invariant"`
	Title      string      `json:"title"`
	Whole      bool        `json:"whole"`               // everything it is about was looked at, whatever the mode
	Unchanged  bool        `json:"unchanged,omitempty"` // nothing it is about has changed since the clean point, so it holds as it did
	Checked    int64       `json:"checked"`
	Violations int64       `json:"violations"`
	Examples   []Violation `json:"examples,omitempty"`
}

// Violation names the document or key whose books are wrong.
type Violation struct {
	Subject  string `json:"subject"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// Clean tells whether no invariant is violated.
func (r Report) Clean() bool { return r.Violations == 0 }

// Whole counts the invariants that were checked in whole.
func (r Report) Whole() int { return r.count(func(c Check) bool { return c.Whole }) }

// Unchanged counts the invariants of which nothing had to be looked at.
func (r Report) Unchanged() int { return r.count(func(c Check) bool { return c.Unchanged }) }

func (r Report) count(so func(Check) bool) (n int) {
	for _, c := range r.Checks {
		if so(c) {
			n++
		}
	}
	return n
}

// Invariant is something that must hold. Checked counts what it is about; Wrong selects the
// subject, expected and found (texts) of every violation. Both say in braces by what they can be narrowed; see scope.
type Invariant struct {
	ID, Title      string
	Checked, Wrong string
	// Changed, if any, stands for Wrong since a clean point: the same for books of which everything else is known to hold.
	Changed string
	Args    []any
}

func (i Invariant) check(ctx context.Context, tx pgx.Tx, s scope) (Check, error) {
	c := Check{Invariant: i.ID, Title: i.Title}
	if s.holdsAsBefore(i.Wrong) {
		c.Unchanged = true
		return c, nil
	}
	wrong := i.Wrong
	if i.Changed != "" && s.mode == SinceClean {
		wrong = i.Changed
	}
	if s.mode == SinceClean && s.staleFor(wrong) {
		wrong, s = i.Wrong, scope{}
	}
	counting, args, _ := s.narrow(i.Checked, nil)
	if err := tx.QueryRow(ctx, counting, args...).Scan(&c.Checked); err != nil {
		return c, err
	}
	wrong, args, narrowed := s.narrow(wrong, i.Args)
	c.Whole = !narrowed
	rows, err := tx.Query(ctx, fmt.Sprintf("SELECT subject, expected, found, count(*) OVER () FROM (%s) AS wrong (subject, expected, found) ORDER BY subject LIMIT %d",
		wrong, ExamplesMax), args...)
	if err != nil {
		return c, err
	}
	var v Violation
	_, err = pgx.ForEachRow(rows, []any{&v.Subject, &v.Expected, &v.Found, &c.Violations}, func() error {
		c.Examples = append(c.Examples, v)
		return nil
	})
	return c, err
}

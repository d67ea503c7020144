// Package audit checks the invariants of the books of any application: totals equal movements, posted documents and no
// others have movements, numbers are unique. It is set-based and uses one snapshot, so it may run during live posting.
//
//	all:     every invariant in whole                                  clean ──▶ a clean point is kept
//	changed: census ─▶ what differs from the clean point ─▶ invariants of that   clean ──▶ the clean point moves
//	sample:  every invariant over a share of documents and keys
package audit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// ExamplesMax is how many violations of an invariant are named by default; all are counted.
const ExamplesMax = 20

// Report of an audit. Violations counts all of them; each Check names the first ones.
type Report struct {
	// Mode that was used: SinceClean becomes All if there is no usable clean point, and Reason says why.
	Mode   Mode   `json:"mode"`
	Reason string `json:"reason,omitempty"`
	// Since is the time of the clean point that the audit starts from.
	Since *time.Time `json:"since,omitempty"`
	// What was checked, of all there is.
	Documents    int64 `json:"documents"`
	DocumentsAll int64 `json:"documents_all"`
	Months       int   `json:"months"` // of organisations
	MonthsAll    int   `json:"months_all"`
	// Share of documents and keys in a sample; a single wrong one is found with this probability.
	Share float64 `json:"share,omitempty"`
	Seed  int64   `json:"seed,omitempty"`
	// Kept: the books were clean, and the next audit can start from here. Unkept: why it cannot.
	Kept   bool   `json:"clean_point_kept"`
	Unkept string `json:"clean_point_not_kept,omitempty"`

	RowsRead    int64   `json:"rows_read"` // from tables, for everything
	Connections int     `json:"connections"`
	Violations  int64   `json:"violations"`
	Checks      []Check `json:"checks"`
	ElapsedMS   float64 `json:"elapsed_ms"`
}

// Check is the result of one invariant: how many things were checked, and what was wrong.
type Check struct {
	Invariant string `json:"invariant"`
	Title     string `json:"title"`
	Whole     bool   `json:"whole"` // everything that the invariant covers was checked, whatever the mode
	// nothing that the invariant covers has changed since the clean point, so it still holds
	Unchanged bool  `json:"unchanged,omitempty"`
	Checked   int64 `json:"checked"`
	// Underivable is the number of rows that could not be derived: those after the boundary of costs, until a
	// restoration.
	Underivable int64       `json:"underivable,omitempty"`
	Violations  int64       `json:"violations"`
	Examples    []Violation `json:"examples,omitempty"`
}

// Violation names the document or key that is wrong.
type Violation struct {
	Subject  string `json:"subject"`
	Field    string `json:"field,omitempty"` // of the subject, such as "lines 2.item"
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// Where is the subject with its field.
func (v Violation) Where() string { return strings.TrimSpace(v.Subject + " " + v.Field) }

// Clean says that no invariant is violated.
func (r Report) Clean() bool { return r.Violations == 0 }

// Whole counts the invariants that were checked completely.
func (r Report) Whole() int { return r.count(func(c Check) bool { return c.Whole }) }

// Unchanged counts the invariants for which nothing had to be checked.
func (r Report) Unchanged() int { return r.count(func(c Check) bool { return c.Unchanged }) }

func (r Report) count(so func(Check) bool) (n int) {
	for _, c := range r.Checks {
		if so(c) {
			n++
		}
	}
	return n
}

// Invariant must hold. Checked counts what it covers; Wrong selects the subject, the expected and the found value
// (texts) of every violation. Both contain conditions in braces that modes narrow; see scope.
type Invariant struct {
	ID, Title      string
	Checked, Wrong string
	// Changed, if any, replaces Wrong since a clean point: the same check for books whose unchanged part is known to be
	// right.
	Changed string
	Args    []any
}

func (i Invariant) check(ctx context.Context, tx pgx.Tx, s scope, named int) (Check, error) {
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
	if err := tx.QueryRow(ctx, counting, once(args)...).Scan(&c.Checked); err != nil {
		return c, err
	}
	wrong, args, narrowed := s.narrow(wrong, i.Args)
	c.Whole = !narrowed
	rows, err := tx.Query(ctx, fmt.Sprintf("SELECT subject, expected, found, count(*) OVER () FROM (%s) AS wrong "+
		"(subject, expected, found) ORDER BY subject LIMIT %d",
		wrong, named), once(args)...)
	if err != nil {
		return c, err
	}
	var v Violation
	_, err = pgx.ForEachRow(rows, []any{&v.Subject, &v.Expected, &v.Found, &c.Violations}, func() error {
		one := v
		one.Subject, one.Field, _ = strings.Cut(v.Subject, fieldMark)
		c.Examples = append(c.Examples, one)
		return nil
	})
	return c, err
}

// once are the arguments of a statement that a connection carries out once: to prepare it would take another round
// trip. Types of arguments are known of prepared ones only.
func once(args []any) []any {
	if len(args) > 0 {
		return args
	}
	return []any{pgx.QueryExecModeExec}
}

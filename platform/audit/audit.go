// Package audit owns the invariants that hold for the books of any application: totals equal
// movements, posted documents have movements and no others do, numbers are unique. It is set-based, and sees one snapshot, so
// that it may run beside live posting.
package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/database"
)

// ExamplesMax is how many violations of an invariant are named; all are counted.
const ExamplesMax = 20

// Report of an audit. Violations counts all of them; each Check names the first few.
type Report struct {
	Violations int64   `json:"violations"`
	Checks     []Check `json:"checks"`
	ElapsedMS  float64 `json:"elapsed_ms"`
}

// Check is one invariant: how many things were looked at, and what was wrong.
type Check struct {
	Invariant  string      `json:"invariant"`
	Title      string      `json:"title"`
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

// Invariant is something that must hold. Checked counts what it is about; Wrong selects the
// subject, expected and found (texts) of every violation.
type Invariant struct {
	ID, Title      string
	Checked, Wrong string
	Args           []any
}

// Run checks all invariants in one snapshot.
func Run(ctx context.Context, db *database.Database, invariants []Invariant) (Report, error) {
	start := time.Now()
	r := Report{Checks: []Check{}}
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := db.Borrow(ctx, func(conn *pgx.Conn) error {
		return pgx.BeginTxFunc(ctx, conn, snapshot, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
				return fmt.Errorf("audit: %w", err)
			}
			for _, i := range invariants {
				check, err := i.check(ctx, tx)
				if err != nil {
					return fmt.Errorf("audit %s: %w", i.ID, err)
				}
				r.Checks = append(r.Checks, check)
				r.Violations += check.Violations
			}
			return nil
		})
	})
	r.ElapsedMS = float64(time.Since(start).Microseconds()) / 1000
	return r, err
}

func (i Invariant) check(ctx context.Context, tx pgx.Tx) (Check, error) {
	c := Check{Invariant: i.ID, Title: i.Title}
	if err := tx.QueryRow(ctx, i.Checked).Scan(&c.Checked); err != nil {
		return c, err
	}
	rows, err := tx.Query(ctx, fmt.Sprintf("SELECT subject, expected, found, count(*) OVER () FROM (%s) AS wrong (subject, expected, found) ORDER BY subject LIMIT %d",
		i.Wrong, ExamplesMax), i.Args...)
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

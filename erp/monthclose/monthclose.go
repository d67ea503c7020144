// Package monthclose owns the close of a month: the sales of an organisation are closed to profit or loss, by a document at the last moment of the month.
// Their costs must follow the order of time until then, so a month is not closed while the boundary of anything lies in it or before.
//
//	open ──Close──▶ closed ──Reopen──▶ open           Close again: the same document with the result as it is now
package monthclose

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/platform/amount"
	"plimsoll/platform/database"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/jobs"
	"plimsoll/platform/posting"
	"plimsoll/platform/problem"
	"plimsoll/platform/rowset"
)

// Kind is the name of the job.
const Kind = "month-close"

// Format of a month.
const Format = "2006-01"

// triesMax is how often a close follows what is posted at the same time.
const triesMax = 5

// Arguments of the job.
type Arguments struct {
	Organisation id.ID  `json:"organisation"` // zero is all
	Month        string `json:"month"`        // 2025-05
	Reopen       bool   `json:"reopen,omitempty"`
}

// Closed is what became of a month of an organisation.
type Closed struct {
	Organisation id.ID        `json:"organisation"`
	Code         string       `json:"code"`
	Number       string       `json:"number,omitempty"` // of the document; none when there was nothing to do
	Result       amount.Money `json:"result"`           // profit, or loss below zero
	Closed       bool         `json:"closed"`
}

// Month that a text means.
func Month(s string) (time.Time, error) {
	month, err := time.Parse(Format, s)
	if err != nil {
		return month, problem.New(problem.Usage, fmt.Errorf("%.20q is no month", s), "for example 2025-05")
	}
	return month, nil
}

// Job closes or reopens a month, of an organisation or of all.
func Job(db *database.Database) jobs.Kind {
	books := posting.New(db, erp.Metadata(), erp.Rules())
	return jobs.Kind{
		Name: Kind, Title: "Closing a month", Unique: true, Arguments: arguments,
		Plan: func(ctx context.Context, given json.RawMessage) (parts []jobs.Part, err error) {
			var a Arguments
			if err := json.Unmarshal(given, &a); err != nil {
				return nil, err
			}
			err = db.Read(ctx, func(w *database.Work) error {
				parts = nil
				w.Queue("organisations", "SELECT id, code FROM cat_organisations WHERE id = $1 OR $1 = $2 ORDER BY code", a.Organisation, id.ID{}).Rows(func(r pgx.Rows) error {
					one := share{Arguments: a}
					err := r.Scan(&one.Organisation, &one.Code)
					parts = append(parts, jobs.Part{Arguments: one, Weight: 1})
					return err
				})
				return nil
			})
			return parts, err
		},
		Work: func(ctx context.Context, t jobs.Task) (any, error) {
			var s share
			if err := json.Unmarshal(t.Arguments, &s); err != nil {
				return nil, err
			}
			month, err := Month(s.Month)
			if err != nil {
				return nil, err
			}
			c := &closing{db: db, books: books, organisation: s.Organisation, month: month, state: posting.Posted}
			if s.Reopen {
				c.state = posting.Unposted
			}
			done, err := c.run(ctx)
			done.Organisation, done.Code = s.Organisation, s.Code
			return done, err
		},
		Sum: func(results []json.RawMessage) (any, error) { return results, nil },
	}
}

type share struct {
	Arguments
	Code string `json:"code"`
}

func arguments(owner string, given json.RawMessage) (any, error) {
	var a Arguments
	if json.Unmarshal(given, &a) != nil {
		return nil, &document.Invalid{Field: "arguments", Reason: "a month is expected"}
	}
	if _, err := Month(a.Month); err != nil {
		return nil, &document.Invalid{Field: "month", Reason: "one like 2025-05 is expected"}
	}
	if owner != "" {
		own, err := id.Parse(owner)
		if err != nil {
			return nil, fmt.Errorf("month close for %q: %w", owner, err)
		}
		a.Organisation = own
	}
	return a, nil
}

// closing of a month.
type closing struct {
	db           *database.Database
	books        *posting.Books
	organisation id.ID
	month        time.Time
	state        posting.State
}

// found is what a month looks like.
type found struct {
	document   id.ID
	number     string
	posted     bool
	result     amount.Money // that the document says
	sales      amount.Money // that the ledger says without it
	unrestored int64
	since      *time.Time
}

// salesSQL says what sales have brought in a month; the close itself is left out.
const salesSQL = `SELECT coalesce(sum(CASE WHEN credit = $4 THEN amount ELSE -amount END), 0) FROM gl_general
WHERE organisation = $1 AND period >= $2 AND period < $3 AND (debit = $4) <> (credit = $4) AND recorder_type <> $5`

func (c *closing) look(ctx context.Context) (f found, err error) {
	end := c.month.AddDate(0, 1, 0)
	err = c.db.Read(ctx, func(w *database.Work) error {
		f = found{}
		w.Queue("find close", "SELECT id, number, posted, result FROM doc_month_close WHERE organisation = $1 AND date >= $2 AND date < $3 ORDER BY date, id LIMIT 1", c.organisation, c.month, end).
			Rows(func(r pgx.Rows) error { return r.Scan(&f.document, &f.number, &f.posted, &f.result) })
		w.Queue("sum sales", salesSQL, c.organisation, c.month, end, erp.AccountSales, erp.MonthClose).Rows(func(r pgx.Rows) error { return r.Scan(&f.sales) })
		w.Queue("look at boundary", "SELECT count(*), min(moment) FROM acc_batches_boundary WHERE organisation = $1 AND moment < $2", c.organisation, end).
			Rows(func(r pgx.Rows) error { return r.Scan(&f.unrestored, &f.since) })
		return nil
	})
	return f, err
}

// run closes until the result is what the ledger says: somebody may post in the month meanwhile.
func (c *closing) run(ctx context.Context) (Closed, error) {
	for range triesMax {
		f, err := c.look(ctx)
		if err != nil {
			return Closed{}, err
		}
		switch {
		case c.state == posting.Unposted && !f.posted:
			return Closed{Number: f.number}, nil
		case c.state == posting.Posted && f.unrestored > 0:
			return Closed{}, jobs.Final(fmt.Errorf("costs of %d goods do not follow the order of time since %s: restore them first (plimsoll restore)", f.unrestored, f.since.UTC().Format(time.DateOnly)))
		case c.state == posting.Posted && f.posted && f.result == f.sales:
			return Closed{Number: f.number, Result: f.result, Closed: true}, nil
		}
		if err := c.write(ctx, f); err != nil {
			return Closed{}, err
		}
	}
	return Closed{}, fmt.Errorf("documents keep coming to %s: close it when they are there", c.month.Format(Format))
}

func (c *closing) write(ctx context.Context, f found) error {
	app := erp.Metadata()
	meta, _ := app.Document(erp.MonthClose)
	d := document.New(meta)
	d.Organisation, d.Posted, d.Date = c.organisation, true, c.month.AddDate(0, 1, 0).Add(-time.Microsecond)
	rowset.Column[amount.Money](d.Header, "result")[0] = f.sales
	key := posting.Key{Name: id.New().String(), Digest: []byte{}}
	if f.document.IsZero() {
		_, err := c.books.Create(ctx, d, key)
		return err
	}
	change := posting.Change{Type: meta.Name, Organisation: c.organisation, Document: f.document, State: c.state}
	if c.state == posting.Posted {
		change.Content = d
	}
	_, err := c.books.Change(ctx, change, key)
	return err
}

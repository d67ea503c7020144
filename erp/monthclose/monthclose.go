// Package monthclose owns the close of a month: the sales of an organisation are closed to profit or loss, by a
// document at the last moment of the month, and nothing is written into the month any more. Their costs must follow
// the order of time until then, so a month is not closed while the boundary of anything lies in it or before. Months
// are closed in order, and opened again from the last one back.
//
//	open ──Close──▶ closed ──Reopen──▶ open
//
// Closing again posts the same document anew if its entries have been tampered with.
package monthclose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/books"
	"plimsoll/erp/closing"
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

// Arguments of the job.
type Arguments struct {
	Organisation id.ID  `json:"organisation"`      // zero is all
	Month        string `json:"month"`             // 2025-05
	Through      bool   `json:"through,omitempty"` // all that are open before it, too
	Reopen       bool   `json:"reopen,omitempty"`
}

// Closed is what became of a month of an organisation.
type Closed struct {
	Organisation id.ID        `json:"organisation"`
	Code         string       `json:"code"`
	Month        string       `json:"month"`
	Number       string       `json:"number,omitempty"` // of the document; none when there was nothing to do
	Result       amount.Money `json:"result"`           // profit, or loss below zero
	Closed       bool         `json:"closed"`
}

// Month that a text means.
func Month(s string) (time.Time, error) {
	month, err := time.Parse(Format, s)
	if err != nil {
		return month, problem.New(problem.Usage, fmt.Errorf("%.20q is not a month", s), "for example 2025-05")
	}
	return month, nil
}

// Job closes or reopens a month, or closes all through it, of an organisation or of all.
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
				w.Queue("organisations", "SELECT id, code FROM cat_organisations WHERE id = $1 OR $1 = $2 ORDER "+
					"BY code", a.Organisation, id.ID{}).Rows(func(r pgx.Rows) error {
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
			return s.close(ctx, db, books)
		},
		Sum: func(results []json.RawMessage) (any, error) {
			all := []Closed{}
			for _, of := range results {
				var some []Closed
				if err := json.Unmarshal(of, &some); err != nil {
					return nil, err
				}
				all = append(all, some...)
			}
			return all, nil
		},
	}
}

type share struct {
	Arguments
	Code string `json:"code"`
}

// close the months of an organisation, one after the other; those that are closed when it fails stay so.
func (s share) close(ctx context.Context, db *database.Database, books *posting.Books) (all []Closed, err error) {
	last, err := Month(s.Month)
	if err != nil {
		return nil, err
	}
	months := []time.Time{last}
	if s.Through {
		if months, err = openMonths(ctx, db, s.Organisation, last); err != nil {
			return nil, err
		}
	}
	for _, month := range months {
		c := &monthClosing{db: db, books: books, organisation: s.Organisation, month: month, state: posting.Posted}
		if s.Reopen {
			c.state = posting.Unposted
		}
		// what is written is decided under the lock of the period: nobody posts into the month meanwhile
		done, err := c.run(ctx)
		if err != nil {
			return all, err
		}
		done.Organisation, done.Code, done.Month = s.Organisation, s.Code, month.Format(Format)
		all = append(all, done)
	}
	return all, nil
}

// openMonths are the months that are open until the last one, and that itself.
func openMonths(ctx context.Context, db *database.Database, organisation id.ID, last time.Time) ([]time.Time, error) {
	if err := ended(last); err != nil {
		return nil, err
	}
	var open *[]time.Time
	if err := db.Read(ctx, func(w *database.Work) error {
		open = closing.OpenMonths(w, organisation, last)
		return nil
	}); err != nil {
		return nil, err
	}
	return append(*open, last), nil
}

func ended(month time.Time) error {
	if !month.AddDate(0, 1, 0).Before(time.Now()) {
		return jobs.Final(fmt.Errorf("%s has not ended", month.Format(Format)))
	}
	return nil
}

func arguments(owner string, given json.RawMessage) (any, error) {
	var a Arguments
	if json.Unmarshal(given, &a) != nil {
		return nil, &document.Invalid{Field: "arguments", Reason: "a month is expected"}
	}
	if _, err := Month(a.Month); err != nil {
		return nil, &document.Invalid{Field: "month", Reason: "one like 2025-05 is expected"}
	}
	if a.Through && a.Reopen {
		return nil, &document.Invalid{Field: "through", Reason: "months are opened again one by one"}
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

// monthClosing of a month.
type monthClosing struct {
	db           *database.Database
	books        *posting.Books
	organisation id.ID
	month        time.Time
	state        posting.State
}

// found is the close of a month.
type found struct {
	document  id.ID
	number    string
	posted    bool
	result    amount.Money
	corrected bool // what it says is not what the entries say: somebody has been at them without the rules
}

const findSQL = `SELECT id, number, posted, result, result <> (
	SELECT coalesce(sum(CASE WHEN credit = $4 THEN amount ELSE -amount END), 0) FROM gl_general e
	WHERE e.organisation = d.organisation AND e.period >= $2 AND e.period < $3 AND (debit = $4) <> (credit = $4)
	AND recorder_type <> $5)
FROM doc_month_close d WHERE organisation = $1 AND date >= $2 AND date < $3 ORDER BY posted DESC, date, id LIMIT 1`

func (c *monthClosing) find(ctx context.Context) (f found, err error) {
	err = c.db.Read(ctx, func(w *database.Work) error {
		f = found{}
		w.Queue("find close", findSQL, c.organisation, c.month, c.month.AddDate(0, 1, 0), books.AccountSales,
			books.MonthClose).
			Rows(func(r pgx.Rows) error { return r.Scan(&f.document, &f.number, &f.posted, &f.result, &f.corrected) })
		return nil
	})
	return f, err
}

func (c *monthClosing) run(ctx context.Context) (Closed, error) {
	f, err := c.find(ctx)
	switch {
	case err != nil:
		return Closed{}, err
	case c.state == posting.Unposted && !f.posted:
		return Closed{Number: f.number}, nil
	case c.state == posting.Posted && f.posted && !f.corrected:
		return Closed{Number: f.number, Result: f.result, Closed: true}, nil
	case c.state == posting.Posted:
		if err := ended(c.month); err != nil {
			return Closed{}, err
		}
	}
	done, err := c.write(ctx, f)
	var refused *posting.Refusal
	if errors.As(err, &refused) {
		return Closed{}, jobs.Final(errors.New(refused.Message))
	}
	return done, err
}

func (c *monthClosing) write(ctx context.Context, f found) (Closed, error) {
	app := erp.Metadata()
	meta, _ := app.Document(books.MonthClose)
	d := document.New(meta)
	d.Organisation, d.Posted, d.Date = c.organisation, true, c.month.AddDate(0, 1, 0).Add(-time.Microsecond)
	key := posting.Key{Name: id.New().String(), Digest: []byte{}}
	var written posting.Result
	var err error
	if f.document.IsZero() {
		written, err = c.books.Create(ctx, d, key)
	} else {
		written, err = c.books.Change(ctx, posting.Change{Type: meta.Name, Organisation: c.organisation,
			Document: f.document, Content: d, State: c.state}, key)
	}
	if err != nil || !written.Posted {
		return Closed{Number: written.Number}, err
	}
	return Closed{Number: written.Number, Result: rowset.Column[amount.Money](d.Header, "result")[0], Closed: true}, nil
}

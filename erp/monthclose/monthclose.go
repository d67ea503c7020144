// Package monthclose owns the close of a month: the sales of an organisation are closed to profit or loss, by a
// document at the last moment of the month, and nothing is written into the month any more. Their costs must follow
// the order of time until then, so a month is not closed while the boundary of anything lies in it or before. Months
// are closed in order, and opened again from the last one back.
//
//	open ──Close──▶ closed ──Reopen──▶ open
//
// Closing again reposts the same document if its entries have been tampered with. The months that a command closes for
// an organisation are a group (platform/books/group): half of them is found, and finished or undone.
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
	"plimsoll/ground/problem"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/group"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/jobs"
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
	c := &closer{db: db}
	groups := group.New(db, GroupKind(db))
	return jobs.Kind{
		// an organisation that is refused leaves the groups of others alone
		Name: Kind, Title: "Closing a month", Unique: true, Independent: true, Arguments: arguments,
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
			return s.close(ctx, c, groups)
		},
		Sum: func(results []json.RawMessage) (any, error) {
			all := []Closed{}
			for _, one := range results {
				var some []Closed
				if err := json.Unmarshal(one, &some); err != nil {
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

// close the months of an organisation, one after the other, as one group. What is written is decided under the lock of
// the period: nobody posts into the month meanwhile.
func (s share) close(ctx context.Context, c *closer, groups *group.Groups) (all []Closed, err error) {
	last, err := Month(s.Month)
	if err != nil {
		return nil, err
	}
	months := []time.Time{last}
	if s.Through {
		if months, err = openMonths(ctx, c.db, s.Organisation, last); err != nil {
			return nil, err
		}
	}
	done, err := groups.Run(ctx, group.Order{Kind: Kind, Scope: s.Organisation.String(), Title: s.title(),
		Arguments: Arguments{Month: s.Month, Through: s.Through, Reopen: s.Reopen},
		Plan:      func(ctx context.Context) ([]any, error) { return s.members(ctx, c, months) }})
	if err != nil {
		return nil, s.left(ctx, groups, done, err)
	}
	for _, month := range months {
		f, err := c.find(ctx, s.Organisation, month)
		if err != nil {
			return nil, err
		}
		one := Closed{Organisation: s.Organisation, Code: s.Code, Month: month.Format(Format), Number: f.number}
		if f.posted {
			one.Result, one.Closed = f.result, true
		}
		all = append(all, one)
	}
	return all, nil
}

func (s share) title() string {
	verb, through := "close", ""
	if s.Reopen {
		verb = "reopen"
	}
	if s.Through {
		through = "through "
	}
	return verb + " " + s.Code + " " + through + s.Month
}

// left is the error of a group that did not end. What was done of it stays until a person decides.
func (s share) left(ctx context.Context, groups *group.Groups, g group.Group, err error) error {
	var refused *posting.Refusal
	var other *group.OtherLeft
	switch {
	case jobs.WasCancelled(ctx):
		return errors.Join(err, groups.Cancel(context.WithoutCancel(ctx), g, "cancelled"))
	case errors.As(err, &refused):
		message := refused.Message
		if g.Done > 0 {
			message += fmt.Sprintf("; %d of %d months are done: 'plimsoll groups' finishes or undoes them", g.Done,
				g.Planned)
		}
		return jobs.Final(errors.New(message))
	case errors.As(err, &other):
		return jobs.Final(err)
	}
	return err
}

// members are the months that are not as they should be, with the documents that change that.
func (s share) members(ctx context.Context, c *closer, months []time.Time) (all []any, err error) {
	for _, month := range months {
		f, err := c.find(ctx, s.Organisation, month)
		if err != nil {
			return nil, err
		}
		if f.posted == !s.Reopen && (s.Reopen || !f.corrected) {
			continue
		}
		if !s.Reopen {
			if err := ended(month); err != nil {
				return nil, err
			}
		}
		m := member{Organisation: s.Organisation, Month: month.Format(Format), Document: f.document, Was: f.posted,
			Posted: !s.Reopen}
		if m.Document.IsZero() {
			m.Document = id.New()
		}
		all = append(all, m)
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

// Ended says that a month is over, or why it cannot be closed.
func Ended(month time.Time) error {
	if !month.AddDate(0, 1, 0).Before(time.Now()) {
		return problem.New(problem.Usage, fmt.Errorf("%s has not ended", month.Format(Format)), "name an earlier month")
	}
	return nil
}

func ended(month time.Time) error {
	if err := Ended(month); err != nil {
		return jobs.Final(err)
	}
	return nil
}

func arguments(owner string, given json.RawMessage) (any, error) {
	var a Arguments
	if json.Unmarshal(given, &a) != nil {
		return nil, &document.Invalid{Field: "arguments", Reason: "a month is expected"}
	}
	if _, err := Month(a.Month); err != nil {
		return nil, &document.Invalid{Field: "month", Reason: "a month such as 2025-05 is expected"}
	}
	if a.Through && a.Reopen {
		return nil, &document.Invalid{Field: "through", Reason: "months are reopened one at a time"}
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

// member is a month of a group.
type member struct {
	Organisation id.ID  `json:"organisation"`
	Month        string `json:"month"`
	Document     id.ID  `json:"document"`
	Was          bool   `json:"was"` // posted before
	Posted       bool   `json:"posted"`
}

// closer closes and reopens months.
type closer struct {
	db    *database.Database
	books *posting.Books
}

// GroupKind of the months that are closed or reopened together. A month that was reposted stays as it is when its
// group is undone.
func GroupKind(db *database.Database) group.Kind {
	c := &closer{db, posting.New(db, erp.Metadata(), erp.Rules())}
	return group.Kind{Name: Kind,
		Do: func(ctx context.Context, s group.Step) error {
			return c.step(ctx, s, func(m member) bool { return m.Posted })
		},
		Undo: func(ctx context.Context, s group.Step) error {
			return c.step(ctx, s, func(m member) bool { return m.Was })
		},
	}
}

func (c *closer) step(ctx context.Context, s group.Step, posted func(member) bool) error {
	var m member
	if err := json.Unmarshal(s.Member, &m); err != nil {
		return err
	}
	month, err := Month(m.Month)
	if err != nil {
		return err
	}
	found := false
	err = c.db.Read(ctx, func(w *database.Work) error {
		w.Queue("look for close", "SELECT true FROM doc_month_close WHERE id = $1", m.Document).
			Rows(func(r pgx.Rows) error { return r.Scan(&found) })
		return nil
	})
	if err != nil {
		return err
	}
	return c.write(ctx, m.Organisation, m.Document, month, found, posted(m),
		posting.Key{Name: s.Key(), Digest: []byte{}, Also: s.Count})
}

// found is the close of a month.
type found struct {
	document  id.ID
	number    string
	posted    bool
	result    amount.Money
	corrected bool // it disagrees with the entries: they were changed outside the rules
}

const findSQL = `SELECT id, number, posted, result, result <> (
	SELECT coalesce(sum(CASE WHEN credit = $4 THEN amount ELSE -amount END), 0) FROM gl_general e
	WHERE e.organisation = d.organisation AND e.period >= $2 AND e.period < $3 AND (debit = $4) <> (credit = $4)
	AND recorder_type <> $5)
FROM doc_month_close d WHERE organisation = $1 AND date >= $2 AND date < $3 ORDER BY posted DESC, date, id LIMIT 1`

func (c *closer) find(ctx context.Context, organisation id.ID, month time.Time) (f found, err error) {
	err = c.db.Read(ctx, func(w *database.Work) error {
		f = found{}
		w.Queue("find close", findSQL, organisation, month, month.AddDate(0, 1, 0), books.AccountSales,
			books.MonthClose).
			Rows(func(r pgx.Rows) error { return r.Scan(&f.document, &f.number, &f.posted, &f.result, &f.corrected) })
		return nil
	})
	return f, err
}

func (c *closer) write(ctx context.Context, organisation, v id.ID, month time.Time, there, posted bool,
	key posting.Key) error {
	meta, _ := erp.Metadata().Document(books.MonthClose)
	d := document.New(meta)
	d.Organisation, d.Posted, d.Date = organisation, posted, month.AddDate(0, 1, 0).Add(-time.Microsecond)
	if !there {
		d.ID, d.Planned = v, true
		_, err := c.books.Create(ctx, d, key)
		return err
	}
	state := posting.Unposted
	if posted {
		state = posting.Posted
	}
	_, err := c.books.Change(ctx, posting.Change{Type: meta.Name, Organisation: organisation, Document: v, Content: d,
		State: state}, key)
	return err
}

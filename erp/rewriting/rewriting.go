// Package rewriting owns the bulk rewriting of record sets by background jobs: every posted document's movements are
// deleted and inserted again, as after a register has changed its form. The books are the same afterwards.
package rewriting

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/jobs"
)

// Kind is the name of the job.
const Kind = "rewriting"

// Arguments of the job.
type Arguments struct {
	Organisation id.ID  `json:"organisation"` // zero is all
	Type         string `json:"type"`         // of documents. Defaults to goods_sale
	Parts        int    `json:"parts"`        // that the documents are dealt out to. Defaults to PartsDefault
	// Documents, Rows and Asynchronous are posting.Rewriting.
	Documents    int  `json:"documents,omitempty"`
	Rows         int  `json:"rows,omitempty"`
	Asynchronous bool `json:"asynchronous,omitempty"`
	// Seconds that each part goes over its documents again and again, for measurements. Defaults to once.
	Seconds int `json:"seconds,omitempty"`
}

const (
	PartsDefault = 50
	PartsMax     = 1000
	SecondsMax   = 3600
	// page of documents that are found at a time.
	page = 500
)

// share is the arguments of a part: the documents whose place in the order of ids leaves N when divided by Of.
type share struct {
	Arguments
	N int `json:"n"`
}

// Job rewrites. A part that is begun again rewrites again, which changes nothing.
func Job(db *database.Database) jobs.Kind {
	books := posting.New(db, erp.Metadata(), erp.Rules())
	return jobs.Kind{
		Name: Kind, Title: "Rewriting record sets", Unique: true, Arguments: arguments,
		Plan: func(ctx context.Context, given json.RawMessage) ([]jobs.Part, error) { return plan(ctx, db, given) },
		Work: func(ctx context.Context, t jobs.Task) (any, error) {
			var s share
			if err := json.Unmarshal(t.Arguments, &s); err != nil {
				return nil, err
			}
			return s.Run(ctx, db, books, t.Progress)
		},
		Sum: func(results []json.RawMessage) (any, error) {
			var all posting.Rewritten
			for _, r := range results {
				var one posting.Rewritten
				if err := json.Unmarshal(r, &one); err != nil {
					return nil, err
				}
				all = all.Plus(one)
			}
			return all, nil
		},
	}
}

func arguments(owner string, given json.RawMessage) (any, error) {
	a := Arguments{Type: books.GoodsSale, Parts: PartsDefault}
	if len(given) > 0 {
		if err := json.Unmarshal(given, &a); err != nil {
			return nil, &document.Invalid{Field: "arguments", Reason: "not valid arguments of a rewriting"}
		}
	}
	if _, known := erp.Rules()[a.Type]; !known {
		return nil, &document.Invalid{Field: "type", Reason: "unknown document type"}
	}
	for _, n := range []struct {
		field      string
		value, max int
	}{{"parts", a.Parts - 1, PartsMax - 1}, {"documents", a.Documents, 100_000}, {"rows", a.Rows, 1_000_000},
		{"seconds", a.Seconds, SecondsMax}} {
		if n.value < 0 || n.value > n.max {
			return nil, &document.Invalid{Field: n.field, Reason: "out of range"}
		}
	}
	if owner != "" {
		own, err := id.Parse(owner)
		if err != nil {
			return nil, fmt.Errorf("rewriting for %q: %w", owner, err)
		}
		a.Organisation = own
	}
	return a, nil
}

func plan(ctx context.Context, db *database.Database, given json.RawMessage) (parts []jobs.Part, err error) {
	var a Arguments
	if err := json.Unmarshal(given, &a); err != nil {
		return nil, err
	}
	var all int64
	err = db.Read(ctx, func(w *database.Work) error {
		w.Queue("count documents", "SELECT count(*) FROM doc_"+a.Type+
			" WHERE posted AND (organisation = $1 OR $1 = $2)", a.Organisation, id.ID{}).
			Rows(func(r pgx.Rows) error { return r.Scan(&all) })
		return nil
	})
	for n := range a.Parts {
		parts = append(parts, jobs.Part{Arguments: share{a, n}, Weight: (all + int64(a.Parts) - 1) / int64(a.Parts)})
	}
	return parts, err
}

// nextSQL deals documents out by a hash of their id, so that a part finds its own without counting the others.
const nextSQL = `SELECT id FROM doc_%s WHERE posted AND (organisation = $1 OR $1 = $2) AND id > $3
	AND (hashtextextended(id::text, 0) & 9223372036854775807) %% $4 = $5 ORDER BY id LIMIT $6`

// Run rewrites a part, once or for as long as was asked for, and tells what was done.
func (s share) Run(ctx context.Context, db *database.Database, books *posting.Books,
	progress func(int64)) (done posting.Rewritten, err error) {
	var some []id.ID
	begun := time.Now()
	for last, all := (id.ID{}), false; ; {
		if !all { // else some are all there are
			if some, err = s.next(ctx, db, last); err != nil {
				return done, err
			}
			all = last == (id.ID{}) && len(some) < page
		}
		n, over, err := s.rewrite(ctx, books, some, begun)
		done = done.Plus(n)
		switch {
		case err != nil || over || len(some) < page && s.Seconds == 0 || done.Documents == 0:
			return done, err
		case len(some) < page:
			last = id.ID{}
		default:
			last = some[len(some)-1]
		}
		progress(done.Documents)
	}
}

// next documents of the part, in the order of their ids.
func (s share) next(ctx context.Context, db *database.Database, last id.ID) (some []id.ID, err error) {
	err = db.Read(ctx, func(w *database.Work) error {
		some = nil
		w.Queue("next documents", fmt.Sprintf(nextSQL, s.Type), s.Organisation, id.ID{}, last, int64(s.Parts),
			int64(s.N), page).Rows(func(r pgx.Rows) error {
			var v id.ID
			err := r.Scan(&v)
			some = append(some, v)
			return err
		})
		return nil
	})
	return some, err
}

// rewrite some documents until the part's time is over, if it has one: that is looked at between transactions.
func (s share) rewrite(ctx context.Context, books *posting.Books, some []id.ID,
	begun time.Time) (done posting.Rewritten, over bool, err error) {
	for together := range slices.Chunk(some, max(1, s.Documents)) {
		n, err := books.Rewrite(ctx, s.Type, together,
			posting.Rewriting{Documents: s.Documents, Rows: s.Rows, Asynchronous: s.Asynchronous})
		done = done.Plus(n)
		if err != nil {
			return done, false, err
		}
		if s.Seconds > 0 && time.Since(begun) > time.Duration(s.Seconds)*time.Second {
			return done, true, nil
		}
	}
	return done, false, nil
}

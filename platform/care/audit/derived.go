package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// derivedChunk is how many documents are derived at a time.
const derivedChunk = 500

// derivation compares the posted documents of a type with what its rules give.
type derivation struct {
	meta  *metadata.Document
	reads string // the tables
	check int    // in the report
}

// derivations of all types, each with its check in the report.
func (a *auditing) derivations() (all []derivation) {
	if a.options.Books == nil {
		return nil
	}
	for i := range a.app.Documents {
		d := &a.app.Documents[i]
		a.report.Checks = append(a.report.Checks, Check{Invariant: d.Name + ".derived",
			Title: d.Title + ": posting it again in memory gives what is stored, with its movements and entries"})
		all = append(all, derivation{d, derivedReads(a.app, d), len(a.report.Checks) - 1})
	}
	return all
}

// derivedReads are the tables that deriving a type reads.
func derivedReads(app *metadata.Application, d *metadata.Document) string {
	tables, attributes := []string{d.Table()}, slices.Clone(d.Attributes)
	for i := range d.Sections {
		tables, attributes = append(tables, d.SectionTable(&d.Sections[i])), append(attributes,
			d.Sections[i].Attributes...)
	}
	for _, name := range d.Recorded() {
		tables = append(tables, app.Table(name))
	}
	for _, a := range attributes {
		if c, found := app.Catalog(a.Catalog); found && a.Type == metadata.Reference {
			tables = append(tables, c.Table())
		}
		for _, name := range a.Documents {
			referred, _ := app.Document(name)
			tables = append(tables, referred.Table())
			for i := range referred.Sections {
				tables = append(tables, referred.SectionTable(&referred.Sections[i]))
			}
		}
	}
	return strings.Join(tables, " ")
}

// documentsSQL lists the documents to derive: since a clean point also those that refer to a changed document.
func (d derivation) documentsSQL(s scope) string {
	conditions := []string{"{document id}"}
	if s.mode == SinceClean {
		for _, a := range d.meta.Attributes {
			if len(a.Documents) > 0 {
				conditions = append(conditions, "{document "+a.Name+"}")
			}
		}
		for i := range d.meta.Sections {
			section := &d.meta.Sections[i]
			for _, a := range section.Attributes {
				if len(a.Documents) > 0 {
					conditions = append(conditions, fmt.Sprintf("id IN (SELECT document FROM %s WHERE {document %s})",
						d.meta.SectionTable(section), a.Name))
				}
			}
		}
	}
	return fmt.Sprintf("SELECT id FROM %s WHERE posted AND (%s) ORDER BY organisation, id", d.meta.Table(),
		strings.Join(conditions, " OR "))
}

// derived is a chunk of documents of one type.
type derived struct {
	derivation
	documents []id.ID
	bytes     int64
}

// derive posts documents in the scope again in memory, over several connections; tx has the snapshot.
func (a *auditing) derive(ctx context.Context, tx pgx.Tx, all []derivation, s scope) error {
	var chunks []derived
	for _, d := range all {
		check := &a.report.Checks[d.check]
		if a.reportMissing(check, d.reads) {
			continue
		}
		within := s
		switch {
		case s.holdsAsBefore(d.reads):
			check.Unchanged = true
			continue
		case s.mode == SinceClean && s.staleFor(d.reads):
			within = scope{}
		}
		sql, args, narrowed := within.narrow(d.documentsSQL(within), nil)
		check.Whole = !narrowed
		rows, err := tx.Query(ctx, sql, args...)
		if err != nil {
			return fmt.Errorf("%s.derived: %w", d.meta.Name, err)
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
		if err != nil {
			return fmt.Errorf("%s.derived: %w", d.meta.Name, err)
		}
		check.Checked = int64(len(ids))
		for some := range slices.Chunk(ids, derivedChunk) {
			chunks = append(chunks, derived{d, some, a.bytes[d.meta.Table()] * int64(len(some)) / int64(len(ids))})
		}
	}
	for _, c := range chunks {
		a.total.Add(c.bytes)
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(a.connections)
	for _, c := range chunks {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			found, err := a.differences(ctx, c)
			if err != nil {
				return fmt.Errorf("%s.derived: %w", c.meta.Name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			a.report.Checks[c.check].add(found, a.options.Examples)
			a.advance(c.bytes)
			return nil
		})
	}
	return group.Wait()
}

// differences of a chunk of documents, read in the audit's snapshot.
func (a *auditing) differences(ctx context.Context, c derived) (found []posting.Difference, err error) {
	err = a.db.Run(ctx, func(w *database.Work) (err error) {
		w.Queue("see what the audit sees", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
		w.Queue("see what the audit sees", "SET TRANSACTION SNAPSHOT '"+a.name+"'")
		w.Queue("no limit", "SET LOCAL statement_timeout = 0")
		w.Queue("plan once", "SET LOCAL plan_cache_mode = force_custom_plan")
		if err := w.Flush(ctx); err != nil {
			return err
		}
		found, err = a.options.Books.Derive(ctx, w, c.meta.Name, c.documents)
		return err
	})
	return found, err
}

// add records differences; if there are many, those with the lowest numbers are named.
func (c *Check) add(found []posting.Difference, named int) {
	c.Violations += int64(len(found))
	for _, f := range found {
		c.Examples = append(c.Examples, Violation{Field: f.Field, Expected: f.Expected, Found: f.Found,
			Subject: f.Document.Meta.Name + " " + f.Document.Number + " " + f.Document.ID.String()})
	}
	slices.SortStableFunc(c.Examples, func(a, b Violation) int { return strings.Compare(a.Subject, b.Subject) })
	c.Examples = c.Examples[:min(len(c.Examples), named)]
}

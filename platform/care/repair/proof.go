package repair

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/schema"
)

// sum of the hashes of rows. It does not depend on their order, and sums of parts add up, so that what a step says it
// changed can be subtracted from all changes.
type sum struct {
	Rows int64  `json:"rows"`
	Hash string `json:"hash"` // decimal
}

// proof has the sums of the rows that a step may change, by table, before and after it.
type proof struct {
	before, after map[string]sum
	about         []part
}

// part of a table: FROM and WHERE of a statement about the rows t.
type part struct {
	table, from string
	args        []any
}

const hashSQL = "SELECT count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text FROM "

// document: its header, lines, and everything that it has recorded anywhere.
func (r *Repairer) document(v id.ID) (parts []part) {
	for _, t := range schema.Tables(r.app) {
		column := ""
		for _, c := range t.Columns {
			switch {
			case strings.HasPrefix(t.Name, "doc_") && c.Name == "document":
				column = "document"
			case strings.HasPrefix(t.Name, "doc_") && c.Name == "number" && column == "":
				column = "id"
			case c.Name == "recorder":
				column = "recorder"
			}
		}
		if column != "" {
			parts = append(parts, part{t.Name, t.Name + " t WHERE t." + column + " = $1", []any{v}})
		}
	}
	return parts
}

func totalsOf(books *posting.Books, all []posting.Mismatch) (parts []part) {
	for _, m := range all {
		for _, t := range books.TotalsUnder(m) {
			parts = append(parts, part{t.Table, t.From, t.Args})
		}
	}
	return parts
}

// open notes what a step may change, before it changes anything. Parts must not overlap.
func (p *proof) open(ctx context.Context, w *database.Work, parts ...part) (err error) {
	p.about = parts
	p.before, err = sums(ctx, w, parts)
	return err
}

// close notes what has become of it, and drops tables that are as they were.
func (p *proof) close(ctx context.Context, w *database.Work) (err error) {
	if p.after, err = sums(ctx, w, p.about); err != nil {
		return err
	}
	for table, before := range p.before {
		if p.after[table] == before {
			delete(p.before, table)
			delete(p.after, table)
		}
	}
	return nil
}

func sums(ctx context.Context, w *database.Work, parts []part) (map[string]sum, error) {
	all := map[string]sum{}
	for _, one := range parts {
		w.Queue("digest "+one.table, hashSQL+one.from, one.args...).Rows(func(r pgx.Rows) error {
			var s sum
			err := r.Scan(&s.Rows, &s.Hash)
			all[one.table] = all[one.table].plus(s, 1)
			return err
		})
	}
	return all, w.Flush(ctx)
}

func (s sum) plus(other sum, sign int64) sum {
	a, b := number(s.Hash), number(other.Hash)
	return sum{s.Rows + sign*other.Rows, a.Add(a, b.Mul(b, big.NewInt(sign))).String()}
}

func number(decimal string) *big.Int {
	n, ok := new(big.Int).SetString(decimal, 10)
	if !ok {
		return new(big.Int)
	}
	return n
}

// wholeDigests of all tables but those of the platform's own notes.
func (r *Repairer) wholeDigests(ctx context.Context, into *map[string]sum) error {
	var parts []part
	for _, t := range schema.Tables(r.app) {
		if !strings.HasPrefix(t.Name, "plimsoll_") || t.Name == "plimsoll_number" || t.Name == "plimsoll_operation" {
			parts = append(parts, part{table: t.Name, from: t.Name + " t"})
		}
	}
	return r.db.Run(ctx, func(w *database.Work) (err error) {
		w.Queue("one snapshot", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
		w.Queue("no limit", "SET LOCAL statement_timeout = 0")
		*into, err = sums(ctx, w, parts)
		return err
	})
}

// explained compares what has changed in all with what the steps say they changed.
func (p *proof) explained(steps []proof) (tables int, rows int64, err error) {
	expected := maps.Clone(p.before)
	for _, s := range steps {
		for table := range s.before {
			expected[table] = expected[table].plus(s.before[table], -1).plus(s.after[table], 1)
		}
	}
	var others []string
	for _, table := range slices.Sorted(maps.Keys(p.after)) {
		rows += p.after[table].Rows
		if e := expected[table]; e.Rows != p.after[table].Rows || number(e.Hash).Cmp(number(p.after[table].Hash)) != 0 {
			others = append(others, table)
		}
	}
	if len(others) > 0 {
		return 0, 0, errors.New("something else has meanwhile changed in " + strings.Join(others, ", ") +
			": other sessions write, or a step wrote more than it declared")
	}
	return len(p.after), rows, nil
}

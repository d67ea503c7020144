package audit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/id"
)

const (
	bucketsMin  = 1024
	bucketsMost = 1 << 18
	bucketBytes = 512 // of headers of documents
)

// tally of a relation: how many rows that were written before a moment there are, in all, by bucket of documents and by month.
type tally struct {
	rows    int64
	buckets []int32
	cells   map[cell]int64
}

// counted is a relation as a census finds it.
type counted struct {
	relation
	before tally // written before the clean point that the audit starts from
	now    tally // written before the audit's own snapshot, for the next clean point
	fresh  int64 // rows written since the clean point
	months map[cell]bool
	all    int64
}

// census reads every relation once. A row was written before a moment when its xmin is below the oldest transaction that was under way then:
// such rows can only become fewer, so where their number is what it was nothing of then was changed or deleted; and all others are new.
func (r relation) census(ctx context.Context, tx pgx.Tx, since, now stamp, buckets int) (*counted, error) {
	c := &counted{relation: r, before: newTally(buckets), now: newTally(buckets), months: map[cell]bool{}}
	rows, err := tx.Query(ctx, r.censusSQL(since, now, buckets))
	if err != nil {
		return nil, err
	}
	var set int
	var bucket *int32
	var organisation *id.ID
	var month *time.Time
	var infinite bool
	var before, untouched, fresh int64
	_, err = pgx.ForEachRow(rows, []any{&set, &bucket, &organisation, &month, &infinite, &before, &untouched, &fresh}, func() error {
		switch {
		case set == censusRows:
			c.before.rows, c.now.rows, c.fresh, c.all = before, untouched, fresh, before+fresh
		case set == censusBuckets && bucket != nil:
			c.before.buckets[*bucket], c.now.buckets[*bucket] = int32(before), int32(untouched)
		case set == censusMonths && organisation != nil && !infinite: // balances are looked at in whole
			of := cell{*organisation, *month}
			c.before.cells[of], c.now.cells[of] = before, untouched
			c.months[of] = fresh > 0
		}
		return nil
	})
	return c, err
}

func newTally(buckets int) tally {
	return tally{buckets: make([]int32, buckets), cells: map[cell]int64{}}
}

// what GROUPING() says of each of the sets
const (
	censusRows    = 0b111
	censusBuckets = 0b011
	censusMonths  = 0b100
)

func (r relation) censusSQL(since, now stamp, buckets int) string {
	bucket, organisation, month := "NULL::integer", "NULL::uuid", "NULL::date"
	if r.document != "" {
		bucket = bucketOf(r.document, buckets)
	}
	if r.month != "" {
		organisation, month = "organisation", r.month
	}
	return fmt.Sprintf(`SELECT grouping(b, o, m), b, o, nullif(m, 'infinity'), coalesce(m = 'infinity', false),
	count(*) FILTER (WHERE NOT %[5]s), count(*) FILTER (WHERE NOT %[6]s), count(*) FILTER (WHERE %[5]s)
FROM (SELECT xmin AS x, %[1]s AS b, %[2]s AS o, %[3]s AS m FROM %[4]s) rows GROUP BY GROUPING SETS ((), (b), (o, m))`,
		bucket, organisation, month, r.name, since.after("x"), now.after("x"))
}

// change is what differs from the clean point.
type change struct {
	lost   []int32 // buckets of documents, of so many in all, that something was changed in or deleted from
	of     int
	months []cell
	plain  map[string]bool
	same   map[string]bool // tables in which nothing was written or lost
}

func changeOf(all []*counted, was map[string]tally) change {
	d := change{plain: map[string]bool{}, same: map[string]bool{}}
	for _, c := range all {
		d.of = max(d.of, len(c.before.buckets))
	}
	lost, months := map[int32]bool{}, map[cell]bool{}
	for _, c := range all {
		old := was[c.name]
		for bucket := range c.before.buckets {
			if c.before.buckets[bucket] != old.buckets[bucket] {
				for b := bucket; b < d.of; b += len(c.before.buckets) {
					lost[int32(b)] = true
				}
			}
		}
		for of, fresh := range c.months {
			if fresh || c.before.cells[of] != old.cells[of] {
				months[of] = true
			}
		}
		for of, rows := range old.cells {
			if c.before.cells[of] != rows {
				months[of] = true
			}
		}
		d.same[c.name] = c.fresh == 0 && c.before.rows == old.rows
		d.plain[c.name] = c.plain() && !d.same[c.name]
	}
	for b := range lost {
		d.lost = append(d.lost, b)
	}
	for of := range months {
		d.months = append(d.months, of)
	}
	slices.Sort(d.lost)
	return d
}

// changed lists the documents that have new rows in a relation, or belong to a bucket that has lost some in any.
func (c *counted) changed(ctx context.Context, tx pgx.Tx, since stamp, d change) ([]id.ID, error) {
	if c.document == "" || c.fresh == 0 && len(d.lost) == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE %s OR %s = ANY ($1::integer[])",
		c.document, c.name, since.after("xmin"), bucketOf(c.document, d.of)), d.lost)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.ID])
}

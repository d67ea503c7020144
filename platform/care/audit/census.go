package audit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
)

const (
	bucketsMin  = 1024
	bucketsMost = 1 << 18
	bucketBytes = 512 // of headers of documents
)

// tally of a relation: the number of rows written before a moment, in all, by bucket of documents and by month.
type tally struct {
	rows    int64
	buckets []int32
	cells   map[cell]int64
}

// counted is a relation as counted by a census.
type counted struct {
	relation
	before tally // rows written before the clean point that the audit starts from
	now    tally // rows written before the audit's own snapshot, for the next clean point
	fresh  int64 // rows written since the clean point
	months map[cell]bool
	all    int64
}

// census reads every relation once. A row was written before a moment if its xmin is below the oldest transaction that
// was running then. Such rows can only become fewer: if their number is unchanged, none was changed or deleted. All
// others are new.
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
	_, err = pgx.ForEachRow(rows, []any{&set, &bucket, &organisation, &month, &infinite, &before, &untouched, &fresh},
		func() error {
			switch {
			case set == censusRows:
				c.before.rows, c.now.rows, c.fresh, c.all = before, untouched, fresh, before+fresh
			case set == censusBuckets && bucket != nil:
				c.before.buckets[*bucket], c.now.buckets[*bucket] = int32(before), int32(untouched)
			case set == censusMonths && organisation != nil && !infinite: // balances are checked completely
				at := cell{*organisation, *month}
				c.before.cells[at], c.now.cells[at] = before, untouched
				c.months[at] = fresh > 0
			}
			return nil
		})
	return c, err
}

func newTally(buckets int) tally {
	return tally{buckets: make([]int32, buckets), cells: map[cell]int64{}}
}

// value of GROUPING() for each of the sets
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
	return statement.SQL(`SELECT grouping(b, o, m), b, o, nullif(m, 'infinity'), coalesce(m = 'infinity', false),
	count(*) FILTER (WHERE NOT {new}), count(*) FILTER (WHERE NOT {under_way}), count(*) FILTER (WHERE {new})
FROM (SELECT xmin AS x, {bucket} AS b, {organisation} AS o, {month} AS m FROM {table}) rows
GROUP BY GROUPING SETS ((), (b), (o, m))`, statement.Names{
		"new": since.after("x"), "under_way": now.after("x"), "bucket": bucket, "organisation": organisation,
		"month": month, "table": r.name,
	})
}

// change is the difference from the clean point.
type change struct {
	lost    []int32 // buckets of documents (there are so many in all) with changed or deleted rows
	buckets int
	months  []cell
	plain   map[string]bool
	same    map[string]bool // tables in which nothing was written or deleted
}

func changeOf(all []*counted, was map[string]tally) change {
	d := change{plain: map[string]bool{}, same: map[string]bool{}}
	for _, c := range all {
		d.buckets = max(d.buckets, len(c.before.buckets))
	}
	lost, months := map[int32]bool{}, map[cell]bool{}
	for _, c := range all {
		old := was[c.name]
		for bucket := range c.before.buckets {
			if c.before.buckets[bucket] != old.buckets[bucket] {
				for b := bucket; b < d.buckets; b += len(c.before.buckets) {
					lost[int32(b)] = true
				}
			}
		}
		for at, fresh := range c.months {
			if fresh || c.before.cells[at] != old.cells[at] {
				months[at] = true
			}
		}
		for at, rows := range old.cells {
			if c.before.cells[at] != rows {
				months[at] = true
			}
		}
		d.same[c.name] = c.fresh == 0 && c.before.rows == old.rows
		d.plain[c.name] = c.plain() && !d.same[c.name]
	}
	for b := range lost {
		d.lost = append(d.lost, b)
	}
	for at := range months {
		d.months = append(d.months, at)
	}
	slices.Sort(d.lost)
	return d
}

// changed lists the documents that have new rows in a relation, or whose bucket has lost rows in any.
func (c *counted) changed(ctx context.Context, tx pgx.Tx, since stamp, d change) ([]id.ID, error) {
	if c.document == "" || c.fresh == 0 && len(d.lost) == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE %s OR %s = ANY ($1::integer[])",
		c.document, c.name, since.after("xmin"), bucketOf(c.document, d.buckets)), d.lost)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.ID])
}

package advise

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"plimsoll/lab/diagnose/condition"
)

// A column with what its statistics say, and whether a B-tree can hold its type. Arrays are left out: statements
// seldom compare them with one value.
const columnsSQL = `SELECT a.attname AS name, a.attnum::int AS number, p.attname IS NOT NULL AS known,
	coalesce(p.n_distinct, 0)::float8 AS distinct, coalesce(p.null_frac, 0)::float8 AS nulls,
	coalesce(p.avg_width, 0)::float8 AS width, coalesce(cardinality(p.most_common_freqs), 0)::float8 AS commons,
	coalesce((SELECT sum(f) FROM unnest(p.most_common_freqs) AS f), 0)::float8 AS common,
	coalesce((SELECT sum(f::float8 * f) FROM unnest(p.most_common_freqs) AS f), 0)::float8 AS squares,
	t.typtype = 'e' OR EXISTS (SELECT FROM pg_opclass o JOIN pg_am m ON m.oid = o.opcmethod WHERE m.amname = 'btree'
		AND o.opcdefault AND o.opcintype IN (t.oid, t.typbasetype,
			CASE WHEN 'varchar'::regtype IN (t.oid, t.typbasetype)
			THEN 'text'::regtype END)) AS sortable
	FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_stats p
		ON p.schemaname = $2 AND p.tablename = $3 AND p.attname = a.attname AND NOT p.inherited
	WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped`

type column struct {
	Name                                             string
	Number                                           int
	Known, Sortable                                  bool
	Distinct, Nulls, Width, Commons, Common, Squares float64
}

// spread of values: how many different ones there are, of so many rows.
func (c column) spread(rows float64) float64 {
	if c.Distinct < 0 {
		return -c.Distinct * rows
	}
	return c.Distinct
}

// share of the rows that one value has, if values are asked for as often as they occur.
func (c column) share(rows float64) float64 {
	rest := max(0, 1-c.Nulls-c.Common)
	return min(1, c.Squares+rest*rest/max(1, c.spread(rows)-c.Commons))
}

const (
	// PostgreSQL's own costs, for a server whose settings are not known.
	seqPageCost, randomPageCost = 1, 4
	tupleCost, operatorCost     = 0.01, 0.0025
	// descentOfTree is how many pages a search reads before the first entry; an entry takes entryBytes.
	descentOfTree, entryBytes = 2, 20
	bytesOfPage, bytesOfRow   = 8192, 100 // rows of a table without statistics
	// nearlyAll of the rows: a column of which one value has so many tells nothing apart.
	nearlyAll        = 0.9
	columnsMost      = 3
	rowsFoundAtLeast = 1
)

func valueOr(x, otherwise float64) float64 {
	if math.IsNaN(x) {
		return otherwise
	}
	return x
}

// pays says whether the planner would read so many rows by an index rather than the whole table, and gain from it. It
// counts as the planner does for a bitmap scan of rows that lie anywhere.
func (s *server) pays(t table, rows float64) bool {
	random := valueOr(s.figure("random_page_cost"), randomPageCost)
	seq := valueOr(s.figure("seq_page_cost"), seqPageCost)
	pages := t.Pages
	if pages < 1 { // not vacuumed yet
		pages = max(1, t.Live*bytesOfRow/bytesOfPage)
	}
	whole := pages*seq + t.Live*(tupleCost+operatorCost)
	read := min(pages, 2*pages*rows/(2*pages+rows))
	page := random
	if read > 1 {
		page -= (random - seq) * math.Sqrt(read/pages)
	}
	byIndex := read*page + rows*(tupleCost+operatorCost) + (descentOfTree+rows*entryBytes/bytesOfPage)*random
	return byIndex <= indexGain.Value*whole
}

// useful columns for an index, with the rows that a call then finds; none: it would not be used, or that is not known.
func (s *server) useful(t table, keys []column, one statement) (used []column, rows float64, why string) {
	var unknown, same []string
	keys = slices.Clone(keys)
	slices.SortStableFunc(keys, func(x, y column) int { return cmp.Compare(x.share(t.Live), y.share(t.Live)) })
	rows = t.Live
	for _, k := range keys {
		switch {
		case !k.Known:
			unknown = append(unknown, k.Name)
		case !k.Sortable || k.Width >= widthMost.Value:
		case k.share(t.Live) >= nearlyAll:
			same = append(same, k.Name)
		case len(used) < columnsMost && rows > rowsFoundAtLeast:
			used, rows = append(used, k), max(rowsFoundAtLeast, rows*k.share(t.Live))
		}
	}
	if one.Calls > 0 {
		rows = max(rows, one.Rows/one.Calls) // what it returned it has found
	}
	switch {
	case len(used) > 0 && s.pays(t, rows):
		return used, rows, ""
	case len(unknown) > 0:
		why = "the distribution of the values of " + strings.Join(unknown, ", ") +
			" is not known: this needs ANALYZE and the right to read them"
	case len(used) > 0:
		why = "an index would not pay off: one value has too many of the rows"
	case len(same) > 0:
		why = "nearly all rows have the same value of " + strings.Join(same, ", ") + ": no index on it would be used"
	}
	if why != "" {
		why += "; in " + short(one.Query)
	}
	return nil, rows, why
}

// hasIndexFor: an index of the table begins with one of the keys, so that the scan has another reason.
func hasIndexFor(keys, columns []column, indexes []index) bool {
	var all []condition.Index
	for _, i := range indexes {
		all = append(all, i.finds(columns))
	}
	return condition.Covering(namesOf(keys), all) != nil
}

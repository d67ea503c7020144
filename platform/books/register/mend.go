package register

import (
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// Erase queues deleting everything that a recorder has in the register, wherever it lies. Totals stay; see Resum.
func (r *Register) Erase(w *database.Work, recorder id.ID) {
	w.Queue("delete from "+r.meta.Name, "DELETE FROM "+r.meta.Table()+" WHERE recorder = $1", recorder)
}

// Insert queues a record set of a recorder that has none. Totals stay; see Resum.
func (r *Register) Insert(w *database.Work, recorder Recorder, m *Movements) {
	x := r.Rewriter()
	x.Replace(recorder, recorder.Period, NewMovements(r.meta, 0), m)
	if x.Movements() > 0 {
		x.Write(w, 0)
	}
}

// KeysOf are the keys of totals that record sets are summed in, each once.
func (r *Register) KeysOf(sets ...*Movements) *rowset.Table {
	keys, seen := rowset.New(r.meta.Dimensions, 0), map[string]bool{}
	for _, m := range sets {
		if m == nil {
			continue
		}
		for row := range m.Rows.Rows() {
			if key := r.Key(m.Rows, row); !seen[key] {
				seen[key] = true
				keys.Add(m.Rows.Columns(0, len(r.meta.Dimensions)), []int{row})
			}
		}
	}
	return keys
}

// Weighed is what totals of one month say of a record set that could be another one.
type Weighed struct {
	Keys   int // that the two differ in
	Stored int // of those: totals equal the movements that are stored
	Made   int // of those: totals equal what the movements would be with the other record set
}

// Weigh queues comparing the totals of a month with the stored movements, where the record set before is to be after.
func (r *Register) Weigh(w *database.Work, recorder Recorder, before, after *Movements) *Weighed {
	x, found := r.Rewriter(), &Weighed{}
	x.Replace(recorder, recorder.Period, before, after)
	month := recorder.Period.UTC().Format("2006-01") + "-01"
	delta := rowset.New(fields(r.meta), 0)
	for row := range x.totals.rows.Rows() {
		if x.totals.months[row] == month && r.moved(x.totals.rows, row) {
			delta.Add(x.totals.rows, []int{row})
		}
	}
	found.Keys = delta.Rows()
	if found.Keys == 0 {
		return found
	}
	w.Queue("weigh totals of "+r.meta.Name, r.weighSQL(), delta.Arrays([]any{recorder.Organisation, month})...).
		Rows(func(rows pgx.Rows) error { return rows.Scan(&found.Stored, &found.Made) })
	return found
}

// Follow queues changing totals for a record set that has become another one.
func (r *Register) Follow(w *database.Work, recorder Recorder, before, after *Movements) {
	x := r.Rewriter()
	x.Replace(recorder, recorder.Period, before, after)
	x.WriteTotals(w)
}

// weighSQL reads the movements of the month once, not once for each key: few registers have an index by dimensions.
func (r *Register) weighSQL() string {
	resources, dimensions := metadata.Names(r.meta.Resources), metadata.Names(r.meta.Dimensions)
	const sum = "sum(CASE WHEN m.expense THEN -m.{name} ELSE m.{name} END) AS {name}"
	return statement.SQL(`WITH d AS MATERIALIZED (SELECT * FROM unnest({values}) AS d ({columns}))
SELECT count(*) FILTER (WHERE {stored}), count(*) FILTER (WHERE {made})
FROM d
LEFT JOIN {totals} t ON t.organisation = $1 AND {totals_match} AND t.period = $2::text::date
LEFT JOIN (SELECT {moved_key}, {sums} FROM (SELECT DISTINCT {dimensions} FROM d) d
	JOIN {movements} m ON m.organisation = $1 AND {movements_match}
	AND m.period >= $2::text::timestamp AT TIME ZONE 'UTC'
	AND m.period < ($2::text::timestamp + interval '1 month') AT TIME ZONE 'UTC' GROUP BY {moved_key}) m
	ON {movements_match}`, statement.Names{
		"stored": statement.Each(resources, "coalesce(t.{name}, 0) = coalesce(m.{name}, 0)", " AND "),
		"made":   statement.Each(resources, "coalesce(t.{name}, 0) = coalesce(m.{name}, 0) + d.{name}", " AND "),
		"values": rowset.Parameters(3, fields(r.meta)), "columns": metadata.Columns(fields(r.meta)),
		"totals": r.meta.Totals(), "totals_match": matches("t", "d", dimensions), "movements": r.meta.Table(),
		"movements_match": matches("m", "d", dimensions), "moved_key": statement.Qualified("m", dimensions),
		"dimensions": strings.Join(dimensions, ", "), "sums": statement.Each(resources, sum, ", "),
	})
}

// Resum queues making the totals under keys those of the movements: only rows that differ are written. The caller has
// locked the totals with LockTotals, so that no movement is under way.
func (r *Register) Resum(w *database.Work, organisation id.ID, keys *rowset.Table) {
	if keys.Rows() > 0 {
		w.Queue("sum "+r.meta.Totals(), r.resumSQL(), keys.Arrays([]any{organisation})...)
	}
}

// LockTotals queues keeping out everyone who changes totals; see Rebuild.
func LockTotals(w *database.Work, totals string) {
	w.Queue("lock "+totals, "LOCK TABLE "+totals+" IN SHARE ROW EXCLUSIVE MODE")
}

func (r *Register) resumSQL() string {
	dimensions, resources := metadata.Names(r.meta.Dimensions), metadata.Names(r.meta.Resources)
	movedAt, totalAt, dated, differs, set, into := "", "", "", "", "", ""
	if r.meta.Layered {
		document := r.meta.Dimensions[len(r.meta.Leading())].Name
		movedAt = ", CASE WHEN NOT m.expense AND m." + document + " = m.recorder AND p.of = 'infinity' " +
			"THEN m.period END"
		totalAt = ", NULL"
		dated = ", coalesce(max(at), '-infinity') AS at"
		differs = " OR w.at > '-infinity' AND t." + metadata.BroughtAt + " <> w.at"
		set = ", " + metadata.BroughtAt + " = CASE WHEN w.at > '-infinity' THEN w.at ELSE t." + metadata.BroughtAt +
			" END"
		into = ", " + metadata.BroughtAt
	}
	all := slices.Concat(dimensions, resources)
	columns, values := strings.Join(all, ", "), statement.Qualified("w", all)
	source := "period, " + columns
	if into != "" {
		values += ", w.at"
		source += ", at"
	}
	return statement.SQL(`WITH k AS (SELECT * FROM unnest({keys}) AS k ({dimensions}))
MERGE INTO {totals} t USING (
	SELECT period, {dimensions}, {sums}{dated} FROM (
		SELECT p.of, {moved_key}, {moved}{moved_at} FROM k JOIN {movements} m ON m.organisation = $1 AND {moved_match}
		CROSS JOIN LATERAL (VALUES {periods}) AS p (of)
		UNION ALL
		SELECT t.period, {total_key}, {zeros}{total_at} FROM k JOIN {totals} t ON t.organisation = $1 AND {total_match}
	) AS s ({source}) GROUP BY period, {dimensions}
) w ON t.organisation = $1 AND {matches} AND t.period = w.period
WHEN MATCHED AND ({differs}{differs_at}) THEN UPDATE SET {set}{set_at}
WHEN NOT MATCHED AND ({nonzero}) THEN INSERT (organisation, period, {columns}{into}) VALUES ($1, w.period, {values})`,
		statement.Names{
			"keys": rowset.Parameters(2, r.meta.Dimensions), "dimensions": strings.Join(dimensions, ", "),
			"totals": r.meta.Totals(), "sums": statement.Each(resources, "sum({name}) AS {name}", ", "), "dated": dated,
			"moved_key": statement.Qualified("m", dimensions), "moved_at": movedAt, "movements": r.meta.Table(),
			"moved":       statement.Each(resources, "CASE WHEN m.expense THEN -m.{name} ELSE m.{name} END", ", "),
			"moved_match": matches("m", "k", dimensions), "periods": periods(r.meta),
			"total_key": statement.Qualified("t", dimensions), "zeros": statement.Each(resources, "0 * t.{name}", ", "),
			"total_at": totalAt, "total_match": matches("t", "k", dimensions), "source": source,
			"matches": matches("t", "w", dimensions),
			"differs": statement.Each(resources, "t.{name} <> w.{name}", " OR "), "differs_at": differs,
			"set": statement.Each(resources, "{name} = w.{name}", ", "), "set_at": set,
			"nonzero": statement.Each(resources, "w.{name} <> 0", " OR "), "columns": columns, "into": into,
			"values": values,
		})
}

// Mismatched queues finding the keys whose totals are not the sums of their movements, by organisation; each once, in
// however many months, since they are joined with what they sum.
func (r *Register) Mismatched(w *database.Work) map[id.ID]*rowset.Table {
	found := map[id.ID]*rowset.Table{}
	w.Queue("compare totals of "+r.meta.Name, r.mismatchedSQL()).Rows(func(rows pgx.Rows) error {
		var organisation id.ID
		keys := rowset.New(r.meta.Dimensions, 1)
		if err := rows.Scan(append([]any{&organisation}, keys.Cells(keys.Grow(1))...)...); err != nil {
			return err
		}
		if found[organisation] == nil {
			found[organisation] = keys
		} else {
			found[organisation].Add(keys, []int{0})
		}
		return nil
	})
	return found
}

func (r *Register) mismatchedSQL() string {
	dimensions, resources := metadata.Names(r.meta.Dimensions), metadata.Names(r.meta.Resources)
	dated := ""
	if last := len(r.meta.Leading()); r.meta.Layered {
		dated = statement.SQL(`
UNION SELECT t.organisation, {key} FROM {totals} t JOIN {movements} m ON m.recorder = t.{document} AND m.line = t.{line}
WHERE t.period = 'infinity' AND t.{brought_at} <> m.period AND ({any_left})`, statement.Names{
			"key": statement.Qualified("t", dimensions), "totals": r.meta.Totals(), "movements": r.meta.Table(),
			"document": r.meta.Dimensions[last].Name, "line": r.meta.Dimensions[last+1].Name,
			"brought_at": metadata.BroughtAt, "any_left": statement.Each(resources, "t.{name} <> 0", " OR "),
		})
	}
	return statement.SQL(`SELECT DISTINCT organisation, {dimensions} FROM (
	SELECT organisation, {dimensions}, p.of, {moved}
	FROM {movements} m CROSS JOIN LATERAL (VALUES {periods}) AS p (of)
	UNION ALL SELECT organisation, {dimensions}, period, {negative} FROM {totals}
) AS s (organisation, {dimensions}, period, {resources})
GROUP BY organisation, {dimensions}, period HAVING {differs}{dated}`, statement.Names{
		"dimensions": strings.Join(dimensions, ", "), "movements": r.meta.Table(), "periods": periods(r.meta),
		"moved":    statement.Each(resources, "CASE WHEN expense THEN -{name} ELSE {name} END", ", "),
		"negative": statement.Each(resources, "-{name}", ", "), "totals": r.meta.Totals(),
		"resources": strings.Join(resources, ", "), "differs": statement.Each(resources, "sum({name}) <> 0", " OR "),
		"dated": dated,
	})
}

// TotalsUnder selects the totals t under keys of an organisation, for a digest of them.
func (r *Register) TotalsUnder(organisation id.ID, keys *rowset.Table) (from string, args []any) {
	dimensions := metadata.Names(r.meta.Dimensions)
	return statement.SQL("unnest({keys}) AS k ({dimensions}) JOIN {totals} t ON t.organisation = $1 AND {matches}",
		statement.Names{
			"keys": rowset.Parameters(2, r.meta.Dimensions), "dimensions": strings.Join(dimensions, ", "),
			"totals": r.meta.Totals(), "matches": matches("t", "k", dimensions),
		}), keys.Arrays([]any{organisation})
}

// Month is the first day of a moment's month and of the next one.
func Month(moment time.Time) (first, next time.Time) {
	moment = moment.UTC()
	first = time.Date(moment.Year(), moment.Month(), 1, 0, 0, 0, 0, time.UTC)
	return first, first.AddDate(0, 1, 0)
}

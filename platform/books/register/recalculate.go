package register

import (
	"strings"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// TotalsSQL recomputes all totals of a register from its movements; its table of totals is empty.
func TotalsSQL(meta *metadata.Accumulation) string {
	into, noted := "", ""
	if meta.Layered {
		into, noted = ", "+metadata.BroughtAt, ", "+broughtAtSQL(meta, "m.recorder")
	}
	resources := metadata.Names(meta.Resources)
	return statement.SQL(`INSERT INTO {totals} (organisation, period, {dimensions}, {resources}{brought_at})
SELECT organisation, p.of, {dimensions}, {sums}{brought_at_sum}
FROM {movements} m CROSS JOIN LATERAL (VALUES {periods}) AS p (of)
GROUP BY organisation, p.of, {dimensions}`, statement.Names{
		"totals": meta.Totals(), "movements": meta.Table(), "periods": periods(meta),
		"dimensions": metadata.Columns(meta.Dimensions), "resources": strings.Join(resources, ", "),
		"sums":       statement.Each(resources, "sum(CASE WHEN expense THEN -{name} ELSE {name} END)", ", "),
		"brought_at": into, "brought_at_sum": noted,
	})
}

// Recalculate queues recomputing all totals of a register, in a transaction. Postings wait meanwhile; readers see the
// old totals. report receives the number of totals.
func (r *Register) Recalculate(w *database.Work, report func(int64) error) {
	Rebuild(w, r.meta.Totals(), TotalsSQL(r.meta), report)
}

// Rebuild queues replacing a table of totals under a lock that keeps out everyone who changes totals. A transaction
// with movements holds a lock on the table until it ends, so after the lock is granted, a new statement sees exactly
// the movements that the totals must contain.
func Rebuild(w *database.Work, totals, statement string, report func(int64) error) {
	w.Queue("recalculate "+totals, "SET LOCAL lock_timeout = 0")
	w.Queue("recalculate "+totals, "SET LOCAL statement_timeout = 0")
	w.Queue("lock "+totals, "LOCK TABLE "+totals+" IN SHARE ROW EXCLUSIVE MODE")
	w.Queue("clear "+totals, "DELETE FROM "+totals)
	w.Queue("sum "+totals, statement).Affected(report)
}

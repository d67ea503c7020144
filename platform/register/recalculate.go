package register

import (
	"fmt"
	"strings"

	"plimsoll/platform/database"
	"plimsoll/platform/metadata"
)

// TotalsSQL makes all totals of a register anew from its movements; its table of totals is empty.
func TotalsSQL(meta *metadata.Accumulation) string {
	dimensions := strings.Join(names(meta.Dimensions), ", ")
	var sums []string
	for _, a := range meta.Resources {
		sums = append(sums, fmt.Sprintf("sum(CASE WHEN expense THEN -%[1]s ELSE %[1]s END)", a.Name))
	}
	into, noted := "", ""
	if meta.Layered {
		into, noted = ", "+metadata.BroughtAt, ", "+broughtAtSQL(meta, "m.recorder")
	}
	return fmt.Sprintf(`INSERT INTO %[1]s (organisation, period, %[2]s, %[3]s%[7]s)
SELECT organisation, p.of, %[2]s, %[4]s%[8]s
FROM %[5]s m CROSS JOIN LATERAL (VALUES %[6]s) AS p (of)
GROUP BY organisation, p.of, %[2]s`,
		meta.Totals(), dimensions, strings.Join(names(meta.Resources), ", "), strings.Join(sums, ", "), meta.Table(), periods(meta), into, noted)
}

// Recalculate queues the making anew of all totals of a register, in a transaction. Posters wait meanwhile, readers see what was before;
// told is given the number of totals.
func (r *Register) Recalculate(w *database.Work, told func(int64) error) {
	Rebuild(w, r.meta.Totals(), TotalsSQL(r.meta), told)
}

// Rebuild queues the replacement of a table of totals under a lock that keeps out all who change totals. Whoever has moved anything holds the table since then,
// so once the lock is had, the movements that a new statement sees are those that the totals must say.
func Rebuild(w *database.Work, totals, statement string, told func(int64) error) {
	w.Queue("recalculate "+totals, "SET LOCAL lock_timeout = 0")
	w.Queue("recalculate "+totals, "SET LOCAL statement_timeout = 0")
	w.Queue("lock "+totals, "LOCK TABLE "+totals+" IN SHARE ROW EXCLUSIVE MODE")
	w.Queue("clear "+totals, "DELETE FROM "+totals)
	w.Queue("sum "+totals, statement).Affected(told)
}

package advise

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

const totalsSQL = `SELECT n.nspname AS schema, c.relname AS name, has_table_privilege(c.oid, 'SELECT') AS readable,
	c.reltuples::float8 AS live FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'split' AND NOT a.attisdropped
		AND a.atttypid IN (20, 21, 23)
	WHERE c.relkind = 'r' AND c.relname LIKE '%\_totals' ORDER BY 1, 2`

// totalsSample is how many rows of each are looked at.
const totalsSample = 100_000

// totals of the ERP's registers that concurrent posting has split over several rows.
var totals = class{
	name: "totals", healthy: "the totals of the ERP's registers are merged, or there is no ERP",
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		tables, err := ask[table](ctx, s, totalsSQL)
		for _, t := range tables {
			if !t.Readable {
				s.miss("totals", fmt.Sprintf("%s: GRANT SELECT ON %s TO %s", t, t.sql(),
					pgx.Identifier{s.User}.Sanitize()))
				continue
			}
			var rows, split float64
			sql := fmt.Sprintf("SELECT count(*)::float8, count(*) FILTER (WHERE split <> 0)::float8 FROM (SELECT "+
				"split FROM %s LIMIT %d) AS looked_at", t.sql(), totalsSample)
			if err := s.conn.QueryRow(ctx, sql).Scan(&rows, &split); err != nil {
				return nil, err
			}
			if split < changedLeast.Value || split < splitMost.Value*rows {
				continue
			}
			register := strings.TrimSuffix(t.Name[strings.Index(t.Name, "_")+1:], "_totals")
			all = append(all, Advice{ID: "totals:" + register, Level: Note,
				Title:     "Totals of register " + register + " are split",
				Mechanism: "Concurrent postings write separate rows; each reader adds them up until they are merged.",
				Evidence:  []string{fmt.Sprintf("%.0f of %.0f rows that were looked at", split, rows)},
				Do:        []string{"plimsoll recalculate " + register},
				Prove: s.compare([]string{"--sql-b @totals-merged.sql"}, false, true) + "; or a run before and " +
					"one after",
				Revert: "nothing to undo: the sums stay the same"})
		}
		return all, err
	},
}

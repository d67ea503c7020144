package advise

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/human"
)

// What a row of each large table takes, by the statistics of its columns; one without them makes it unknown.
const widthsSQL = `SELECT n.nspname AS schema, c.relname AS name,
	coalesce(sum((1 - p.null_frac) * p.avg_width), 0)::float8 AS size, (count(*) - count(p.attname))::float8 AS live
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
		AND a.attnum > 0 AND NOT a.attisdropped
	LEFT JOIN pg_stats p ON p.schemaname = n.nspname AND p.tablename = c.relname AND p.attname = a.attname
		AND NOT p.inherited
	WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND c.relpages >= $1
		AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') GROUP BY 1, 2`

// bloat is empty space, estimated from the live rows and the widths of their columns.
var bloat = class{
	name: "bloat", healthy: "no table has much empty space, as far as statistics tell",
	causes: []string{"dead-rows"},
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		rows, err := ask[table](ctx, s, widthsSQL, bloatLeast.Value/8192)
		if err != nil {
			return nil, err
		}
		widths := map[string]float64{}
		for _, w := range rows {
			if w.Live == 0 {
				widths[w.String()] = w.Size
			}
		}
		blind := 0
		all, err := eachTable(ctx, s, "bloat", func(t table) *Advice {
			const page, pageHead, rowHead, align = 8192, 24, 24 + 4, 4
			size := t.Pages * page
			width, known := widths[t.String()]
			if !known || t.Planned < 0 {
				if size >= bloatLeast.Value && (!t.Readable || t.Planned >= 0) {
					blind++
				}
				return nil
			}
			full := t.option(s, "fillfactor")
			if !(full > 0) {
				full = 100
			}
			perPage := max(1, (page-pageHead)*full/100/(width+rowHead+align))
			empty := size - t.Planned/perPage*page
			if empty < bloatLeast.Value || empty < bloatShare.Value*size {
				return nil
			}
			level := Note
			if empty >= bloatMany.Value && empty >= size/2 {
				level = Problem
			}
			return &Advice{ID: "bloat:" + t.String(), Level: level, Title: "Much of " + t.String() + " is empty space",
				Mechanism: "Scans read it and the cache holds it, although it contains no rows.",
				Evidence: []string{fmt.Sprintf("about %s of %s (%s): an estimate from %.0f rows of %.0f bytes",
					human.Bytes(empty), human.Bytes(size), human.Share(empty/size), t.Planned, width)},
				Do: []string{"VACUUM FULL " + t.sql() + " locks the table while " +
					"it runs; pg_repack and pg_squeeze do not",
					"leave a table that is emptied and refilled regularly: it uses the space again"},
				Prove:  s.compare([]string{"--sql-b " + shell("VACUUM FULL "+t.sql())}, false, true),
				Revert: "nothing to undo"}
		})
		if blind > 0 {
			s.miss("bloat", fmt.Sprintf("%d large tables: only users who may read all columns see their widths, once "+
				"the tables are analyzed: GRANT pg_read_all_data TO %s", blind,
				pgx.Identifier{s.User}.Sanitize()))
		}
		return all, err
	},
}

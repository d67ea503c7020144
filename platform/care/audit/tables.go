package audit

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/model/schema"
)

// lookForTables finds tables of the books that are missing or lack a column. They do not stop an audit: invariants that
// read them are violated, everything else is checked, and completely, since a clean point says nothing about books
// without a table.
func (a *auditing) lookForTables(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `SELECT c.relname || '.' || a.attname FROM pg_class c JOIN pg_attribute a ON
	a.attrelid = c.oid WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
	AND a.attnum > 0 AND NOT a.attisdropped`)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	existing := map[string]bool{}
	for _, name := range names {
		table, _, _ := strings.Cut(name, ".")
		existing[name], existing[table] = true, true
	}
	a.absent = map[string]string{}
	for _, t := range schema.Tables(a.app) {
		for _, c := range slices.Concat(t.Columns, t.Generated) {
			if !existing[t.Name+"."+c.Name] && a.inBooks(t.Name) {
				a.absent[t.Name] = "column " + t.Name + "." + c.Name
			}
		}
		if !existing[t.Name] && a.inBooks(t.Name) {
			a.absent[t.Name] = "table " + t.Name
		}
	}
	if len(a.absent) == 0 {
		return nil
	}
	a.options.Keep = false
	a.report.Unkept = "tables are missing"
	if a.report.Mode == SinceClean {
		a.report.Mode, a.report.Reason = All, a.report.Unkept
	}
	return nil
}

func (a *auditing) inBooks(table string) bool {
	return slices.ContainsFunc(a.relations, func(r relation) bool { return r.name == table })
}

// reportMissing reports each missing table or column that a check reads as a violation; false: none is missing.
func (a *auditing) reportMissing(c *Check, sql string) bool {
	if len(a.absent) == 0 {
		return false
	}
	for _, table := range tablesOf(sql) {
		if what := a.absent[table]; what != "" {
			c.Violations++
			c.Examples = append(c.Examples, Violation{Subject: what, Expected: "there", Found: "missing"})
		}
	}
	c.Whole = c.Violations > 0
	return c.Whole
}

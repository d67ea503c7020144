package statement

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed hidden.sql
var hiddenSQL string

// Hidden is a table of which rows are read though no statement of a client names it: by what runs within statements.
type Hidden struct {
	Table string  `json:"table"`
	Rows  float64 `json:"rows_read"`
	By    []Inner `json:"by"`

	nested bool // the server counts statements within others that name it
}

// Inner is what may read it: a function, a trigger, a policy or a foreign key of another table.
type Inner struct {
	Name string `json:"name"`
	// Of is the table whose statements run it; empty: any.
	Of string `json:"of,omitempty"`
	// Unindexed are columns of a foreign key that no index begins with.
	Unindexed string `json:"unindexed,omitempty"`
}

// Bounds of hidden reads: fewer rows are no work, and the first tables have nearly all of it.
const (
	hiddenRows = 10_000
	hiddenMost = 5
)

// FindHidden reads: tables that neither a statement of the counters nor one of these texts names.
func (in *Inside) FindHidden(ctx context.Context, conn *pgx.Conn, texts []string) error {
	named := map[string]bool{}
	add := func(text string) {
		for word := range Words(text) {
			named[word] = true
		}
	}
	for _, text := range texts {
		add(text)
	}
	for _, all := range [][]Account{in.Accounts, in.others} {
		for _, l := range all {
			if l.key.top {
				add(l.Text)
			}
			for _, table := range l.Tables { // behind a view
				add(table)
			}
		}
	}
	for name, t := range in.tables {
		_, plain, _ := strings.Cut(name, ".")
		if t.rows >= hiddenRows && !named[plain] {
			in.Hidden = append(in.Hidden, Hidden{Table: name, Rows: t.rows, By: []Inner{}})
		}
	}
	slices.SortFunc(in.Hidden, func(a, b Hidden) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Table, b.Table))
	})
	in.addNested()
	if err := in.dropNamed(ctx, conn, named); err != nil {
		return err
	}
	slices.SortStableFunc(in.Hidden, func(a, b Hidden) int { return cmp.Compare(b.Rows, a.Rows) })
	in.Hidden = in.Hidden[:min(hiddenMost, len(in.Hidden))]
	if len(in.Hidden) == 0 {
		return nil
	}
	return in.findInner(ctx, conn)
}

// addNested are tables of statements that ran within others, as the server counts them.
func (in *Inside) addNested() {
	for _, l := range in.Accounts {
		if l.Source != FromCounters || l.key.top {
			continue
		}
		for _, table := range l.Tables {
			i := slices.IndexFunc(in.Hidden, func(h Hidden) bool { return h.Table == table })
			if i < 0 {
				i = len(in.Hidden)
				in.Hidden = append(in.Hidden, Hidden{Table: table, Rows: in.tables[table].rows, By: []Inner{}})
			}
			in.Hidden[i].nested = true
		}
	}
}

// Tables that these are partitions of, and views that read them.
const aboveSQL = `WITH RECURSIVE above AS (
	SELECT n.nspname || '.' || c.relname AS name, c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname || '.' || c.relname = ANY ($1::text[])
	UNION SELECT a.name, o.oid FROM above a CROSS JOIN LATERAL (
		SELECT inhparent AS oid FROM pg_inherits WHERE inhrelid = a.oid
		UNION ALL SELECT r.ev_class FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
		WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = a.oid
	) o)
SELECT a.name, c.relname::text FROM above a JOIN pg_class c USING (oid)`

// candidatesMost tables are asked for what is above them.
const candidatesMost = 200

// dropNamed are those that a statement names by the table of which they are partitions, or by a view.
func (in *Inside) dropNamed(ctx context.Context, conn *pgx.Conn, named map[string]bool) error {
	if len(in.Hidden) == 0 {
		return nil
	}
	var tables []string
	for _, h := range in.Hidden[:min(candidatesMost, len(in.Hidden))] {
		tables = append(tables, h.Table)
	}
	found, err := conn.Query(ctx, aboveSQL, tables)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	var table, above string
	if _, err = pgx.ForEachRow(found, []any{&table, &above}, func() error {
		known[table] = known[table] || named[above]
		return nil
	}); err != nil {
		return err
	}
	in.Hidden = slices.DeleteFunc(in.Hidden, func(h Hidden) bool { return known[h.Table] && !h.nested })
	return nil
}

func (in *Inside) findInner(ctx context.Context, conn *pgx.Conn) error {
	var tables []string
	for _, h := range in.Hidden {
		tables = append(tables, h.Table)
	}
	found, err := conn.Query(ctx, hiddenSQL, tables)
	if err != nil {
		return err
	}
	var table string
	var inner Inner
	_, err = pgx.ForEachRow(found, []any{&table, &inner.Name, &inner.Of, &inner.Unindexed}, func() error {
		for i := range in.Hidden {
			if in.Hidden[i].Table == table {
				in.Hidden[i].By = append(in.Hidden[i].By, inner)
			}
		}
		return nil
	})
	return err
}

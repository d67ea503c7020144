package erptest

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/audit"
	platform "plimsoll/platform/care/audit"
	"plimsoll/platform/data/database"
	"plimsoll/test/thorough"
)

// reporter is a test of the standard library or of rapid.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Clean fails the test when the books do not balance.
func Clean(t reporter, db *database.Database) {
	t.Helper()
	invariants, err := violable(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	report, err := platform.Run(context.Background(), db, erp.Metadata(), invariants,
		audit.Options{Connections: connections})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		for _, v := range c.Examples {
			t.Errorf("%s: %s: expected %s, found %s", c.Invariant, v.Where(), v.Expected, v.Found)
		}
	}
}

// connections of an audit: each must first load the catalog of tables, which takes longer than reading few rows.
const connections = 1

// violable are the invariants that can be violated: those about tables without a row hold. Planning the statements of
// all invariants takes ten times as long as reading the books of a test. Thorough tests check all.
func violable(ctx context.Context, db *database.Database) ([]platform.Invariant, error) {
	all := audit.Invariants()
	if thorough.Asked() {
		return all, nil
	}
	filled, err := withRows(ctx, db)
	return slices.DeleteFunc(all, func(i platform.Invariant) bool {
		tables := bookTable.FindAllString(i.Wrong, -1)
		hasRows := func(table string) bool { return slices.Contains(filled, table) }
		return len(tables) > 0 && !slices.ContainsFunc(tables, hasRows)
	}), err
}

// bookTable is a table of documents, registers, the ledger or numbers, not of a catalog.
var bookTable = regexp.MustCompile(`\b(doc|inf|acc|gl|plimsoll)_[a-z0-9_]+\b`)

func withRows(ctx context.Context, db *database.Database) (tables []string, err error) {
	var each []string
	for _, table := range append(Books(), "plimsoll_number") {
		each = append(each, "SELECT '"+table+"' WHERE EXISTS (SELECT FROM "+table+")")
	}
	err = db.Borrow(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, strings.Join(each, " UNION ALL "))
		if err != nil {
			return err
		}
		tables, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return tables, err
}

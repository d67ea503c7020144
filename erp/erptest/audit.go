package erptest

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/audit"
	platform "plimsoll/platform/audit"
	"plimsoll/platform/database"
	"plimsoll/test/thorough"
)

// reporter is a test, of the standard library or of rapid.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Clean fails the test when the books do not balance.
func Clean(t reporter, db *database.Database) {
	t.Helper()
	invariants, err := worthLooking(context.Background(), db)
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

// connections of an audit: each has to learn the catalog of tables first, which takes longer than looking at few rows.
const connections = 1

// worthLooking are the invariants that can be violated: what is said of tables without a row holds. The statements of
// all invariants take ten times as long to be planned as the books of a test take to be read. Thorough tests look at
// all.
func worthLooking(ctx context.Context, db *database.Database) ([]platform.Invariant, error) {
	all := audit.Invariants()
	if thorough.Asked() {
		return all, nil
	}
	filled, err := withRows(ctx, db)
	return slices.DeleteFunc(all, func(i platform.Invariant) bool {
		of := bookTable.FindAllString(i.Wrong, -1)
		hasRows := func(table string) bool { return slices.Contains(filled, table) }
		return len(of) > 0 && !slices.ContainsFunc(of, hasRows)
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

package backdated_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/erp/erptest"
	"plimsoll/erp/fill"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/prove/backdated"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// copyOf is a copy of the base, which goes with the test.
func copyOf(t *testing.T, base *backdated.Base) *databasetest.Test {
	t.Helper()
	dsn, drop, err := base.Copy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	return &databasetest.Test{Database: databasetest.Connect(t, dsn, database.Options{}), DSN: dsn}
}

// With months of history the last one alone waits, and totals of the beginning are half a year older.
func TestABaseWaitsForTheSalesOfItsLastMonth(t *testing.T) {
	c := clustertest.Start(t)
	base, err := backdated.Make(t.Context(), c, fill.Options{Documents: 1400, Warehouses: 2, Months: 7},
		func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	db := copyOf(t, base)
	const history = `SELECT extract(day FROM $1::timestamptz - min(period)) BETWEEN 170 AND 190
		AND max(period) < $1::timestamptz + interval '31 days' FROM acc_batches`
	if got := db.Value(t, strings.ReplaceAll(history, "$1", "'"+base.Since.Format(time.RFC3339)+"'")); got != "true" ||
		base.Since.Day() != 1 {
		t.Errorf("%s: out of order since %s", got, base.Since)
	}
	all := db.Value(t, "SELECT count(*) FROM acc_batches WHERE expense")
	if lines, err := strconv.Atoi(all); err != nil || base.Lines < int64(lines/14) || base.Lines > int64(lines/3) {
		t.Errorf("%d of %s lines wait", base.Lines, all)
	}
	erptest.Clean(t, db.Database)
}

// Every sale of the base waits, and a copy of it is as good: the audit finds nothing but the order of time.
func TestABaseWaitsForAllItsSales(t *testing.T) {
	const documents, sales = 2000, "1600"
	c := clustertest.Start(t)
	made := 0
	say := func(string, ...any) { made++ }
	var base *backdated.Base
	for range 2 {
		var err error
		if base, err = backdated.Make(t.Context(), c, fill.Options{Documents: documents, Warehouses: 2},
			say); err != nil {
			t.Fatal(err)
		}
	}
	if made != 1 {
		t.Errorf("made %d times", made)
	}
	db := copyOf(t, base)
	const waiting = `SELECT count(DISTINCT m.recorder) FROM acc_batches m JOIN acc_batches_boundary b
		ON m.organisation = b.organisation AND m.warehouse = b.warehouse AND m.item = b.item AND m.period >= b.moment
		WHERE m.expense AND m.recorder_type = 'goods_sale'`
	if got := db.Value(t, waiting); got != sales || base.Lines < 6*documents*4/5 {
		t.Errorf("%s of %s sales wait, %d lines", got, sales, base.Lines)
	}
	erptest.Clean(t, db.Database)
}

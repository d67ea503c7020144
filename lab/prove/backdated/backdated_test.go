package backdated_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/erp/fill"
	"plimsoll/lab/postgres/cluster/clustertest"
	"plimsoll/lab/prove/backdated"
	"plimsoll/platform/database"
	"plimsoll/platform/database/databasetest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

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
	dsn, drop, err := base.Copy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	db := &databasetest.Test{Database: databasetest.Connect(t, dsn, database.Options{}), DSN: dsn}
	const waiting = `SELECT count(DISTINCT m.recorder) FROM acc_batches m JOIN acc_batches_boundary b
		ON m.organisation = b.organisation AND m.warehouse = b.warehouse AND m.item = b.item AND m.period >= b.moment
		WHERE m.expense AND m.recorder_type = 'goods_sale'`
	if got := db.Value(t, waiting); got != sales || base.Lines < 6*documents*4/5 {
		t.Errorf("%s of %s sales wait, %d lines", got, sales, base.Lines)
	}
	erptest.Clean(t, db.Database)
}

package presence

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

func TestMark_SeesASecondLoadAndOtherSessions(t *testing.T) {
	ctx := patience.Context(t)
	dsn := clustertest.Database(t).Secret()
	mark := func(dsn, name string) *Mark {
		p, err := Dial(ctx, dsn, name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close(ctx) })
		return p
	}
	first := mark(dsn, "plimsoll run A")
	mark(clustertest.Database(t).Secret(), "plimsoll run elsewhere")
	look := func() OtherUsers {
		c, err := first.Look(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := look(); len(c.Loads) != 0 || len(c.AtWork) != 0 {
		t.Fatalf("somebody is there: %+v", c)
	}
	second := mark(dsn, "plimsoll run B")
	if c := look(); !slices.Equal(c.Loads, []string{"plimsoll run B"}) {
		t.Errorf("others are %+v, want the second load", c)
	}
	second.Close(ctx)
	patience.Until(t, "the mark is gone", func() bool { return len(look().Loads) == 0 })

	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["application_name"] = "stranger"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	done := make(chan error, 1)
	go func() { _, err := conn.Exec(ctx, "select pg_sleep(3600)"); done <- err }()
	patience.Until(t, "the stranger runs a statement", func() bool { return look().AtWork["stranger"] == 1 })
	if err := conn.PgConn().CancelRequest(ctx); err != nil {
		t.Fatal(err)
	}
	<-done
	patience.Until(t, "the stranger is idle", func() bool { return look().AtWork["stranger"] == 0 })
}

package run

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

// A server that cannot write its log panics, as on a full disk, and does not come back. Its log says why.
func TestAServerThatPanickedIsQuoted(t *testing.T) {
	c, err := cluster.Open(clustertest.State(t)).Create(t.Context(), "panics", clustertest.Copied(clustertest.Spec()))
	if err != nil {
		t.Fatal(err)
	}
	server, err := c.Start(t.Context(), cluster.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Stop(context.Background(), cluster.Immediate) }()
	o := ownRun(t, "application = \"none\"\nusers = 5\n[think]\nmean = \"50ms\"\n"+
		"[operations.a]\ntarget = \"1s\"\nsql = \"INSERT INTO t VALUES (1)\"\n")
	o.DSN = c.DSN("").Secret()
	conn := clustertest.Connect(t, o.DSN, "")
	if _, err := conn.Exec(t.Context(), "CREATE TABLE t (a int)"); err != nil {
		t.Fatal(err)
	}
	var data string
	if err := conn.QueryRow(t.Context(), "SHOW data_directory").Scan(&data); err != nil {
		t.Fatal(err)
	}
	before := BackWithin
	BackWithin = time.Second // nothing returns
	defer func() { BackWithin = before }()
	o.Duration = time.Hour
	o.Control = &LoadControl{}
	var once atomic.Bool
	o.Progress = func(p Progress) {
		if p.Phase != Steady || p.Ops == 0 || once.Swap(true) {
			return
		}
		if err := os.Rename(filepath.Join(data, "pg_wal"), filepath.Join(data, "pg_wal.gone")); err != nil {
			t.Error(err)
		}
		_, _ = conn.Exec(t.Context(), "SELECT pg_switch_wal()")
		if !patience.Holds(func() bool { return begun(t, o.DSN).IsZero() }) {
			t.Error("the server lives without its log")
		}
		if err := o.Control.End(); err != nil {
			t.Error(err)
		}
	}
	r := mustRun(t, t.Context(), o)
	reasons := strings.Join(r.InvalidReasons, "\n")
	if !strings.Contains(reasons, "the database server was lost in mid-run: its log says PANIC: could not ") ||
		!strings.Contains(reasons, "pg_wal") {
		t.Errorf("want the PANIC of the log, got %q", r.InvalidReasons)
	}
}

package cluster_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/storage"
	"plimsoll/test/patience"
)

// TestFlushLatency uses a latency that no disk has, and looks only for what took less.
func TestFlushLatency(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const latency = 60 * time.Millisecond
	s := spec()
	s.Unsafe, s.SocketOnly, s.FlushLatency = false, true, latency.String()
	c, err := b.Up(t.Context(), "slow", clustertest.Copied(s))
	check(t, err)
	b.downAtEnd("slow")
	conn := clustertest.Connect(t, c.SocketDSN("").Secret(), "")
	took := func(sql string) time.Duration {
		t.Helper()
		began := time.Now()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		return time.Since(began)
	}
	if d := took("CREATE TABLE t (n int)"); d < latency {
		t.Errorf("a commit that flushes took %s, less than %s", d, latency)
	}
	// On a busy machine many take longer, for want of a processor; where more than flushes is slowed, all do.
	patience.Until(t, "something that flushes nothing takes less than a flush", func() bool {
		return took("BEGIN; INSERT INTO t VALUES (1); ROLLBACK") < latency
	})
	if got := b.status("slow").FlushLatency; got != latency.String() {
		t.Errorf("status says %q", got)
	}
	look, err := postgres.Inspect(t.Context(), c.SocketDSN("").Secret())
	check(t, err)
	if got := look.Settings[storage.Setting]; got != latency.String() {
		t.Errorf("the conditions of a run say %q", got)
	}
	var uring bool // some builds lack it, as does 17
	check(t, conn.QueryRow(t.Context(), "SELECT count(*) > 0 FROM pg_settings WHERE name = 'io_method' AND "+
		"'io_uring' = ANY (enumvals)").Scan(&uring))
	_, err = b.Up(t.Context(), "slow", cluster.Spec{FlushLatency: "1ms"})
	wantError(t, err, "already runs with other settings")
	check(t, b.Down(t.Context(), "slow", cluster.Fast))

	// io_uring would bypass the library; 0 removes the library.
	check(t, os.WriteFile(c.UserConf(), []byte("io_method = io_uring\n"), 0o644))
	if uring {
		_, err = b.Up(t.Context(), "slow", cluster.Spec{})
		wantError(t, err, "bypasses the library")
	}
	check(t, os.WriteFile(c.UserConf(), nil, 0o644))
	_, err = b.Up(t.Context(), "slow", cluster.Spec{FlushLatency: "0"})
	check(t, err)
	if got := b.status("slow").FlushLatency; got != "" {
		t.Errorf("status says %q after the latency was taken away", got)
	}
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v: want an error with %q", err, text)
	}
}

func TestFlushLatencyIsRefused(t *testing.T) {
	b := setup(t)
	for _, text := range []string{"2", "-1ms", "2x", "1h"} {
		_, err := b.Create(t.Context(), "never", cluster.Spec{FlushLatency: text, Profile: profile.Stock})
		wantError(t, err, "flush latency")
	}
}

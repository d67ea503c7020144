package cluster_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/test/patience"
)

// A server that was built without lz4 does not begin a recovery that it cannot end. What was stopped in order needs
// none, and then no setting is written that the server does not take.
func TestStart_WithAServerThatCannotReadTheLog(t *testing.T) {
	t.Parallel()
	b, l := setup(t), clustertest.WithoutLZ4(t)
	s := spec()
	s.Engine = l.Engine
	c, err := b.Create(patience.Context(t), "a", s)
	check(t, err)
	conf := func() string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(c.Dir(), "plimsoll.conf"))
		check(t, err)
		return string(text)
	}
	start := func() *cluster.Postmaster {
		t.Helper()
		p, err := c.Start(patience.Context(t), cluster.StartOptions{})
		check(t, err)
		t.Cleanup(func() { _ = p.Stop(context.Background(), cluster.Immediate) }) // after a failure it runs
		return p
	}
	p := start()
	// Unsafe clusters commit asynchronously, and a kill would lose it.
	check(t, order(t, c, "SET synchronous_commit = on; CREATE TABLE kept AS SELECT 1 AS n"))
	if !strings.Contains(conf(), "wal_compression = lz4") {
		t.Fatalf("the profile does not compress: %s", conf())
	}
	check(t, p.Kill(patience.Context(t)))

	l.Lose(t)
	for range 2 {
		_, err = c.Start(patience.Context(t), cluster.StartOptions{})
		if err == nil || problem.ClassOf(err) != problem.Environment || strings.Contains(err.Error(), "\n") ||
			!strings.Contains(err.Error(), "its log is compressed with lz4, which") ||
			!strings.Contains(problem.HintOf(err), "--with-lz4") {
			t.Fatalf("%v, hint %q", err, problem.HintOf(err))
		}
	}
	l.Regain(t)
	p = start()
	if n := queried(t, c, "SELECT count(*)::text FROM kept"); n != "1" {
		t.Errorf("%s rows", n)
	}
	check(t, p.Stop(patience.Context(t), cluster.Fast))

	l.Lose(t)
	p = start()
	if strings.Contains(conf(), "lz4") {
		t.Error("a setting is written that the server does not take")
	}
	check(t, p.Kill(patience.Context(t)))
	check(t, start().Stop(patience.Context(t), cluster.Fast)) // its own log it can read
	check(t, os.WriteFile(filepath.Join(c.Dir(), "user.conf"), []byte("# mine\nwal_compression 'zstd'\n"), 0o644))
	if got := c.Base().Compression; got != "zstd" {
		t.Errorf("the user's setting goes first: %q", got)
	}
}

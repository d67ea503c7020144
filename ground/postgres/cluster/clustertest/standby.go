package clustertest

import (
	"context"
	"testing"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/installation"
	"plimsoll/test/patience"
)

// Synchronous gives the connection strings of a primary whose commits wait for a standby, and of that standby. Both run
// until the test ends.
func Synchronous(t testing.TB) (primary, standby string) {
	t.Helper()
	if server, err := installation.Find(t.Context(), Engine()); err != nil {
		t.Fatal(err)
	} else if _, err := server.Program("pg_basebackup"); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	spec := Copied(Spec())
	spec.Log = cluster.ReplicaLog
	clusters, ctx := cluster.Open(State(t)), patience.Context(t)
	first := startIn(t, clusters, "primary", spec)
	second := startIn(t, clusters, "standby", cluster.Spec{ReplicaOf: first, Sync: true, SocketOnly: true})
	if err := second.Join(ctx); err != nil {
		t.Fatal(err)
	}
	return first.SocketDSN("").Secret(), second.SocketDSN("").Secret()
}

func startIn(t testing.TB, clusters *cluster.Store, name string, spec cluster.Spec) *cluster.Cluster {
	t.Helper()
	ctx := patience.Context(t)
	c, err := clusters.Create(ctx, name, spec)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Start(ctx, cluster.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ending, cancel := context.WithTimeout(context.Background(), patience.Max)
		defer cancel()
		if err := p.Kill(ending); err != nil {
			t.Errorf("end server: %v", err)
		}
	})
	return c
}

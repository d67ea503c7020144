package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

func TestLook(t *testing.T) {
	c := clustertest.Start(t)
	got, err := postgres.Inspect(t.Context(), c.DSN("").Secret())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Version, c.Server().Version) {
		t.Errorf("version %q, the cluster's is %q", got.Version, c.Server().Version)
	}
	if got.Settings["fsync"] != "off" || got.Settings["shared_buffers"] == "" {
		t.Errorf("settings %v", got.Settings)
	}
	if (got.Patchset != nil) != (c.Server().Patchset > 0) {
		t.Errorf("patchset %v, the cluster's is %d", got.Patchset, c.Server().Patchset)
	}
	id, err := process.Of(got.Postmaster)
	if err != nil || id.Name() != "postgres" {
		t.Errorf("postmaster %d is %q, %v", got.Postmaster, id.Name(), err)
	}
}

func TestPostmasterIsNotGuessed(t *testing.T) {
	if pid := postgres.Postmaster(process.Self().PID, time.Now()); pid != 0 {
		t.Errorf("our own parent %d is taken for a server", pid)
	}
	c := clustertest.Start(t)
	server, err := postgres.Inspect(t.Context(), c.DSN("").Secret())
	if err != nil {
		t.Fatal(err)
	}
	children, err := (process.ID{PID: server.Postmaster}).Descendants()
	if err != nil || len(children) == 0 {
		t.Fatal(children, err)
	}
	if pid := postgres.Postmaster(children[0].PID, server.Started.Add(-time.Hour)); pid != 0 {
		t.Error("a server that started at another time is taken for ours")
	}
}

func TestAnotherIncarnationHasAnotherStart(t *testing.T) {
	c, err := cluster.Open(clustertest.State(t)).Create(t.Context(), "twice", clustertest.Spec())
	if err != nil {
		t.Fatal(err)
	}
	var started []time.Time
	for range 2 {
		running, err := c.Start(t.Context(), cluster.StartOptions{})
		if err != nil {
			t.Fatal(err)
		}
		server, err := postgres.Inspect(t.Context(), c.DSN("").Secret())
		if err != nil {
			t.Fatal(err)
		}
		started = append(started, server.Started)
		if err := running.Stop(context.Background(), cluster.Immediate); err != nil {
			t.Fatal(err)
		}
	}
	if started[0].Equal(started[1]) {
		t.Errorf("both started at %v", started[0])
	}
}

func TestLookSaysThatNobodyIsThere(t *testing.T) {
	if _, err := postgres.Inspect(t.Context(), "host=/nowhere dbname=x"); err == nil {
		t.Error("no error")
	}
}

package clustertest

import (
	"context"
	"testing"

	"plimsoll/lab/postgres/cluster"
	"plimsoll/lab/postgres/cluster/profile"
	"plimsoll/test/patience"
)

// Own is a cluster that one test may kill and start again.
type Own struct {
	t          testing.TB
	cluster    *cluster.Cluster
	postmaster *cluster.Postmaster
}

// Alone makes and starts a cluster with some settings, and stops it when the test ends.
func Alone(t testing.TB, settings map[string]string) *Own {
	t.Helper()
	spec := Copied(Spec())
	for name, value := range settings {
		spec.Settings = append(spec.Settings, profile.Setting{Name: name, Value: value, Reason: "the test says so"})
	}
	c, err := cluster.Open(State(t)).Create(patience.Context(t), "own", spec)
	if err != nil {
		t.Fatal(err)
	}
	o := &Own{t: t, cluster: c}
	o.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience.Max)
		defer cancel()
		if o.postmaster != nil {
			if err := o.postmaster.Stop(ctx, cluster.Immediate); err != nil {
				t.Errorf("stop server: %v", err)
			}
		}
	})
	return o
}

// Start it again after Kill or Stop.
func (o *Own) Start() {
	o.t.Helper()
	var err error
	if o.postmaster, err = o.cluster.Start(patience.Context(o.t), cluster.StartOptions{}); err != nil {
		o.t.Fatal(err)
	}
}

// Kill all its processes at once.
func (o *Own) Kill() { o.t.Helper(); o.ended(o.postmaster.Kill(patience.Context(o.t))) }

// Stop it in order.
func (o *Own) Stop() { o.t.Helper(); o.ended(o.postmaster.Stop(patience.Context(o.t), cluster.Fast)) }

func (o *Own) ended(err error) {
	o.t.Helper()
	o.postmaster = nil
	if err != nil {
		o.t.Fatal(err)
	}
}

// DSN of its database postgres.
func (o *Own) DSN() string { return o.cluster.DSN("postgres").Secret() }

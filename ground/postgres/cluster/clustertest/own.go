package clustertest

import (
	"context"
	"testing"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/test/patience"
)

// OwnCluster is a cluster that one test may kill and start again.
type OwnCluster struct {
	t          testing.TB
	cluster    *cluster.Cluster
	postmaster *cluster.Postmaster
}

// Alone creates and starts a cluster with some settings, and stops it when the test ends.
func Alone(t testing.TB, settings map[string]string) *OwnCluster {
	t.Helper()
	spec := Copied(Spec())
	for name, value := range settings {
		spec.Settings = append(spec.Settings, profile.Setting{Name: name, Value: value, Reason: "set by the test"})
	}
	c, err := cluster.Open(State(t)).Create(patience.Context(t), "own", spec)
	if err != nil {
		t.Fatal(err)
	}
	o := &OwnCluster{t: t, cluster: c}
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
func (o *OwnCluster) Start() {
	o.t.Helper()
	if err := o.TryStart(); err != nil {
		o.t.Fatal(err)
	}
}

// TryStart is Start where it may fail.
func (o *OwnCluster) TryStart() error {
	started, err := o.cluster.Start(patience.Context(o.t), cluster.StartOptions{})
	if err == nil {
		o.postmaster = started
	}
	return err
}

// Kill all its processes at once.
func (o *OwnCluster) Kill() { o.t.Helper(); o.ended(o.postmaster.Kill(patience.Context(o.t))) }

// Stop it in order.
func (o *OwnCluster) Stop() {
	o.t.Helper()
	o.ended(o.postmaster.Stop(patience.Context(o.t), cluster.Fast))
}

func (o *OwnCluster) ended(err error) {
	o.t.Helper()
	o.postmaster = nil
	if err != nil {
		o.t.Fatal(err)
	}
}

// DSN of its database postgres.
func (o *OwnCluster) DSN() string { return o.cluster.DSN("postgres").Secret() }

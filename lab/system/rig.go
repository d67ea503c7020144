// Package system brings up what a measurement runs on, fills it, resets it and describes it: clusters of this machine
// or databases elsewhere, with the ERP's base where the scenario plays the ERP. It starts what is missing and at the
// end stops what it started, nothing else. One load at a time.
//
//	Up: cluster missing ──create──▶ stopped ──start──▶ running ──database missing or empty──▶ fill ──▶ ready
//	down: stops the servers that Up started; the data stays for the next time
package system

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/erp/fill"
	"plimsoll/ground/host/lock"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/platform/data/database"
)

// stopWithin bounds the stop at the end, also after Ctrl-C.
const stopWithin = 60 * time.Second

// Rig is a cluster of this machine that is ready for load, with the ERP's database in it.
type Rig struct {
	cluster *cluster.Cluster
	load    *lock.Lock
	started *cluster.Postmaster // nil if another process keeps the cluster up
}

// Rig brings up a cluster with a filled base. spec is for one that does not exist. On an error it stops what it has
// started.
func (l Local) Rig(ctx context.Context, name string, spec cluster.Spec) (*Rig, error) {
	r, err := l.bare(ctx, name, spec)
	if err != nil {
		return nil, err
	}
	if err := r.fill(ctx, l); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// bare is Rig without the ERP's base.
func (l Local) bare(ctx context.Context, name string, spec cluster.Spec) (*Rig, error) {
	c, err := l.findOrCreate(ctx, name, spec)
	if err != nil {
		return nil, err
	}
	r := &Rig{cluster: c}
	if err := r.up(ctx, l); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Take keeps every other load off a cluster that runs, and creates the ERP's database in it if it is missing.
func Take(ctx context.Context, c *cluster.Cluster) (*Rig, error) {
	r := &Rig{cluster: c}
	if err := r.take(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (l Local) findOrCreate(ctx context.Context, name string, spec cluster.Spec) (*cluster.Cluster, error) {
	all, err := l.Clusters.Status(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Name == name {
			return l.Clusters.Find(name)
		}
	}
	l.say("creating cluster %s", name)
	return l.Clusters.Create(ctx, name, spec)
}

func (r *Rig) up(ctx context.Context, l Local) (err error) {
	if r.load, err = r.cluster.TakeForLoad(ctx); err != nil {
		return err
	}
	if r.cluster.Status(ctx).State != cluster.Running {
		l.say("starting cluster %s; it is stopped again at the end (start it with 'plimsoll up %s' to keep "+
			"it running)", r.cluster.Name(), r.cluster.Name())
		if r.started, err = r.cluster.Start(ctx, cluster.StartOptions{}); err != nil {
			return err
		}
	}
	_, err = EnsureDatabase(ctx, r.cluster)
	return err
}

func (r *Rig) take(ctx context.Context) (err error) {
	if r.load, err = r.cluster.TakeForLoad(ctx); err != nil {
		return err
	}
	_, err = EnsureDatabase(ctx, r.cluster)
	return err
}

// fill the base if it is empty, and keep a copy of it.
func (r *Rig) fill(ctx context.Context, l Local) error {
	filled, err := r.fillIfEmpty(ctx, l)
	if filled {
		_, err = Keep(ctx, r.DSN().Secret(), l.say)
	}
	return err
}

func (r *Rig) fillIfEmpty(ctx context.Context, l Local) (filled bool, err error) {
	db, err := database.Open(ctx, r.DSN().Secret(), database.Options{Connections: 2})
	if err != nil {
		return false, err
	}
	defer db.Close()
	l.Fill.Create = true // it is our own cluster
	done, err := fill.Run(ctx, db, l.Fill)
	switch {
	case errors.Is(err, fill.ErrNotEmpty):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("fill the database: %w", err)
	}
	l.say("filled a base of %d documents, %d items and %d users in %.1f s", done.Documents, done.Items, done.Users,
		done.Elapsed.Seconds())
	return true, nil
}

// DSN of the ERP's database.
func (r *Rig) DSN() cluster.DSN { return r.cluster.DSN(Database) }

// Profile of the cluster's settings.
func (r *Rig) Profile() string { return string(r.cluster.Profile) }

// Cluster of the rig.
func (r *Rig) Cluster() *cluster.Cluster { return r.cluster }

// Started says whether Close will stop the server.
func (r *Rig) Started() bool { return r.started != nil }

// Close stops what was started, and lets the next load in.
func (r *Rig) Close() (err error) {
	if r.started != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
		defer cancel()
		err = r.started.Stop(ctx, cluster.Fast)
		r.started = nil
	}
	if r.load != nil {
		err = errors.Join(err, r.load.Remove())
		r.load = nil
	}
	return err
}

// Package rig sets up what a load runs on: a running local cluster and a filled ERP database in it. It starts what is
// missing and at its end stops what it started, nothing else. One load at a time.
//
//	Up: cluster missing ──create──▶ stopped ──start──▶ running ──database missing or empty──▶ fill ──▶ ready
//	Close: stops the server if Up started it; the data stays for the next time
package rig

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/erp/fill"
	"plimsoll/ground/host/lock"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/platform/data/database"
)

// Database is the name of the ERP's database in every cluster.
const Database = "erp"

// stopWithin bounds the stop at the end, also after Ctrl-C.
const stopWithin = 60 * time.Second

// Options name the cluster, and say how to make what is missing.
type Options struct {
	Clusters *cluster.Store
	Name     string
	Spec     cluster.Spec // of a cluster that does not exist
	Fill     fill.Options // of a database that is empty
	// Say reports what is made, because that takes time and stays; nil is silence.
	Say func(format string, args ...any)
}

// Rig is ready for load.
type Rig struct {
	cluster *cluster.Cluster
	load    *lock.Lock
	started *cluster.Postmaster // nil if another process keeps the cluster up
}

// Up sets up the rig. On an error it stops what it has started.
func Up(ctx context.Context, o Options) (*Rig, error) {
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	r := &Rig{}
	if err := r.up(ctx, o); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *Rig) up(ctx context.Context, o Options) (err error) {
	if r.cluster, err = findOrCreate(ctx, o); err != nil {
		return err
	}
	if r.load, err = r.cluster.TakeForLoad(ctx); err != nil {
		return err
	}
	if r.cluster.Status(ctx).State != cluster.Running {
		o.Say("starting cluster %s; it is stopped again at the end (start it "+
			"with 'plimsoll up %s' to keep it running)", o.Name,
			o.Name)
		if r.started, err = r.cluster.Start(ctx, cluster.StartOptions{}); err != nil {
			return err
		}
	}
	if err = EnsureDatabase(ctx, r.cluster); err != nil {
		return err
	}
	filled, err := fillIfEmpty(ctx, r.DSN(), o)
	if filled {
		_, err = Keep(ctx, r.DSN().Secret(), o.Say)
	}
	return err
}

func findOrCreate(ctx context.Context, o Options) (*cluster.Cluster, error) {
	all, err := o.Clusters.Status(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Name == o.Name {
			return o.Clusters.Find(o.Name)
		}
	}
	o.Say("creating cluster %s", o.Name)
	return o.Clusters.Create(ctx, o.Name, o.Spec)
}

func fillIfEmpty(ctx context.Context, dsn cluster.DSN, o Options) (filled bool, err error) {
	db, err := database.Open(ctx, dsn.Secret(), database.Options{Connections: 2})
	if err != nil {
		return false, err
	}
	defer db.Close()
	o.Fill.Create = true // it is our own cluster
	done, err := fill.Run(ctx, db, o.Fill)
	switch {
	case errors.Is(err, fill.ErrNotEmpty):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("fill the database: %w", err)
	}
	o.Say("filled a base of %d documents, %d items and %d users in %.1f s", done.Documents, done.Items, done.Users,
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

// Restart stops the server that Up started, does what is to be done while it is down, and starts it again, with
// settings on its command line that last until it is stopped.
func (r *Rig) Restart(ctx context.Context, between func() error, settings ...profile.Setting) error {
	if r.started == nil {
		return fmt.Errorf("restart cluster %s: another process keeps it up", r.cluster.Name())
	}
	if err := r.started.Stop(ctx, cluster.Fast); err != nil {
		return err
	}
	r.started = nil
	if err := between(); err != nil {
		return err
	}
	var err error
	r.started, err = r.cluster.Start(ctx, cluster.StartOptions{Settings: settings})
	return err
}

// Close stops what Up started, and lets the next load in.
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

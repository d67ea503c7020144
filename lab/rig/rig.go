// Package rig owns what a load runs on: a local cluster that is up and an ERP
// database in it that is filled. It brings up what is missing and, at its end,
// takes down what it brought up and nothing else. One load at a time.
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
	"plimsoll/lab/cluster"
	"plimsoll/lab/lock"
	"plimsoll/platform/database"
)

// Database is the name of the ERP's database in every cluster.
const Database = "erp"

// stopWithin bounds the stop at the end, which must also happen after Ctrl-C.
const stopWithin = 60 * time.Second

// Options say which cluster, and how to make what is missing.
type Options struct {
	Clusters *cluster.Store
	Name     string
	Spec     cluster.Spec // for a cluster that does not exist
	Fill     fill.Options // for a database that is empty
	// Say hears what is made, because it takes time and stays; nil is silence.
	Say func(format string, args ...any)
}

// Rig is ready for load.
type Rig struct {
	cluster *cluster.Cluster
	load    *lock.Lock
	started *cluster.Postmaster // nil when somebody else keeps the cluster up
}

// Up brings the rig up. On an error nothing that it started is left running.
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
		o.Say("starting cluster %s; it is stopped again at the end ('plimsoll up %s' keeps one running)", o.Name, o.Name)
		if r.started, err = r.cluster.Start(ctx, cluster.StartOptions{}); err != nil {
			return err
		}
	}
	if err = EnsureDatabase(ctx, r.cluster); err != nil {
		return err
	}
	return fillIfEmpty(ctx, r.DSN(), o)
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
	o.Say("making cluster %s", o.Name)
	return o.Clusters.Create(ctx, o.Name, o.Spec)
}

func fillIfEmpty(ctx context.Context, dsn cluster.DSN, o Options) error {
	db, err := database.Open(ctx, dsn.Secret(), database.Options{Connections: 2})
	if err != nil {
		return err
	}
	defer db.Close()
	done, err := fill.Run(ctx, db, o.Fill)
	switch {
	case errors.Is(err, fill.ErrNotEmpty):
		return nil
	case err != nil:
		return fmt.Errorf("fill the database: %w", err)
	}
	o.Say("filled a base of %d documents, %d items and %d users in %.1f s", done.Documents, done.Items, done.Users, done.Elapsed.Seconds())
	return nil
}

// DSN of the ERP's database.
func (r *Rig) DSN() cluster.DSN { return r.cluster.DSN(Database) }

// Profile of the cluster's settings.
func (r *Rig) Profile() string { return string(r.cluster.Profile) }

// Cluster that the rig stands on.
func (r *Rig) Cluster() *cluster.Cluster { return r.cluster }

// Started says whether Close will stop the server.
func (r *Rig) Started() bool { return r.started != nil }

// Close takes down what Up brought up, and lets the next load in.
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

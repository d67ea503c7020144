package site

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/system"
)

// OwnCluster is a cluster of the experiment's own, stopped between turns and removed at the end: what it does to its
// server harms nobody.
type OwnCluster struct {
	*cluster.Cluster
	Bench Bench
}

// ownStop bounds a stop, also after Ctrl-C: with millions of files it takes long.
const ownStop = 10 * time.Minute

// OnOwnCluster makes one with this profile.
func OnOwnCluster(spec cluster.Spec) Place {
	open := func(ctx context.Context, b Bench, s *Site) (err error) {
		if s.Own, err = NewOwnCluster(ctx, b, "prove-own", spec, s.atEnd); err != nil {
			return err
		}
		return s.Own.Running(ctx, cluster.StartOptions{}, func(c *cluster.Cluster) error {
			look, err := postgres.Inspect(ctx, c.DSN("").Secret())
			if err != nil {
				return err
			}
			here, _ := machine.Describe("/")
			s.conditions = []claims.Condition{
				{Name: "engine", Text: lookText(look)},
				{Name: "machine", Text: fmt.Sprintf("%d cores of %s, for database and clients together", here.Cores,
					here.CPU)},
			}
			return nil
		})
	}
	return Place{open, newEngine}
}

// NewOwnCluster makes a cluster of that name.
func NewOwnCluster(ctx context.Context, b Bench, name string, spec cluster.Spec, atEnd func(func() error)) (*OwnCluster,
	error) {
	b.say("creating a temporary cluster for the experiment")
	spec.Engine, spec.SocketOnly = b.Engine, true
	c, remove, err := system.Temporary(ctx, b.Clusters, name, spec)
	if err != nil {
		return nil, err
	}
	atEnd(remove)
	return &OwnCluster{c, b}, nil
}

// Running does something while the server runs.
func (o *OwnCluster) Running(ctx context.Context, options cluster.StartOptions, do func(*cluster.Cluster) error) error {
	p, err := o.Start(ctx, options)
	if err != nil {
		return err
	}
	err = do(p.Cluster())
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), ownStop)
	defer cancel()
	return errors.Join(err, p.Stop(stopping, cluster.Fast))
}

// Filled makes a base in it, at a fraction of the report's scale.
func (o *OwnCluster) Filled(ctx context.Context, scale float64) (base *SeparateBase, err error) {
	err = o.Running(ctx, cluster.StartOptions{}, func(c *cluster.Cluster) error {
		base, err = FillSeparate(ctx, c, scale, Streams)
		return err
	})
	return base, err
}

// Admin executes statements on a database of the running cluster.
func Admin(ctx context.Context, c *cluster.Cluster, database string, statements ...string) error {
	return postgres.Execute(ctx, c.DSN(database).Secret(), statements...)
}

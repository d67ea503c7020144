package experiments

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/lab/host/machine"
	"plimsoll/lab/postgres"
	"plimsoll/lab/postgres/cluster"
	"plimsoll/lab/postgres/cluster/profile"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/rig"
)

// site is where an experiment is played: the servers and their conditions.
type site struct {
	address
	cluster    *cluster.Cluster
	rig        *rig.Rig
	servers    *engines
	disk       *slowDisk
	conditions []claims.Condition
	closers    []func() error
}

// address is a connection string that is known once its server is up or its network path open.
type address struct{ dsn string }

// place sets up a site; what it started is closed with the site, also after an error.
type place func(context.Context, Bench, *site) error

func (s *site) atEnd(do func() error) { s.closers = append(s.closers, do) }

func (s *site) close() (err error) {
	for _, end := range slices.Backward(s.closers) {
		err = errors.Join(err, end())
	}
	return err
}

// filledCluster is the bench's cluster with a filled base.
func filledCluster(ctx context.Context, b Bench, s *site) (err error) {
	s.rig, err = rig.Up(ctx, rig.Options{
		Clusters: b.Clusters, Name: b.Cluster, Spec: cluster.Spec{Engine: b.Engine}, Say: b.say,
	})
	if err != nil {
		return err
	}
	s.atEnd(s.rig.Close)
	s.cluster = s.rig.Cluster()
	return nil
}

// oneCluster is a filled cluster that clients reach as the data layer does.
func oneCluster(ctx context.Context, b Bench, s *site) error {
	if err := filledCluster(ctx, b, s); err != nil {
		return err
	}
	dsn := s.rig.DSN().Secret()
	look, err := postgres.Look(ctx, dsn)
	if err != nil {
		return err
	}
	here, _ := machine.Describe("/")
	if s.dsn, err = withCache(dsn, ""); err != nil {
		return err
	}
	s.conditions = []claims.Condition{
		{Name: "engine", Text: lookText(look)},
		{Name: "machine", Text: fmt.Sprintf("%d cores of %s, for database and clients together", here.Cores, here.CPU)},
		{Name: "durability", Text: settingsText(look.Settings, "fsync", "synchronous_commit")},
	}
	return nil
}

// bothFlavours are two separate servers, removed at the end, with settings beyond the profile.
func bothFlavours(settings ...profile.Setting) place {
	return func(ctx context.Context, b Bench, s *site) error {
		s.servers = &engines{running: map[string]*cluster.Postmaster{}}
		if err := s.servers.bringUp(ctx, b, settings, s.atEnd); err != nil {
			return err
		}
		conditions, err := s.servers.describe(ctx, settings)
		s.conditions = conditions
		return err
	}
}

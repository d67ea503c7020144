package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/system"
)

// Site is where an experiment is played: the servers and their conditions.
type Site struct {
	Address
	Cluster    *cluster.Cluster
	Rig        *system.Rig
	Servers    *Engines
	Disk       *SlowDisk
	Disks      map[string]*SlowDisk // by engine
	Own        *OwnCluster
	conditions []claims.Condition
	// postmasters that are no children of this process: their work is the system's.
	postmasters []int
	closers     []func() error
}

// Address is a connection string that is known once its server is up or its network path open.
type Address struct{ DSN string }

// Place sets up a site; what it started is closed with the site, also after an error.
type Place struct {
	open func(context.Context, Bench, *Site) error
	// engine is the one that is measured there.
	engine func(context.Context, Bench) (installation.Server, error)
}

// Open sets up a site.
func (p Place) Open(ctx context.Context, b Bench, s *Site) error { return p.open(ctx, b, s) }

// newEngine is that of clusters which an experiment makes.
func newEngine(ctx context.Context, b Bench) (installation.Server, error) {
	return installation.Find(ctx, b.Engine)
}

// oursEngine is that of both flavours: a finding is one of ours, which it compares with stock.
func oursEngine(ctx context.Context, _ Bench) (installation.Server, error) {
	return installation.Find(ctx, installation.Plimsoll)
}

// clusterEngine is that of the bench's cluster, which is made if it is missing or none is named.
func clusterEngine(ctx context.Context, b Bench) (installation.Server, error) {
	if b.Cluster == "" {
		return newEngine(ctx, b)
	}
	c, err := b.Clusters.Find(b.Cluster)
	if errors.Is(err, fs.ErrNotExist) {
		return newEngine(ctx, b)
	}
	if err != nil {
		return installation.Server{}, err
	}
	return c.ServerNow(ctx)
}

func (s *Site) atEnd(do func() error) { s.closers = append(s.closers, do) }

// Close ends what the site started, the last first.
func (s *Site) Close() (err error) {
	for _, end := range slices.Backward(s.closers) {
		err = errors.Join(err, end())
	}
	return err
}

// Nowhere is for experiments whose parts, sides or turns make what they need.
var Nowhere = Place{func(context.Context, Bench, *Site) error { return nil }, newEngine}

// FilledCluster is the bench's cluster with a filled base.
var FilledCluster = Place{openFilled, clusterEngine}

// OneCluster is a filled cluster that clients reach as the data layer does.
var OneCluster = Place{openOne, clusterEngine}

func openFilled(ctx context.Context, b Bench, s *Site) (err error) {
	here := system.Local{Clusters: b.Clusters, Say: b.say}
	if s.Rig, err = here.Rig(ctx, b.Cluster, cluster.Spec{Engine: b.Engine}); err != nil {
		return err
	}
	s.atEnd(s.Rig.Close)
	s.Cluster = s.Rig.Cluster()
	if s.Rig.Started() {
		return nil
	}
	look, err := postgres.Inspect(ctx, s.Rig.DSN().Secret())
	if err == nil && look.Postmaster != 0 {
		s.postmasters = append(s.postmasters, look.Postmaster)
	}
	return err
}

func openOne(ctx context.Context, b Bench, s *Site) error {
	if err := openFilled(ctx, b, s); err != nil {
		return err
	}
	dsn := s.Rig.DSN().Secret()
	look, err := postgres.Inspect(ctx, dsn)
	if err != nil {
		return err
	}
	here, _ := machine.Describe("/")
	if s.DSN, err = WithCache(dsn, ""); err != nil {
		return err
	}
	s.conditions = []claims.Condition{
		{Name: "engine", Text: lookText(look)},
		{Name: "machine", Text: fmt.Sprintf("%d cores of %s, for database and clients together", here.Cores, here.CPU)},
		{Name: "durability", Text: SettingsText(look.Settings, "fsync", "synchronous_commit")},
	}
	return nil
}

// BothFlavours are two separate servers, removed at the end, with settings beyond the profile.
func BothFlavours(settings ...profile.Setting) Place {
	open := func(ctx context.Context, b Bench, s *Site) error {
		s.Servers = &Engines{Running: map[string]*cluster.Postmaster{}}
		if err := s.Servers.bringUp(ctx, b, settings, s.atEnd); err != nil {
			return err
		}
		conditions, err := s.Servers.describe(ctx, settings)
		s.conditions = conditions
		return err
	}
	return Place{open, oursEngine}
}

// statementCache holds every text of the experiments, so that no side prepares one twice.
const statementCache = "8192"

// WithCache gives a DSN the statement cache of the experiments, and another address unless that is empty.
func WithCache(dsn, address string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", errors.New("the cluster's connection string is not a URL")
	}
	query := u.Query()
	query.Set("statement_cache_capacity", statementCache)
	if address != "" {
		u.Host = address
		query.Del("host")
		query.Del("port")
	}
	u.RawQuery = postgres.Parameters(query)
	return u.String(), nil
}

package confusion

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/system"
)

// downWithin bounds its end, also after Ctrl-C.
const downWithin = time.Minute

// base is the database that trials get copies of.
const base = "base"

// setup of the server that a plant asks for.
type setup struct {
	flush    time.Duration
	settings []profile.Setting
}

func (s setup) key() string { return fmt.Sprint(s.flush, s.settings) }

// bench is the server of a test.
type bench struct {
	Options
	cluster *cluster.Cluster
	remove  func() error // the cluster
	server  *cluster.Postmaster
	as      setup
	dir     string // for links and files
	trials  int
	// flush is how long a commit takes here while nobody else commits.
	flush time.Duration
}

func newBench(ctx context.Context, o Options) (b *bench, err error) {
	b = &bench{Options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.cluster, b.remove, err = system.Temporary(ctx, o.Clusters, "prove-confusion", o.Spec); err != nil {
		return b, err
	}
	if b.dir, err = os.MkdirTemp("", "plimsoll-confusion-"); err != nil {
		return b, err
	}
	if err := b.start(ctx, setup{}); err != nil {
		return b, err
	}
	if err := postgres.Execute(ctx, b.cluster.DSN("").Secret(), "CREATE DATABASE "+base); err != nil {
		return b, err
	}
	dsn := b.cluster.DSN(base).Secret()
	if err := postgres.Execute(ctx, dsn, baseSQL, "VACUUM ANALYZE"); err != nil {
		return b, err
	}
	b.flush, err = commitTime(ctx, dsn)
	return b, err
}

// commitTime is the mean of some commits.
func commitTime(ctx context.Context, dsn string) (time.Duration, error) {
	const times = 20
	var took time.Duration
	err := postgres.With(ctx, dsn, func(conn *pgx.Conn) error {
		began := time.Now()
		for range times {
			if _, err := conn.Exec(ctx, "UPDATE counters SET n = n + 1 WHERE id = 99"); err != nil {
				return err
			}
		}
		took = time.Since(began)
		return nil
	})
	return (took / times).Round(10 * time.Microsecond), err
}

// start the server as a plant asks for it.
func (b *bench) start(ctx context.Context, as setup) (err error) {
	if b.server != nil && b.as.key() == as.key() {
		return nil
	}
	if err := b.stop(); err != nil {
		return err
	}
	b.server, err = b.cluster.Start(ctx, cluster.StartOptions{FlushLatency: as.flush, Settings: as.settings})
	b.as = as
	return err
}

func (b *bench) stop() error {
	if b.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), downWithin)
	defer cancel()
	err := b.server.Stop(ctx, cluster.Fast)
	b.server = nil
	return err
}

// close leaves nothing behind.
func (b *bench) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), downWithin)
	defer cancel()
	var errs []error
	if b.server != nil {
		errs = append(errs, b.server.Stop(ctx, cluster.Immediate))
	}
	if b.dir != "" {
		errs = append(errs, os.RemoveAll(b.dir))
	}
	if b.remove != nil {
		errs = append(errs, b.remove())
	}
	return errors.Join(errs...)
}

// setupOf a plant: what its faults ask for together.
func setupOf(p plant) (s setup) {
	for _, f := range p {
		s.flush = max(s.flush, f.flush)
		for name, value := range f.settings {
			s.settings = append(s.settings, profile.Setting{Name: name, Value: value, Reason: "required by the " +
				"planted fault"})
		}
	}
	return s
}

// scene of a plant: its server, and a copy of the base.
func (b *bench) scene(ctx context.Context, p plant) (*scene, error) {
	if err := b.start(ctx, setupOf(p)); err != nil {
		return nil, err
	}
	b.trials++
	name := fmt.Sprintf("trial_%d", b.trials)
	if err := postgres.Execute(ctx, b.cluster.DSN("").Secret(), "CREATE DATABASE "+name+" TEMPLATE "+base+
		" STRATEGY file_copy"); err != nil {
		return nil, err
	}
	s := &scene{bench: b, name: name, dsn: b.cluster.DSN(name).Secret(), done: map[string]*counted{}}
	for _, f := range p {
		s.network = max(s.network, f.network)
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	// Planner's statistics of a copy are there; those of its activity start at zero.
	if err := postgres.Execute(ctx, s.dsn, "VACUUM ANALYZE"); err != nil {
		return nil, errors.Join(err, s.end())
	}
	return s, s.connectThrough()
}

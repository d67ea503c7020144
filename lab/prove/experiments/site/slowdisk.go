package site

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/stats"
	"plimsoll/lab/system"
)

// SlowDisk is a cluster of the experiment's own whose flushes take at least a known time. A part of the experiment
// starts it; it is removed at the end.
type SlowDisk struct{ cluster *cluster.Cluster }

// OnSlowDisk makes the cluster; parts start it.
var OnSlowDisk = Place{openSlowDisk, newEngine}

// OnSlowDisks makes one of each flavour.
var OnSlowDisks = Place{openSlowDisks, oursEngine}

func openSlowDisk(ctx context.Context, b Bench, s *Site) (err error) {
	s.Disk, err = s.slowDisk(ctx, b, "prove-log", b.Engine)
	return err
}

func openSlowDisks(ctx context.Context, b Bench, s *Site) (err error) {
	s.Disks = map[string]*SlowDisk{}
	for _, v := range []Variant{Stock, Ours} {
		if s.Disks[v.Engine], err = s.slowDisk(ctx, b, "prove-log-"+v.Engine, v.Engine); err != nil {
			return fmt.Errorf("bring up %s: %w", v.Engine, err)
		}
	}
	return nil
}

func (s *Site) slowDisk(ctx context.Context, b Bench, name, engine string) (*SlowDisk, error) {
	b.say("creating a temporary cluster for the experiment")
	c, remove, err := system.Temporary(ctx, b.Clusters, name,
		cluster.Spec{Engine: engine, Memory: "25%", SocketOnly: true})
	if err != nil {
		return nil, err
	}
	s.atEnd(remove)
	return &SlowDisk{c}, nil
}

// Cluster whose flushes are slow.
func (d *SlowDisk) Cluster() *cluster.Cluster { return d.cluster }

// Start the server with this flush latency until the part ends. Its title tells what a lone commit takes.
func (d *SlowDisk) Start(ctx context.Context, r *trial.Record, title string, latency time.Duration,
	settings ...profile.Setting) (dsn string, err error) {
	p, err := d.cluster.Start(ctx, cluster.StartOptions{Settings: settings, FlushLatency: latency})
	if err != nil {
		return "", err
	}
	r.AtEnd(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), enginesStop)
		defer cancel()
		return p.Stop(ctx, cluster.Immediate)
	})
	dsn = p.Cluster().DSN("").Secret()
	if err := d.describe(ctx, r, dsn); err != nil {
		return "", err
	}
	took, err := loneCommit(ctx, dsn)
	r.Call(fmt.Sprintf("%s (a lone commit %.2f ms)", title, took.Seconds()*1000))
	return dsn, err
}

func (d *SlowDisk) describe(ctx context.Context, r *trial.Record, dsn string) error {
	look, err := postgres.Inspect(ctx, dsn)
	if err != nil {
		return err
	}
	here, _ := machine.Describe("/")
	r.Condition("engine", lookText(look))
	r.Condition("machine", fmt.Sprintf("%d cores of %s, for database and jobs together", here.Cores, here.CPU))
	r.Condition("durability", SettingsText(look.Settings, "fsync"))
	return nil
}

// loneCommit is the median time of a small transaction that nobody shares a flush with.
func loneCommit(ctx context.Context, dsn string) (time.Duration, error) {
	const commits = 31
	var times []time.Duration
	err := postgres.With(ctx, dsn, func(conn *pgx.Conn) error {
		if err := postgres.ExecuteOn(ctx, conn, "CREATE TABLE IF NOT EXISTS lone (n int)", "TRUNCATE lone",
			"SET synchronous_commit = on"); err != nil {
			return err
		}
		for range commits {
			began := time.Now()
			if _, err := conn.Exec(ctx, "INSERT INTO lone VALUES (1)"); err != nil {
				return err
			}
			times = append(times, time.Since(began))
		}
		return nil
	})
	return stats.Percentile(times, 0.5), err
}

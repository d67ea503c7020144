package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/problem"
)

// Promotion is what a standby became.
type Promotion struct {
	Name     string `json:"name"`
	From     string `json:"from"`     // the primary that it followed
	Timeline int    `json:"timeline"` // the new one
	LSN      string `json:"lsn"`      // where the old timeline ended
}

// Promote ends a standby's recovery: it accepts writes from then on, on a new timeline. While its primary runs this is
// refused unless forced, because both would accept writes.
func (s *Store) Promote(ctx context.Context, name string, force bool) (p Promotion, err error) {
	c, err := s.Find(name)
	if err != nil {
		return p, err
	}
	if c.ReplicaOf == "" {
		return p, problem.New(problem.Usage, c.wrap(errors.New("is not a standby")),
			"plimsoll status lists the standbys")
	}
	if primary, err := s.Find(c.ReplicaOf); err == nil && primary.stateNow() != Stopped && !force {
		return p, problem.New(problem.Usage, c.wrap(fmt.Errorf("its primary %s is running: both would accept writes",
			c.ReplicaOf)), "stop it first: plimsoll down "+c.ReplicaOf+"; --force promotes anyway")
	}
	conn, err := c.connect(ctx)
	if err != nil {
		return p, problem.New(problem.Environment, c.wrap(fmt.Errorf("connect: %w", err)),
			"start it: plimsoll up "+name)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "SELECT pg_promote(false) WHERE pg_is_in_recovery()"); err != nil {
		return p, c.wrap(err)
	}
	if err := c.await(ctx, "end its recovery", func() (standby bool, err error) {
		err = conn.QueryRow(ctx, "SELECT NOT pg_is_in_recovery()").Scan(&standby)
		return standby, err
	}); err != nil {
		return p, c.wrap(err)
	}
	p = Promotion{Name: name, From: c.ReplicaOf}
	// pg_control_checkpoint has the new timeline only after the next checkpoint; the name of the segment at once.
	if err := conn.QueryRow(ctx, "SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int").
		Scan(&p.Timeline); err != nil {
		return p, c.wrap(err)
	}
	if p.LSN, err = branchedAt(ctx, conn, p.Timeline); err != nil {
		return p, c.wrap(err)
	}
	return p, c.promoted(ctx)
}

// branchedAt is where a timeline left the one before: the last line of its history file. The server reads it: its
// folder is its user's.
func branchedAt(ctx context.Context, conn *pgx.Conn, timeline int) (lsn string, err error) {
	var text string
	if err := conn.QueryRow(ctx, "SELECT pg_read_file($1)", fmt.Sprintf("pg_wal/%08X.history", timeline)).
		Scan(&text); err != nil {
		return "", fmt.Errorf("read history of timeline %d: %w", timeline, err)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	fields := strings.Fields(lines[len(lines)-1])
	if len(fields) < 2 {
		return "", fmt.Errorf("timeline %d has no history", timeline)
	}
	return fields[1], nil
}

// promoted remembers that the cluster follows nobody.
func (c *Cluster) promoted(ctx context.Context) error {
	was := *c
	c.PromotedFrom, c.ReplicaOf, c.Sync = c.ReplicaOf, "", false
	if err := c.marker.write(c.dir); err != nil {
		return c.wrap(err)
	}
	was.leavePrimary(ctx)
	return c.applySettings(ctx)
}

// sayPromoted warns at the start of a primary whose standby has replaced it.
func (c *Cluster) sayPromoted() {
	clusters, _ := c.store.List()
	for _, r := range clusters {
		if r.PromotedFrom == c.Name() && !r.CreatedAt.Before(c.CreatedAt) {
			c.store.say("note: its standby %s was promoted since; commits after that are on one of the "+
				"two clusters only", r.Name())
		}
	}
}

const lookEvery = 20 * time.Millisecond

// await checks until a condition holds. From time to time it says what it waits for.
func (c *Cluster) await(ctx context.Context, what string, holds func() (bool, error)) error {
	say := time.Now().Add(readySayEvery)
	for {
		done, err := holds()
		if err != nil || done {
			return err
		}
		if time.Now().After(say) {
			c.store.say("still waiting for %s to %s; see %s", c.Name(), what, c.LogFile())
			say = time.Now().Add(readySayEvery)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}

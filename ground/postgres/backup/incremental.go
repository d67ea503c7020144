package backup

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

// RefuseIncremental says why a backup of what changed since another one is not taken. Every backup here is a full one.
func RefuseIncremental(srv installation.Server) error {
	mended, distrusts := srv.DistrustsIncremental()
	if !distrusts {
		return problem.New(problem.Usage, errors.New("incremental backups are not made: each backup holds all"),
			"leave out --incremental")
	}
	return problem.New(problem.Usage, fmt.Errorf("incremental backups are refused: those of PostgreSQL %s can restore "+
		"stale rows, which %s mends", srv.Version, mended.Version),
		"leave out --incremental: a full backup is not affected")
}

// warnIncremental warns who has turned on what only incremental backups need.
func (s *Store) warnIncremental(ctx context.Context, c *cluster.Cluster) {
	mended, distrusts := c.Server().DistrustsIncremental()
	if !distrusts {
		return
	}
	if on, err := c.SummarizesWAL(ctx); err == nil && on {
		s.say("note: summarize_wal is on. Do not trust incremental backups of this server (pg_basebackup "+
			"--incremental): PostgreSQL %s can restore stale rows from them, which %s mends", c.Server().Version,
			mended.Version)
	}
}

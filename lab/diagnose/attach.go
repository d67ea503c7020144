package diagnose

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/problem"
	"plimsoll/lab/stats"
)

// application_name of our own connections, which samples leave out.
const ownName = "plimsoll diagnose"

// statementMost bounds our own statements.
const statementMost = "20s"

// attached are two connections to the server: one samples, the other runs the slower queries.
type attached struct {
	fast, slow *pgx.Conn
	server     counters.Server
	version    string
	// canTimeWaits: our engine, which has the setting track_wait_timing.
	canTimeWaits bool
	database     string
	// connectS is the time to connect, through all tiers, the median of some; roundTripS is the time of an empty
	// statement, the shortest of some.
	connectS, roundTripS float64
}

func attach(ctx context.Context, dsn string) (*attached, error) {
	a := &attached{}
	if err := a.open(ctx, dsn); err != nil {
		a.close(ctx)
		return nil, err
	}
	return a, nil
}

func (a *attached) open(ctx context.Context, dsn string) (err error) {
	if a.fast, err = connect(ctx, dsn); err != nil {
		return err
	}
	began := time.Now()
	if a.slow, err = connect(ctx, dsn); err != nil {
		return err
	}
	took := time.Since(began)
	if err := a.rights(ctx); err != nil {
		return err
	}
	a.timeConnect(ctx, a.fast.Config(), took)
	return a.roundTrip(ctx)
}

func connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	return postgres.Connect(ctx, dsn, ownName, postgres.Reading(statementMost)...)
}

func (a *attached) close(ctx context.Context) {
	for _, conn := range []*pgx.Conn{a.fast, a.slow} {
		if conn != nil {
			conn.Close(context.WithoutCancel(ctx))
		}
	}
}

// versionLeast is the oldest supported version.
const versionLeast = 150000

// rights checks the privileges and settings without which nothing can be seen.
func (a *attached) rights(ctx context.Context) error {
	var user, activities string
	var may bool
	const sql = `SELECT current_setting('server_version_num')::int, current_setting('server_version'),
		current_user, current_database(), pg_has_role('pg_read_all_stats', 'USAGE'),
		current_setting('track_activities'), current_setting('track_io_timing')::bool,
		current_setting('track_wal_io_timing')::bool, coalesce(current_setting('track_wait_timing', true)::bool, false),
		current_setting('track_wait_timing', true) IS NOT NULL`
	if err := a.fast.QueryRow(ctx, sql).Scan(&a.server.Version, &a.version, &user, &a.database, &may, &activities,
		&a.server.TimesIO, &a.server.TimesWAL, &a.server.TimesWaits, &a.canTimeWaits); err != nil {
		return fmt.Errorf("inspect the server: %w", err)
	}
	switch {
	case a.server.Version < versionLeast:
		return problem.New(problem.Environment, fmt.Errorf("the server is PostgreSQL "+
			"%s; the oldest supported version is 15", a.version), "")
	case !may:
		return problem.New(problem.Environment, fmt.Errorf("user %s may not see other users' sessions", user),
			"GRANT pg_monitor TO "+pgx.Identifier{user}.Sanitize())
	case activities != "on":
		return problem.New(problem.Environment, errors.New("the server does not track its sessions' activity: "+
			"track_activities is off"), "ALTER SYSTEM SET track_activities = on; SELECT pg_reload_conf()")
	}
	return nil
}

// connects is how many are timed: a single one may have met a busy moment.
const connects = 5

// timeConnect opens new connections without a statement. If the server refuses them, the time of the connection that
// also prepared its statements is used.
func (a *attached) timeConnect(ctx context.Context, config *pgx.ConnConfig, prepared time.Duration) {
	var took []float64
	for len(took) < connects {
		began := time.Now()
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			break
		}
		took = append(took, time.Since(began).Seconds())
		conn.Close(ctx)
	}
	if len(took) == 0 {
		took = []float64{prepared.Seconds()}
	}
	a.connectS = stats.Median(took)
}

// roundTrips is how many are timed; the shortest is the network's, others include late wake-ups.
const roundTrips = 20

func (a *attached) roundTrip(ctx context.Context) error {
	for range roundTrips {
		began := time.Now()
		if _, err := a.fast.Exec(ctx, "SELECT 1"); err != nil {
			return fmt.Errorf("measure a round trip: %w", err)
		}
		if took := time.Since(began).Seconds(); a.roundTripS == 0 || took < a.roundTripS {
			a.roundTripS = took
		}
	}
	return nil
}

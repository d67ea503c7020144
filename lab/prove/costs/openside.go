package costs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/client"
	"plimsoll/ground/host/cpu"
	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
	"plimsoll/lab/run/worker"
	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/server"
)

// openSide is a side with its worker, its user, and a connection that observes its server.
type openSide struct {
	side    Side
	worker  *worker.Worker
	client  *client.Client
	session *client.Session
	watch   *pgx.Conn
	number  int // of the side
	sides   int
	local   bool // the server runs on this machine
	standby bool
}

// refusedNone: a refused operation has other costs.
const refusedNone = -1

// openSides starts a worker for each side and logs its user in. All log in before anybody changes what logging in
// reads.
func openSides(ctx context.Context, o Options) (sides []*openSide, closeAll func(), err error) {
	closeAll = func() {
		for _, s := range sides {
			s.close()
		}
	}
	for i, side := range o.Sides {
		s := &openSide{side: side, number: i, sides: len(o.Sides)}
		sides = append(sides, s)
		if err := s.open(ctx, o.Serve); err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("%s: %w", s.name(), err)
		}
	}
	return sides, closeAll, nil
}

func (s *openSide) name() string { return s.side.Server + ", " + s.side.Shape }

// application is the application_name of the worker's connection.
func (s *openSide) application() string { return fmt.Sprintf("plimsoll profile %d", s.number+1) }

func (s *openSide) open(ctx context.Context, serve []string) (err error) {
	look, err := postgres.Inspect(ctx, s.side.DSN)
	if err != nil {
		return problem.New(problem.Environment, err, "")
	}
	s.local, s.standby = look.Postmaster != 0, look.WAL == nil
	command := append(append(append([]string{}, serve...), "--connections=1"), s.side.Flags...)
	s.worker, err = worker.Start(ctx, command, []string{"PLIMSOLL_DSN=" + s.side.DSN, "PGAPPNAME=" + s.application()},
		nil)
	if err != nil {
		return err
	}
	if s.watch, err = postgres.Connect(ctx, s.side.DSN, ""); err != nil {
		return fmt.Errorf("watch the server: %w", err)
	}
	s.client = client.New(client.Options{Transport: &http.Transport{DisableCompression: true},
		RefusedShare: refusedNone, Part: s.number, Parts: s.sides})
	s.session, err = s.client.Login(ctx, s.worker.URL, client.UserCode(1))
	return err
}

func (s *openSide) close() {
	if s.worker != nil {
		s.worker.Stop()
	}
	if s.watch != nil {
		_ = s.watch.Close(context.Background())
	}
}

// play carries out one operation and measures it. Processor times are read closest to it, so that they exclude the
// other readings. What the operation needs is made before and not counted, with random numbers of its own, so that the
// documents of all sides stay alike.
func (s *openSide) play(ctx context.Context, operation string, rng, provision *rand.Rand) (m measurement, err error) {
	if err := s.client.Provide(ctx, s.session, operation, provision); err != nil {
		return m, explainMissing(err)
	}
	before, err := s.read(ctx)
	if err != nil {
		return m, err
	}
	workerBefore, serverBefore := processor(s.worker.PID), s.backend(before)
	began := time.Now()
	outcome, err := s.client.Do(ctx, s.session, operation, rng)
	if outcome > client.Refused {
		return m, err
	}
	m.refused = outcome == client.Refused
	m.latency = time.Since(began)
	m.worker, m.server = difference(processor(s.worker.PID), workerBefore), difference(s.backend(before), serverBefore)
	after, err := s.read(ctx)
	if err != nil {
		return m, err
	}
	m.cost = after.cost
	m.cost.Add(before.cost.Times(-1))
	m.wal = difference(after.wal, before.wal)
	return m, nil
}

func explainMissing(err error) error {
	if errors.Is(err, client.ErrNoCells) {
		return problem.New(problem.Environment, err,
			"profile a base whose organisations have two warehouses or more: plimsoll fill --warehouses N")
	}
	return fmt.Errorf("create the documents it acts on: %w", err)
}

// reading holds counters that only grow, and the backend that serves the side.
type reading struct {
	cost    database.Counters
	wal     *int64
	backend int
}

func (s *openSide) read(ctx context.Context) (r reading, err error) {
	worker, err := server.Ask(ctx, s.worker.URL)
	if err != nil {
		return r, err
	}
	for _, o := range worker.Operations {
		r.cost.Add(o.Database)
	}
	if err := s.readServer(ctx, &r); err != nil {
		return r, fmt.Errorf("watch the server: %w", err)
	}
	return r, nil
}

func (s *openSide) backend(r reading) *time.Duration {
	if !s.local || r.backend == 0 {
		return nil
	}
	return processor(r.backend)
}

func processor(pid int) *time.Duration {
	used, err := cpu.Process(pid)
	if err != nil {
		return nil
	}
	return &used
}

// readServer reads how much log was written in all, and which backend serves the worker: only this side is active now.
func (s *openSide) readServer(ctx context.Context, r *reading) error {
	position := "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"
	if s.standby {
		position = "NULL::bigint"
	}
	return s.watch.QueryRow(ctx, "SELECT "+position+`, coalesce((SELECT min(pid) FROM pg_stat_activity
		WHERE application_name = $1 AND datname = current_database()), 0)`, s.application()).Scan(&r.wal, &r.backend)
}

func difference[T int64 | time.Duration](after, before *T) *T {
	if after == nil || before == nil {
		return nil
	}
	d := *after - *before
	return &d
}

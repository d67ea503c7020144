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
	"plimsoll/lab/cpu"
	"plimsoll/lab/postgres"
	"plimsoll/lab/worker"
	"plimsoll/platform/database"
	"plimsoll/platform/problem"
	"plimsoll/platform/server"
)

// seat is where the user of a side sits, and from where the side is watched.
type seat struct {
	side    Side
	worker  *worker.Worker
	client  *client.Client
	session *client.Session
	watch   *pgx.Conn
	number  int // of the side
	sides   int
	local   bool // the server's processes are this machine's
	standby bool
}

// refusedNone: what is refused costs something else.
const refusedNone = -1

// sit starts a worker for each side and logs its user in. All have logged in before anybody changes what their screens hold.
func sit(ctx context.Context, o Options) (seats []*seat, leave func(), err error) {
	leave = func() {
		for _, s := range seats {
			s.leave()
		}
	}
	for i, side := range o.Sides {
		s := &seat{side: side, number: i, sides: len(o.Sides)}
		seats = append(seats, s)
		if err := s.sit(ctx, o.Serve); err != nil {
			leave()
			return nil, nil, fmt.Errorf("%s: %w", s.name(), err)
		}
	}
	return seats, leave, nil
}

func (s *seat) name() string { return s.side.Server + ", " + s.side.Shape }

// application is the name of the worker's connection at the server.
func (s *seat) application() string { return fmt.Sprintf("plimsoll profile %d", s.number+1) }

func (s *seat) sit(ctx context.Context, serve []string) (err error) {
	look, err := postgres.Look(ctx, s.side.DSN)
	if err != nil {
		return problem.New(problem.Environment, err, "")
	}
	s.local, s.standby = look.Postmaster != 0, look.WAL == nil
	command := append(append(append([]string{}, serve...), "--connections=1"), s.side.Flags...)
	s.worker, err = worker.Start(ctx, command, []string{"PLIMSOLL_DSN=" + s.side.DSN, "PGAPPNAME=" + s.application()}, nil)
	if err != nil {
		return err
	}
	if s.watch, err = pgx.Connect(ctx, s.side.DSN); err != nil {
		return fmt.Errorf("watch the server: %w", err)
	}
	s.client = client.New(client.Options{Transport: &http.Transport{DisableCompression: true}, RefusedShare: refusedNone, Part: s.number, Parts: s.sides})
	s.session, err = s.client.Login(ctx, s.worker.URL, client.UserCode(1))
	return err
}

func (s *seat) leave() {
	if s.worker != nil {
		s.worker.Stop()
	}
	if s.watch != nil {
		_ = s.watch.Close(context.Background())
	}
}

// play carries out one operation and reads what it took. Processor times are read closest to it, so that the other readings are not in them. What the
// operation would lack is made before, and not counted: its randomness is its own, so that the documents of all sides stay alike.
func (s *seat) play(ctx context.Context, operation string, rng, provision *rand.Rand) (t took, err error) {
	if err := s.client.Provide(ctx, s.session, operation, provision); err != nil {
		return t, lacking(err)
	}
	before, err := s.read(ctx)
	if err != nil {
		return t, err
	}
	workerBefore, serverBefore := processor(s.worker.PID), s.backend(before)
	began := time.Now()
	outcome, err := s.client.Do(ctx, s.session, operation, rng)
	if outcome > client.Refused {
		return t, err
	}
	t.refused = outcome == client.Refused
	t.latency = time.Since(began)
	t.worker, t.server = less(processor(s.worker.PID), workerBefore), less(s.backend(before), serverBefore)
	after, err := s.read(ctx)
	if err != nil {
		return t, err
	}
	t.cost = after.cost
	t.cost.Add(before.cost.Times(-1))
	t.wal = less(after.wal, before.wal)
	return t, nil
}

func lacking(err error) error {
	if errors.Is(err, client.ErrNoCells) {
		return problem.New(problem.Environment, err, "profile a base whose organisations have two warehouses or more: plimsoll fill --warehouses N")
	}
	return fmt.Errorf("provide for it: %w", err)
}

// reading of what only grows, and which process works for the side.
type reading struct {
	cost    database.Counters
	wal     *int64
	backend int
}

func (s *seat) read(ctx context.Context) (r reading, err error) {
	told, err := server.Ask(ctx, s.worker.URL)
	if err != nil {
		return r, err
	}
	for _, o := range told.Operations {
		r.cost.Add(o.Database)
	}
	if err := s.readServer(ctx, &r); err != nil {
		return r, fmt.Errorf("watch the server: %w", err)
	}
	return r, nil
}

func (s *seat) backend(r reading) *time.Duration {
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

// readServer tells how much log was written in all and which process the worker's connection is: only the side plays now.
func (s *seat) readServer(ctx context.Context, r *reading) error {
	position := "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"
	if s.standby {
		position = "NULL::bigint"
	}
	return s.watch.QueryRow(ctx, "SELECT "+position+`, coalesce((SELECT min(pid) FROM pg_stat_activity
		WHERE application_name = $1 AND datname = current_database()), 0)`, s.application()).Scan(&r.wal, &r.backend)
}

func less[T int64 | time.Duration](after, before *T) *T {
	if after == nil || before == nil {
		return nil
	}
	d := *after - *before
	return &d
}

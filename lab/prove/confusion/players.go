package confusion

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/lab/load/script"
	"plimsoll/lab/prove/confusion/incident"
)

// meter of an application's steps, also of those under way: what hangs must not look as if it were not there.
type meter struct {
	mu     sync.Mutex
	steps  int64
	failed int64
	busy   time.Duration
	since  map[int]time.Time // by client
	err    error             // the last
}

func (m *meter) begin(client int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.since[client] = time.Now()
}

func (m *meter) end(client int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy += time.Since(m.since[client])
	delete(m.since, client)
	if m.steps++; err != nil {
		m.failed, m.err = m.failed+1, err
	}
}

// metered is a reading.
type metered struct {
	steps, failed int64
	busy          time.Duration
	at            time.Time
}

func (m *meter) read() metered {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := metered{m.steps, m.failed, m.busy, time.Now()}
	for _, since := range m.since {
		r.busy += r.at.Sub(since)
	}
	return r
}

// perStep is the mean time of a step that succeeded; without one it is at least what was spent.
func (r metered) perStep(before metered) time.Duration {
	done := (r.steps - r.failed) - (before.steps - before.failed)
	return (r.busy - before.busy) / time.Duration(max(1, done))
}

// player is one application at work.
type player struct {
	incident.Work
	meter   *meter
	connect func(ctx context.Context) (*pgconn.PgConn, error)
	pool    chan *pgconn.PgConn // shared connections, nil ones not made yet; nil: each client has its own
	mode    script.Mode
	seed    uint64
	// once is closed when its first step has ended.
	once  chan struct{}
	first sync.Once
}

// play until the context ends.
func (p *player) play(ctx context.Context, running *sync.WaitGroup) {
	if p.Pool > 0 {
		p.pool = make(chan *pgconn.PgConn, p.Pool)
		for range p.Pool {
			p.pool <- nil
		}
	}
	for client := range p.Clients {
		running.Go(func() { p.client(ctx, client) })
	}
}

func (p *player) client(ctx context.Context, client int) {
	env := &script.Environment{Variables: map[string]script.Value{}, RNG: rand.New(rand.NewPCG(p.seed,
		uint64(client)))}
	var conn *pgconn.PgConn
	defer func() { closed(conn); p.drain() }()
	for ctx.Err() == nil {
		if conn == nil && p.pool == nil && !p.Reconnect {
			if conn = p.connected(ctx); conn == nil {
				continue
			}
		}
		p.meter.begin(client)
		var err error
		conn, err = p.step(ctx, conn, env)
		if ctx.Err() != nil {
			return
		}
		p.meter.end(client, err)
		p.first.Do(func() { close(p.once) })
		if p.As == owner {
			if p.Every == 0 {
				<-ctx.Done() // it holds what it has
				return
			}
			sleep(ctx, p.Every)
		}
		if p.Think > 0 {
			sleep(ctx, time.Duration(env.RNG.ExpFloat64()*float64(p.Think)))
		}
	}
}

// connected is a new connection; nil: not now.
func (p *player) connected(ctx context.Context) *pgconn.PgConn {
	conn, err := p.connect(ctx)
	if err != nil {
		p.meter.mu.Lock()
		p.meter.err = err
		p.meter.mu.Unlock()
		sleep(ctx, 50*time.Millisecond)
		return nil
	}
	return conn
}

func closed(conn *pgconn.PgConn) {
	if conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}

// step of a client: it takes a connection where it has none, and gives back what is still good.
func (p *player) step(ctx context.Context, conn *pgconn.PgConn, env *script.Environment) (*pgconn.PgConn, error) {
	if p.pool != nil {
		select {
		case conn = <-p.pool:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		defer func() { p.pool <- conn }()
	}
	if conn == nil {
		if conn = p.connected(ctx); conn == nil {
			return nil, errors.New("no connection")
		}
	}
	err := p.run(ctx, conn, env)
	switch {
	case conn.IsClosed():
		conn = nil
	case p.Reconnect:
		closed(conn)
		conn = nil
	}
	if p.pool != nil {
		return nil, err // the deferred function gives it back
	}
	return conn, err
}

// drain closes what is in the pool.
func (p *player) drain() {
	for {
		select {
		case conn := <-p.pool:
			closed(conn)
		default:
			return
		}
	}
}

// retried are errors that a program answers by doing it again: serialization, deadlock, a key that is taken.
var retried = map[string]bool{"40001": true, "40P01": true, "23505": true}

func (p *player) run(ctx context.Context, conn *pgconn.PgConn, env *script.Environment) error {
	for {
		err := p.try(ctx, conn, env)
		if err == nil || ctx.Err() != nil || conn.IsClosed() {
			return err
		}
		_, _ = conn.Exec(ctx, "ROLLBACK").ReadAll()
		if code := (*pgconn.PgError)(nil); !p.Retry || !errors.As(err, &code) || !retried[code.Code] {
			return err
		}
	}
}

func (p *player) try(ctx context.Context, conn *pgconn.PgConn, env *script.Environment) error {
	if p.Slow == 0 {
		return p.Script.Run(ctx, conn, p.mode, env)
	}
	const each = 100
	results := conn.Exec(ctx, p.SQL)
	for results.NextResult() {
		rows := results.ResultReader()
		for n := 1; rows.NextRow(); n++ {
			if n%each == 0 {
				sleep(ctx, p.Slow)
			}
		}
		_, _ = rows.Close() // Close of all has its error
	}
	return results.Close()
}

// owner is who plants and undoes: the superuser.
const owner = "owner"

// connector opens connections of an application.
func connector(dsn, application string) func(ctx context.Context) (*pgconn.PgConn, error) {
	return func(ctx context.Context) (*pgconn.PgConn, error) {
		config, err := pgx.ParseConfig(dsn)
		if err != nil {
			return nil, err
		}
		config.RuntimeParams["application_name"] = application
		return pgconn.ConnectConfig(ctx, &config.Config)
	}
}

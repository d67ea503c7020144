package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres"
)

// waitingMost statements wait for those before them of their session; then the whole replay waits, and is late. It is
// so many because a session may wait for a lock of one whose COMMIT comes later in the log: who gives statements must
// not wait for a single session.
const waitingMost = 200_000

// stage plays statements: sessions side by side, each on its connection.
type stage struct {
	Options
	config  *pgx.ConnConfig
	found   func(database string) error // is told the log's database, once
	began   time.Time                   // here
	first   time.Time                   // in the log
	left    map[string]int64            // statements of each session that are still to be given
	players map[string]*player
	playing sync.WaitGroup

	waiting atomic.Int64 // statements that were given and have not ended
	mu      sync.Mutex
	outcome *outcome
	order   following
	binder  *binder
	// greeting of sessions that were open when the log began; empty: they need none.
	greeting string
}

// player of one session.
type player struct {
	*stage
	session  string
	queue    queue
	conn     *pgconn.PgConn
	prepared map[string]string
	memory   memory
}

// queue of statements of a session.
type queue struct {
	mu     sync.Mutex
	more   *sync.Cond
	turns  []*turn
	closed bool
}

func (q *queue) put(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.turns = append(q.turns, t)
	q.more.Signal()
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Signal()
}

// take waits for the next; false: none comes.
func (q *queue) take() (*turn, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.turns) == 0 && !q.closed {
		q.more.Wait()
	}
	if len(q.turns) == 0 {
		return nil, false
	}
	t := q.turns[0]
	q.turns[0] = nil
	q.turns = q.turns[1:]
	return t, true
}

// turn of a statement.
type turn struct {
	statement
	due   time.Time
	ended bool // here; the stage's lock guards it
}

// due is when a statement begins here.
func (s *stage) due(begun time.Time) time.Time {
	if s.Speed == 0 {
		return s.began
	}
	return s.began.Add(time.Duration(float64(begun.Sub(s.first)) / s.Speed))
}

// give a statement to its session's player when it is due.
func (s *stage) give(ctx context.Context, st statement) error {
	t := &turn{statement: st, due: s.due(st.Begun)}
	if wait := time.Until(t.due); wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := s.room(ctx); err != nil {
		return err
	}
	p := s.players[st.Session]
	if p == nil {
		p = &player{stage: s, session: st.Session, prepared: map[string]string{}}
		p.queue.more = sync.NewCond(&p.queue.mu)
		s.players[st.Session] = p
		s.playing.Add(1)
		go func() {
			defer s.playing.Done()
			p.play(ctx, &t.statement)
		}()
	}
	s.waiting.Add(1)
	s.mu.Lock()
	s.order.given(t)
	s.mu.Unlock()
	p.queue.put(t)
	if s.left[st.Session]--; s.left[st.Session] == 0 {
		p.queue.close()
		delete(s.players, st.Session)
	}
	return nil
}

// ErrStandstill says that the sessions wait for each other.
var ErrStandstill = errors.New("no statement ends any more: sessions wait for locks that nobody frees")

// room waits while too many statements wait.
func (s *stage) room(ctx context.Context) error {
	least, since := s.waiting.Load(), time.Now()
	for s.waiting.Load() >= waitingMost {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
		if now := s.waiting.Load(); now < least {
			least, since = now, time.Now()
		} else if time.Since(since) > s.Patience {
			return ErrStandstill
		}
	}
	return nil
}

// end waits for the sessions; after a time those that still wait are cut off.
func (s *stage) end(ctx context.Context, cut context.CancelFunc) {
	for _, p := range s.players {
		p.queue.close()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.playing.Wait()
	}()
	select {
	case <-done:
	case <-time.After(s.Patience):
		cut()
	case <-ctx.Done():
	}
	<-done
}

// play the statements of a session. Whoever gives them must never wait for nobody, so that one which cannot connect
// takes and counts them all the same.
func (p *player) play(ctx context.Context, first *statement) {
	failed := p.open(ctx, first)
	defer func() {
		if p.conn != nil {
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
			defer cancel()
			_ = p.conn.Close(closing)
		}
	}()
	for {
		t, more := p.queue.take()
		if !more {
			return
		}
		switch {
		case failed != nil:
			p.leaveOutTurn(t, NoSession, failed)
		case ctx.Err() != nil:
			p.leaveOutTurn(t, Unfinished, nil)
		default:
			p.one(ctx, t)
			if p.conn.IsClosed() {
				failed = errLost
			}
		}
		p.waiting.Add(-1)
	}
}

const closeWithin = 5 * time.Second

var errLost = errors.New("its connection was lost")

// Unfinished is the reason of statements that were cut off.
const Unfinished = "the replay ended before it did"

// open the session's connection as the role that had it, where that is possible.
func (p *player) open(ctx context.Context, first *statement) error {
	config := p.config.Copy()
	if first.Application != "" {
		config.RuntimeParams["application_name"] = first.Application
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	p.conn = conn.PgConn()
	if p.greeting != "" && !opens.MatchString(first.Text) { // it was open before the log began
		if err := p.conn.Exec(ctx, p.greeting).Close(); err != nil {
			return err
		}
	}
	if first.User == "" || first.User == config.User {
		return nil
	}
	if become(ctx, conn, first.User) != nil {
		p.mu.Lock()
		p.outcome.fidelity.OtherRole++
		p.mu.Unlock()
	}
	return nil
}

// become a role, with the settings that it has in this database.
func become(ctx context.Context, conn *pgx.Conn, role string) error {
	rows, err := conn.Query(ctx, `SELECT s FROM pg_catalog.pg_db_role_setting, unnest(setconfig) s
		WHERE setrole = (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = $1) AND setdatabase IN (0,
			(SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())) ORDER BY setdatabase`, role)
	if err != nil {
		return err
	}
	settings, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "SET SESSION AUTHORIZATION "+pgx.Identifier{role}.Sanitize()); err != nil {
		return err
	}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		if _, err := conn.Exec(ctx, "SELECT pg_catalog.set_config($1, $2, false)", name, value); err != nil {
			return err
		}
	}
	return nil
}

// one statement, and what became of it.
func (p *player) one(ctx context.Context, t *turn) {
	begun := time.Now()
	p.mu.Lock()
	if inOrder := p.order.begins(t); !t.Made {
		p.outcome.began(inOrder)
	}
	p.mu.Unlock()
	p.binder.bind(&p.memory, &t.statement)
	rows, err := p.execute(ctx, &t.statement)
	ended := time.Now()
	var pg *pgconn.PgError
	state := ""
	switch {
	case errors.As(err, &pg):
		state = pg.Code
	case err != nil && ctx.Err() != nil:
		p.leaveOutTurn(t, Unfinished, nil)
		return
	case err != nil:
		p.leaveOutTurn(t, NoSession, err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t.ended = true
	p.outcome.played(t, done{begun, ended, rows, state, pg})
}

// execute a statement; rows are those that its last part returned or changed.
func (p *player) execute(ctx context.Context, s *statement) (rows int64, err error) {
	if len(s.Values) == 0 && !s.Prepared {
		answers := p.conn.Exec(ctx, s.Text)
		for answers.NextResult() {
			rows, _ = p.answer(s, answers.ResultReader()) // the error is also that of Close
		}
		return rows, answers.Close()
	}
	given := make([][]byte, len(s.Values))
	for i, v := range s.Values {
		if v != nil {
			given[i] = []byte(*v)
		}
	}
	if !s.Prepared {
		return p.answer(s, p.conn.ExecParams(ctx, s.Text, given, nil, nil, nil))
	}
	name, known := p.prepared[s.Text]
	if !known {
		name = fmt.Sprintf("plimsoll_%d", len(p.prepared))
		if _, err := p.conn.Prepare(ctx, name, s.Text, nil); err != nil {
			return 0, err
		}
		p.prepared[s.Text] = name
	}
	return p.answer(s, p.conn.ExecPrepared(ctx, name, given, nil, nil))
}

// answer is read to its end; new values in it are remembered.
func (p *player) answer(s *statement, in *pgconn.ResultReader) (rows int64, err error) {
	if gives.MatchString(s.Text) {
		for in.NextRow() {
			for _, value := range in.Values() {
				p.memory.given(string(value), s.Text)
			}
		}
	}
	tag, err := in.Close()
	return tag.RowsAffected(), err
}

func (s *stage) leaveOutTurn(t *turn, why string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.ended = true
	s.outcome.leaveOutTurn(t, why, err)
}

// openable says whether a replay can begin at all.
func (s *stage) openable(ctx context.Context) error {
	conn, err := postgres.Connect(ctx, s.DSN, "plimsoll")
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

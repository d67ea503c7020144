package lock

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/database"
)

// Defaults of a watch.
const (
	AfterDefault = time.Second
	watchedMax   = 50
	rememberFor  = time.Minute
	askWithin    = 5 * time.Second
)

// Story says who held what a unit of work waited for.
type Story struct {
	Holders []Holder
	At      time.Time
}

// Holder of a lock, as the database and the holder's worker know it. Unknown parts are empty: a holder that is none of
// our workers has no operation and no user.
type Holder struct {
	Backend      int32         `json:"backend"`
	Operation    string        `json:"operation,omitempty"`
	User         string        `json:"user,omitempty"`
	Organisation string        `json:"-"`
	Worker       string        `json:"worker"`
	State        string        `json:"state,omitempty"` // of the backend: active, idle in transaction
	Held         time.Duration `json:"-"`               // upper bound: since its transaction began
}

// Watch explains waits across workers. It looks only at units of work that have been running for long: their worker
// records whose they are and, if they wait, asks the database who blocks them. While there are none, which is nearly
// always, it costs neither the units of work nor the database anything.
//
//	every After:  long ones of this worker? ─ no ──▶ nothing
//	                        │ yes
//	                        ├──▶ plimsoll_running: backend, worker, operation, user
//	                        └──▶ pg_blocking_pids ⋈ plimsoll_running of all workers ──▶ story, by backend
type Watch struct {
	db      *database.Database
	worker  string
	after   time.Duration
	log     *slog.Logger
	conn    *pgx.Conn // outside the pool, which waiting sessions may exhaust
	written bool      // we have rows in plimsoll_running
	mutex   sync.Mutex
	stories map[uint32]Story
}

// NewWatch makes a watch for a worker; zero means AfterDefault.
func NewWatch(db *database.Database, worker string, after time.Duration, log *slog.Logger) *Watch {
	if after <= 0 {
		after = AfterDefault
	}
	return &Watch{db: db, worker: worker, after: after, log: log, stories: map[uint32]Story{}}
}

// Run watches until ctx is done.
func (w *Watch) Run(ctx context.Context) {
	tick := time.NewTicker(w.after)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			w.end()
			return
		case <-tick.C:
		}
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			w.log.Debug("watch locks", "error", err)
			w.disconnect()
		}
	}
}

// Story of the last wait of a backend.
func (w *Watch) Story(backend uint32) (Story, bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	s, ok := w.stories[backend]
	return s, ok
}

// look does one round.
func (w *Watch) look(ctx context.Context) error {
	long := w.db.Longer(w.after)
	w.forget()
	if len(long) == 0 && !w.written {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if w.conn == nil {
		var err error
		if w.conn, err = w.db.Apart(ctx, "plimsoll watch"); err != nil {
			return err
		}
	}
	long = long[:min(len(long), watchedMax)]
	if err := w.write(ctx, long); err != nil {
		return err
	}
	w.written = len(long) > 0
	return w.readBlockers(ctx, long)
}

// The row of a killed worker is removed when its backend is gone or belongs to another worker.
const writeSQL = `WITH mine AS (
	SELECT l.backend, l.operation, l.author, l.organisation, l.since, a.backend_start
	FROM unnest($2::integer[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
		AS l (backend, operation, author, organisation, since)
	JOIN pg_stat_activity a ON a.pid = l.backend
), gone AS (
	DELETE FROM plimsoll_running r WHERE r.backend <> ALL ($2::integer[])
	AND (r.worker = $1 OR NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = r.backend
		AND a.backend_start = r.started))
)
INSERT INTO plimsoll_running AS r (backend, started, worker, operation, author, organisation, since)
SELECT backend, backend_start, $1, operation, author, organisation, since FROM mine
ON CONFLICT (backend) DO UPDATE SET started = excluded.started, worker = excluded.worker,
	operation = excluded.operation, author = excluded.author, organisation = excluded.organisation,
	since = excluded.since WHERE r.since <> excluded.since`

func (w *Watch) write(ctx context.Context, long []database.Running) error {
	backends, since := backendsOf(long), make([]time.Time, len(long))
	operations := make([]string, len(long))
	authors := make([]string, len(long))
	organisations := make([]string, len(long))
	for i, u := range long {
		operations[i], authors[i], organisations[i], since[i] = u.Label.Operation, u.Label.User, u.Label.Organisation,
			u.Since
	}
	if _, err := w.conn.Exec(ctx, writeSQL, w.worker, backends, operations, authors, organisations, since); err != nil {
		return fmt.Errorf("record long units of work: %w", err)
	}
	return nil
}

// A blocker may itself wait. What matters is the root of the tree; the blocker's own wait is examined separately.
const askSQL = `SELECT v.pid, b.pid, coalesce(r.operation, ''), coalesce(r.author, ''), coalesce(r.organisation, ''),
	coalesce(r.worker, a.application_name, ''), coalesce(a.state, ''),
		coalesce(extract(epoch FROM clock_timestamp() - a.xact_start), 0)::float8
FROM unnest($1::integer[]) AS v (pid), unnest(pg_blocking_pids(v.pid)) AS b (pid)
LEFT JOIN pg_stat_activity a ON a.pid = b.pid
	LEFT JOIN plimsoll_running r ON r.backend = b.pid AND r.started = a.backend_start
ORDER BY a.xact_start`

func (w *Watch) readBlockers(ctx context.Context, long []database.Running) error {
	if len(long) == 0 {
		return nil
	}
	rows, err := w.conn.Query(ctx, askSQL, backendsOf(long))
	if err != nil {
		return fmt.Errorf("read who blocks whom: %w", err)
	}
	found := map[uint32]Story{}
	var victim int32
	var h Holder
	var seconds float64
	_, err = pgx.ForEachRow(rows, []any{&victim, &h.Backend, &h.Operation, &h.User, &h.Organisation, &h.Worker,
		&h.State, &seconds}, func() error {
		h.Held = time.Duration(seconds * float64(time.Second))
		found[uint32(victim)] = Story{append(found[uint32(victim)].Holders, h), time.Now()}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read who blocks whom: %w", err)
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for backend, story := range found {
		w.stories[backend] = story
	}
	return nil
}

func backendsOf(long []database.Running) []int32 {
	backends := make([]int32, len(long))
	for i, u := range long {
		backends[i] = int32(u.Backend)
	}
	return backends
}

func (w *Watch) forget() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for backend, story := range w.stories {
		if time.Since(story.At) > rememberFor {
			delete(w.stories, backend)
		}
	}
}

// end removes this worker's rows from the database.
func (w *Watch) end() {
	if w.conn != nil && w.written {
		ctx, cancel := context.WithTimeout(context.Background(), askWithin)
		defer cancel()
		_, _ = w.conn.Exec(ctx, "DELETE FROM plimsoll_running WHERE worker = $1", w.worker) // else the next watch does
	}
	w.disconnect()
}

func (w *Watch) disconnect() {
	if w.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = w.conn.Close(ctx)
	w.conn = nil
}

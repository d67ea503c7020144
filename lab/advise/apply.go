package advise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
)

// Applier changes a server: settings as a superuser, indexes also as the owner of their table.
type Applier struct {
	DSN, Cluster string
	// Folder of the journals. Defaults to Folder().
	Folder string
	// Restart the server; nil: it is not ours, and a person must.
	Restart func(ctx context.Context) error
	// Start the server, which is down; the answer is its connection string, for its port may be another one. Nil: it is
	// not ours.
	Start func(ctx context.Context) (dsn string, err error)
	// LockWait is how long a change of a table waits for its lock. Defaults to lockMost.
	LockWait time.Duration
	// Say what is done.
	Say func(format string, args ...any)
}

// Outcome of Apply or Revert.
type Outcome struct {
	Journal string   `json:"journal"`
	Steps   []Step   `json:"steps"`
	Already []string `json:"already,omitempty"` // steps that were done before
	// Refused are the changes that the server did not make; it made the others all the same.
	Refused []Refusal `json:"refused,omitempty"`
	// ByHand are lines of postgresql.auto.conf to change manually: the server is down, and its files are not ours.
	ByHand []string `json:"by_hand,omitempty"`
	// Needs says what is left to do: a restart, or nothing.
	Needs   string `json:"needs,omitempty"`
	Command string `json:"compare,omitempty"`
}

// Refusal of one change.
type Refusal struct {
	Advice string `json:"advice"`
	Change string `json:"change"`
	Why    string `json:"why"`
}

// Choose advice by IDs; none: all problems that can be applied.
func (r *Report) Choose(ids []string) (chosen []Advice, err error) {
	if len(ids) == 0 {
		ids = r.IDs()
	}
	var known []string
	for _, a := range r.Advice {
		known = append(known, a.ID)
	}
	for _, id := range ids {
		a := r.Find(id)
		switch {
		case a == nil:
			return nil, problem.New(problem.Usage, fmt.Errorf("there is no advice %q for this server now", id),
				human.NearestHint(id, known, "'plimsoll advise' lists them"))
		case a.Level == Harmful:
			return nil, problem.New(problem.Usage, fmt.Errorf("%s is never applied automatically", id),
				"find out who set it and why; then: "+strings.Join(a.Do, "; "))
		case !a.Applicable():
			return nil, problem.New(problem.Usage, fmt.Errorf("%s cannot be applied "+
				"automatically", id), strings.Join(a.Do, "; "))
		}
		chosen = append(chosen, *a)
	}
	return chosen, nil
}

// worker applies or reverts under the journal's lock.
type worker struct {
	Applier
	conn    *pgx.Conn
	journal *Journal
	out     Outcome
	reload  bool
	restart bool
	// libraries as the changes of this call have set them so far: the last setting counts, and each advice was given
	// without regard to the others.
	libraries string
}

const (
	journalWait = 3 * time.Second
	// lockMost is how long a change waits for a lock of a table. CREATE INDEX CONCURRENTLY and DROP INDEX CONCURRENTLY
	// wait without limit, for transactions and without blocking them: interrupted, they leave an invalid index.
	lockMost = 10 * time.Second
)

// changing are the settings of a connection that changes a server: what the role or the database has set for its own
// statements must not interrupt a build.
var changing = []postgres.Setting{{Name: "statement_timeout", Value: "0"}, {Name: "lock_timeout", Value: "0"},
	{Name: "idle_in_transaction_session_timeout", Value: "0"}, {Name: "idle_session_timeout", Value: "0"},
	{Name: "default_transaction_read_only", Value: "off"}}

// transactionTimeoutSQL is for PostgreSQL from 17 on.
const transactionTimeoutSQL = `SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'`

func (h Applier) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := postgres.Connect(ctx, h.DSN, ownName, changing...)
	if err != nil {
		return nil, err
	}
	if err = postgres.Direct(conn); err == nil {
		_, err = conn.Exec(ctx, transactionTimeoutSQL)
	}
	if err != nil {
		conn.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return conn, nil
}

func (h Applier) complete() Applier {
	if h.Say == nil {
		h.Say = func(string, ...any) {}
	}
	h.Folder = cmp.Or(h.Folder, Folder())
	h.LockWait = cmp.Or(h.LockWait, lockMost)
	return h
}

// lock excludes other processes from one server. A build that takes hours does not block work on another server.
func (h Applier) lock(ctx context.Context, server string) (*lock.Lock, error) {
	held, err := lock.Acquire(ctx, filepath.Join(h.Folder, server+".lock"), "advise", journalWait)
	return held, problem.New(problem.Environment, err, "another 'plimsoll advise' is changing this server")
}

func (h Applier) open(ctx context.Context) (w *worker, end func(), err error) {
	w = &worker{Applier: h.complete()}
	if w.conn, err = w.connect(ctx); err != nil {
		return nil, nil, err
	}
	closing := func() { w.conn.Close(context.WithoutCancel(ctx)) }
	if w.journal, err = openJournal(ctx, w.conn, w.Folder, h.Cluster); err != nil {
		closing()
		return nil, nil, err
	}
	held, err := w.lock(ctx, w.journal.Server)
	if err != nil {
		closing()
		return nil, nil, err
	}
	// Another one may have written it before we had the lock.
	if w.journal, err = openJournal(ctx, w.conn, w.Folder, h.Cluster); err != nil {
		closing()
		return nil, nil, errors.Join(err, held.Release())
	}
	w.out.Journal = w.journal.path
	return w, func() { closing(); held.Release() }, nil
}

// Apply changes, each after its state before is in the journal. What the server refuses is listed; the others go on.
func (h Applier) Apply(ctx context.Context, chosen []Advice) (*Outcome, error) {
	w, end, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	all := 0
	for _, a := range chosen {
		all += len(a.Changes)
		for _, c := range a.Changes {
			err := w.apply(ctx, a, c)
			if why := (*refused)(nil); errors.As(err, &why) {
				w.refuse(a.ID, c.text(), why)
				continue
			}
			if err != nil {
				return w.stopped(fmt.Errorf("apply %s: %w", a.ID, err), "what was done is in the journal: 'plimsoll "+
					"advise --revert' undoes it, --apply continues")
			}
		}
	}
	if err := w.settle(ctx, true); err != nil {
		return w.stopped(err, "the old values are in "+w.journal.path)
	}
	w.out.Command = w.journal.Command()
	return &w.out, w.refusals(all)
}

// refused is why a change was not made, and nothing of it was.
type refused struct{ why string }

func (r *refused) Error() string { return r.why }

func (w *worker) refuse(advice, change string, why error) {
	w.out.Refused = append(w.out.Refused, Refusal{advice, change, why.Error()})
	w.Say("%s: refused: %v", advice, why)
}

// ErrRefused: some changes were refused, all others were made.
var ErrRefused = errors.New("changes were refused")

func (w *worker) refusals(all int) error {
	if len(w.out.Refused) == 0 {
		return nil
	}
	return problem.WithHint(fmt.Errorf("%d of %d %w", len(w.out.Refused), all, ErrRefused),
		"each is listed with its reason; the others were made")
}

func (w *worker) stopped(err error, hint string) (*Outcome, error) {
	if problem.HintOf(err) != "" {
		return &w.out, err
	}
	return &w.out, problem.WithHint(err, hint)
}

// Journal of the database; its steps may be none.
func (h Applier) Journal(ctx context.Context) (*Journal, error) {
	w, end, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return w.journal, nil
}

// Measured notes the actual gain of all that is applied.
func (h Applier) Measured(ctx context.Context, actual Actual) (*Journal, error) {
	w, end, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	actual.Together = len(w.journal.Applied())
	for i := range w.journal.Steps {
		if w.journal.Steps[i].State == Done {
			w.journal.Steps[i].Actual = &actual
		}
	}
	return w.journal, w.journal.write()
}

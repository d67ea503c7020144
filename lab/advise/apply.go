package advise

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/lab/host/lock"
	"plimsoll/lab/postgres"
	"plimsoll/platform/nearest"
	"plimsoll/platform/problem"
)

// Applier changes a server. It needs a superuser.
type Applier struct {
	DSN, Cluster string
	// Folder of the journals. Defaults to Folder().
	Folder string
	// Restart the server; nil: it is not ours, and a person must.
	Restart func(ctx context.Context) error
	// Say what is done.
	Say func(format string, args ...any)
}

// Outcome of Apply or Revert.
type Outcome struct {
	Journal string   `json:"journal"`
	Steps   []Step   `json:"steps"`
	Already []string `json:"already,omitempty"` // steps that were done before
	// Needs says what is left to do: a restart, or nothing.
	Needs   string `json:"needs,omitempty"`
	Command string `json:"compare,omitempty"`
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
				nearest.Hint(id, known, "'plimsoll advise' lists them"))
		case a.Level == Harmful:
			return nil, problem.New(problem.Usage, fmt.Errorf("%s is not applied by a program", id),
				"find out who set it and why; then: "+strings.Join(a.Do, "; "))
		case !a.Applicable():
			return nil, problem.New(problem.Usage, fmt.Errorf("%s is for a person to do", id), strings.Join(a.Do, "; "))
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
}

const lockWait = 3 * time.Second

func (h Applier) open(ctx context.Context) (w *worker, end func(), err error) {
	if h.Say == nil {
		h.Say = func(string, ...any) {}
	}
	if h.Folder == "" {
		h.Folder = Folder()
	}
	w = &worker{Applier: h}
	if w.conn, err = postgres.Connect(ctx, h.DSN, ownName); err != nil {
		return nil, nil, err
	}
	closing := func() { w.conn.Close(context.WithoutCancel(ctx)) }
	if w.journal, err = openJournal(ctx, w.conn, h.Folder, h.Cluster); err != nil {
		closing()
		return nil, nil, err
	}
	held, err := lock.Acquire(ctx, filepath.Join(h.Folder, "lock"), "advise", lockWait)
	if err != nil {
		closing()
		return nil, nil, problem.New(problem.Environment, err, "another 'plimsoll advise' changes a server now")
	}
	w.out.Journal = w.journal.path
	// Another one may have written it before we had the lock.
	if w.journal, err = openJournal(ctx, w.conn, h.Folder, h.Cluster); err != nil {
		closing()
		return nil, nil, errors.Join(err, held.Release())
	}
	return w, func() { closing(); held.Release() }, nil
}

// Apply changes, each after its state before is in the journal.
func (h Applier) Apply(ctx context.Context, chosen []Advice) (*Outcome, error) {
	w, end, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := w.librariesExist(ctx, chosen); err != nil {
		return nil, err
	}
	for _, a := range together(chosen) {
		for _, c := range a.Changes {
			if err := w.apply(ctx, a, c); err != nil {
				return w.stopped(fmt.Errorf("apply %s: %w", a.ID, err), "what was done is in the journal: 'plimsoll "+
					"advise --revert' takes it back, --apply continues")
			}
		}
	}
	if err := w.settle(ctx); err != nil {
		return w.stopped(err, "the old values are in "+w.journal.path)
	}
	w.out.Command = w.journal.Command()
	return &w.out, nil
}

// together has each of several libraries name those before it: each advice was given for itself, and the last setting
// counts.
func together(chosen []Advice) []Advice {
	value := map[string]string{}
	chosen = slices.Clone(chosen)
	for i := range chosen {
		chosen[i].Changes = slices.Clone(chosen[i].Changes)
		for k := range chosen[i].Changes {
			c := &chosen[i].Changes[k]
			if c.Library == "" {
				continue
			}
			if before, is := value[c.Name]; is {
				c.Value = withLibrary(before, c.Library)
			}
			value[c.Name] = c.Value
		}
	}
	return chosen
}

func (w *worker) stopped(err error, hint string) (*Outcome, error) {
	if problem.HintOf(err) != "" {
		return &w.out, err
	}
	return &w.out, problem.WithHint(err, hint)
}

// librariesExist: a server whose shared_preload_libraries names a missing file does not start.
func (w *worker) librariesExist(ctx context.Context, chosen []Advice) error {
	const noFile = "58P01"
	for _, a := range chosen {
		for _, c := range a.Changes {
			if c.Library == "" {
				continue
			}
			other, err := postgres.Connect(ctx, w.DSN, ownName)
			if err != nil {
				return err
			}
			_, err = other.Exec(ctx, "LOAD "+literal(c.Library))
			other.Close(context.WithoutCancel(ctx))
			var refused *pgconn.PgError
			if errors.As(err, &refused) && refused.Code == noFile {
				return problem.New(problem.Environment, fmt.Errorf("library %s is not installed: a server that must "+
					"load it does not start", c.Library), "install it, or remove its settings")
			}
		}
	}
	return nil
}

const (
	autoSQL = `SELECT (SELECT setting FROM pg_file_settings WHERE name = $1 AND sourcefile LIKE '%postgresql.auto.conf'
		ORDER BY seqno DESC LIMIT 1), (SELECT setting FROM pg_settings WHERE name = $1)`
	validSQL = `SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)`
)

func (w *worker) apply(ctx context.Context, a Advice, c Change) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	half := w.journal.open(c, Planned)
	step := Step{Advice: a.ID, Title: a.Title, Change: c, State: Planned, Expected: a.ExpectedGain}
	current, err := w.before(ctx, &step)
	if err != nil {
		return err
	}
	if current && half < 0 {
		w.out.Already = append(w.out.Already, a.ID)
		w.Say("%s: done before", c.text())
		w.needs(c)
		return nil
	}
	if half < 0 {
		w.journal.Steps = append(w.journal.Steps, step)
		half = len(w.journal.Steps) - 1
	}
	s := &w.journal.Steps[half]
	s.At = time.Now().UTC()
	if err := w.journal.write(); err != nil {
		return err
	}
	if err := w.execute(ctx, c, c.text()); err != nil {
		return err
	}
	s.State = Done
	if err := w.journal.write(); err != nil {
		return err
	}
	w.Say("%s", c.text())
	w.needs(c)
	w.out.Steps = append(w.out.Steps, *s)
	return nil
}

// before looks at what the change would find; there: it is as the change would make it.
func (w *worker) before(ctx context.Context, s *Step) (there bool, err error) {
	c := s.Change
	if c.Kind == Setting {
		var worked *string
		if err := w.conn.QueryRow(ctx, autoSQL, c.Name).Scan(&s.Before, &worked); err != nil {
			return false, fmt.Errorf("read what ALTER SYSTEM has set: %w", err)
		}
		if worked != nil {
			s.Worked = *worked
		}
		return s.Before != nil && sameValue(*s.Before, c.Value), nil
	}
	if c.Index == "" {
		return false, nil
	}
	valid, exists, err := w.index(ctx, c.Index)
	if err != nil {
		return false, err
	}
	if strings.HasPrefix(c.SQL, "DROP") {
		return !exists, nil
	}
	return exists && valid, nil
}

func (w *worker) index(ctx context.Context, name string) (valid, exists bool, err error) {
	err = w.conn.QueryRow(ctx, validSQL, name).Scan(&valid)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, false, nil
	}
	return valid, err == nil, err
}

// sameValue compares values as files and commands spell them: lists with and without blanks and quotes.
func sameValue(a, b string) bool {
	plain := func(text string) string { return strings.NewReplacer(" ", "", `"`, "", "'", "").Replace(text) }
	return plain(a) == plain(b)
}

// settingWithin bounds a statement that Ctrl-C must not cut in two: it takes milliseconds.
const settingWithin = 30 * time.Second

func (w *worker) execute(ctx context.Context, c Change, sql string) error {
	if c.Kind == Setting {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settingWithin)
		defer cancel()
		_, err := w.conn.Exec(ctx, sql)
		return err
	}
	if c.Index != "" && strings.HasPrefix(sql, "CREATE") {
		if valid, exists, err := w.index(ctx, c.Index); err != nil {
			return err
		} else if exists && !valid { // of a build that was stopped
			if _, err := w.conn.Exec(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+c.Index); err != nil {
				return err
			}
		}
	}
	_, err := w.conn.Exec(ctx, sql)
	return err
}

func (w *worker) needs(c Change) {
	w.reload = w.reload || c.Kind == Setting
	w.restart = w.restart || c.Restart
}

// Revert undoes what the journal says, the last first. What somebody else changed since is left as it is and reported.
func (h Applier) Revert(ctx context.Context) (*Outcome, error) {
	w, end, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	for i := len(w.journal.Steps) - 1; i >= 0; i-- {
		s := &w.journal.Steps[i]
		if !slices.Contains([]State{Planned, Done}, s.State) {
			continue
		}
		if err := w.revert(ctx, s); err != nil {
			return w.stopped(fmt.Errorf("revert %s: %w", s.Advice, err), "'plimsoll advise --revert' continues")
		}
		w.out.Steps = append(w.out.Steps, *s)
	}
	if err := w.settle(ctx); err != nil {
		return w.stopped(err, "the old values are in "+w.journal.path)
	}
	return &w.out, nil
}

func (w *worker) revert(ctx context.Context, s *Step) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	state, sql, err := w.undo(ctx, *s)
	if err != nil {
		return err
	}
	if sql != "" {
		if err := w.execute(ctx, s.Change, sql); err != nil {
			return err
		}
		w.Say("%s", sql)
		w.needs(s.Change)
	}
	s.State, s.At = state, time.Now().UTC()
	return w.journal.write()
}

// undo of a step: the state that it then has, and the SQL; empty: there is nothing to put back.
func (w *worker) undo(ctx context.Context, s Step) (state State, sql string, err error) {
	c := s.Change
	if c.Kind == SQL {
		return Reverted, c.Undo, nil
	}
	now := Step{Change: c}
	if _, err := w.before(ctx, &now); err != nil {
		return "", "", err
	}
	switch {
	case equal(now.Before, s.Before): // the step was never made, or was put back and not noted
		w.needs(c)
		return Reverted, "", nil
	case now.Before == nil || !sameValue(*now.Before, c.Value):
		w.Say("%s is left as it is: somebody has changed it since", c.Name)
		return Left, "", nil
	case s.Before == nil:
		return Reverted, "ALTER SYSTEM RESET " + c.Name, nil
	}
	c.Value = *s.Before
	return Reverted, c.text(), nil
}

func equal(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return sameValue(*a, *b)
}

// settle makes the settings work: a reload, or a restart of what is ours.
func (w *worker) settle(ctx context.Context) error {
	if !w.reload {
		return nil
	}
	// A stop between a setting and its reload would leave the server with one value and its files with another.
	whole := context.WithoutCancel(ctx)
	ctx, cancel := context.WithTimeout(whole, time.Minute)
	defer cancel()
	if err := w.reloaded(ctx); err != nil {
		return err
	}
	if !w.restart {
		w.Say("the server was reloaded")
		return nil
	}
	var pending bool
	if err := w.fresh(ctx, "SELECT EXISTS (SELECT FROM pg_settings WHERE pending_restart)", &pending); err != nil {
		return err
	}
	switch {
	case !pending:
		return nil
	case w.Restart == nil:
		w.out.Needs = "restart the server: some of these settings take effect only then"
		return nil
	}
	w.Say("the server is restarted")
	w.conn.Close(ctx)
	return w.Restart(whole) // its last checkpoint may take minutes: given up in between, it would stay down
}

// reloaded asks for a reload and waits until new sessions see it.
func (w *worker) reloaded(ctx context.Context) error {
	var before, after time.Time
	const sql = "SELECT pg_conf_load_time()"
	if err := w.fresh(ctx, sql, &before); err != nil {
		return err
	}
	if _, err := w.conn.Exec(ctx, "SELECT pg_reload_conf()"); err != nil {
		return fmt.Errorf("reload the server: %w", err)
	}
	for {
		if err := w.fresh(ctx, sql, &after); err != nil {
			return err
		}
		if after.After(before) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server did not reload its settings: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// fresh connection, as the server now makes them.
func (w *worker) fresh(ctx context.Context, sql string, to any) error {
	conn, err := postgres.Connect(ctx, w.DSN, ownName)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return conn.QueryRow(ctx, sql).Scan(to)
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

// GainText holds expected against actual gain.
func (s Step) GainText() string {
	expected := "expected: not known, no diagnosis gave it a price"
	if g := s.Expected; g != nil {
		expected = fmt.Sprintf("expected: %s to %s", percent(g.Low), percent(g.High))
	}
	a := s.Actual
	if a == nil {
		return expected + "; actual: not measured"
	}
	text := fmt.Sprintf("%s; actual: %s of %s saved (%s to %s, %.0f %% confidence): %s", expected, signed(a.Gain),
		a.Metric,
		signed(a.Interval.Low), signed(a.Interval.High), 100*a.Confidence, a.Verdict)
	if a.Together > 1 {
		text += fmt.Sprintf("; of all %d changes together", a.Together)
	}
	return text
}

func signed(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

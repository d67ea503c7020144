package advise

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// autoSQL: what ALTER SYSTEM has set, and the value that the server works with.
const autoSQL = `SELECT (SELECT setting FROM pg_file_settings WHERE name = $1 AND sourcefile LIKE '%/' || $2
		ORDER BY seqno DESC LIMIT 1), (SELECT setting FROM pg_settings WHERE name = $1)`

func (w *worker) apply(ctx context.Context, a Advice, c Change) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c, err := w.library(ctx, c)
	if err != nil {
		return err
	}
	half := w.journal.open(c, Planned)
	step := Step{Advice: a.ID, Title: a.Title, Change: c, State: Planned, Expected: a.ExpectedGain}
	there, err := w.before(ctx, &step, half >= 0)
	if err != nil {
		return refusalOf(err)
	}
	if there && half < 0 {
		w.out.Already = append(w.out.Already, a.ID)
		w.Say("%s: already done", c.text())
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
		return w.undone(ctx, s, err)
	}
	return w.made(ctx, s)
}

// made notes a change in the journal. Of an index it keeps the definition: a revert drops it only if it is as we made
// it.
func (w *worker) made(ctx context.Context, s *Step) error {
	c := s.Change
	if c.creates() {
		now, err := w.index(ctx, c.Index)
		if err != nil {
			return err
		}
		s.Made = now.Definition
	}
	s.State = Done
	if err := w.journal.write(); err != nil {
		return err
	}
	if c.Library != "" {
		w.libraries = c.Value
	}
	w.Say("%s", c.text())
	w.needs(c)
	w.out.Steps = append(w.out.Steps, *s)
	return nil
}

func (w *worker) needs(c Change) {
	w.reload = w.reload || c.Kind == Setting
	w.restart = w.restart || c.Restart
}

// undone is a change that failed. What the server refused is not done, but a build that it gave up leaves an index that
// is not valid: it is removed, or named.
func (w *worker) undone(ctx context.Context, s *Step, err error) error {
	c := s.Change
	answer := refusalOf(err)
	var why *refused
	if !errors.As(answer, &why) || w.conn.IsClosed() || ctx.Err() != nil { // who knows what was done: it stays planned
		if c.creates() {
			return fmt.Errorf("%w%s", err, w.leftover(ctx, c))
		}
		return err
	}
	s.State, s.Why = Refused, why.why
	if c.creates() {
		s.Why += w.removeLeftover(ctx, s)
	}
	if err := w.journal.write(); err != nil {
		return err
	}
	return &refused{s.Why}
}

// refusalOf is the server's answer that it does not do something; other errors pass.
func refusalOf(err error) error {
	if answer := (*pgconn.PgError)(nil); errors.As(err, &answer) {
		text := answer.Message
		if answer.Detail != "" {
			text += " (" + answer.Detail + ")"
		}
		return &refused{text}
	}
	return err
}

// before looks at what the change would find; there: it is as the change would make it. Half: it was begun before.
func (w *worker) before(ctx context.Context, s *Step, half bool) (there bool, err error) {
	c := s.Change
	switch {
	case c.Kind == Setting:
		var worked *string
		err := w.conn.QueryRow(ctx, autoSQL, c.Name, autoConf).Scan(&s.Before, &worked)
		if answer := (*pgconn.PgError)(nil); errors.As(err, &answer) && answer.Code == refusedRights {
			return false, &refused{"a setting of the server needs a superuser: " + answer.Message}
		}
		if err != nil {
			return false, fmt.Errorf("read what ALTER SYSTEM has set: %w", err)
		}
		if worked != nil {
			s.Worked = *worked
		}
		return s.Before != nil && sameValue(*s.Before, c.Value), nil
	case c.creates():
		return w.beforeBuild(ctx, c)
	case c.drops():
		return w.beforeDrop(ctx, s, half)
	}
	return false, nil
}

// sameValue compares values as files and commands spell them: lists with and without blanks and quotes.
func sameValue(a, b string) bool {
	plain := func(text string) string { return strings.NewReplacer(" ", "", `"`, "", "'", "").Replace(text) }
	return plain(a) == plain(b)
}

// library adds one to those that the server has, and those that this call has added. A server whose
// shared_preload_libraries names a missing file does not start, so each is loaded into a session first.
func (w *worker) library(ctx context.Context, c Change) (Change, error) {
	if c.Library == "" {
		return c, nil
	}
	if w.libraries != "" {
		c.Value = withLibrary(w.libraries, c.Library)
	}
	other, err := w.connect(ctx)
	if err != nil {
		return c, err
	}
	defer other.Close(context.WithoutCancel(ctx))
	_, err = other.Exec(ctx, "LOAD "+literal(c.Library))
	var answer *pgconn.PgError
	switch {
	case err == nil, !errors.As(err, &answer):
		return c, err
	case strings.Contains(answer.Message+answer.Hint+answer.Detail, preloaded): // it is there, and loads only so
		return c, nil
	}
	return c, &refused{fmt.Sprintf("library %s cannot be loaded, and a server that has to load it would not start: %s",
		c.Library, answer.Message)}
}

// settingWithin bounds a statement that Ctrl-C must not interrupt: it takes milliseconds.
const settingWithin = 30 * time.Second

// cleanupMost bounds the wait until the server knows that a statement is given up.
const cleanupMost = 5 * time.Second

func (w *worker) execute(ctx context.Context, c Change, sql string) error {
	if c.Kind == Setting {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settingWithin)
		defer cancel()
		_, err := w.conn.Exec(ctx, sql)
		return err
	}
	if c.Index != "" && strings.HasPrefix(sql, "CREATE") {
		if err := w.clear(ctx, c); err != nil {
			return err
		}
	}
	wait := w.LockWait
	if strings.Contains(sql, concurrently) {
		wait = 0
	}
	if _, err := w.conn.Exec(ctx, fmt.Sprintf("SET lock_timeout = %d", wait.Milliseconds())); err != nil {
		return err
	}
	_, err := w.conn.Exec(ctx, sql)
	if ctx.Err() != nil { // the server goes on with a build until it is told
		select {
		case <-w.conn.PgConn().CleanupDone():
		case <-time.After(cleanupMost):
		}
	}
	return err
}

package advise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
)

// settle makes the settings take effect: a reload, or a restart of what is ours. After an apply a server that does not
// start gets the old settings back.
func (w *worker) settle(ctx context.Context, applied bool) error {
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
	if err := w.overridden(ctx); err != nil {
		return err
	}
	if !w.restart {
		w.Say("the server was reloaded")
		return nil
	}
	var pending []string
	const sql = "SELECT ARRAY(SELECT name FROM pg_settings WHERE pending_restart)"
	if err := w.fresh(ctx, sql, &pending); err != nil {
		return err
	}
	switch {
	case len(pending) == 0:
		return nil
	case w.Restart == nil:
		w.need("restart the server: some of these settings take effect only then. If it does not start with them, " +
			"'plimsoll advise --revert' restores the old ones in its file, on its own machine")
		return nil
	}
	w.Say("the server was restarted")
	w.conn.Close(ctx)
	err := w.Restart(whole) // its last checkpoint may take minutes: given up in between, it would stay down
	if err == nil || !applied || w.Start == nil {
		return err
	}
	return w.startAgain(whole, pending, err)
}

func (w *worker) need(text string) {
	if w.out.Needs != "" {
		w.out.Needs += "; "
	}
	w.out.Needs += text
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
	// Each look is a new connection to a server that may be busy: the later, the rarer.
	for pause := reloadLook; ; pause = min(2*pause, reloadLookMost) {
		if err := w.fresh(ctx, sql, &after); err != nil {
			return err
		}
		if after.After(before) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server did not reload its settings: %w", ctx.Err())
		case <-time.After(pause):
		}
	}
}

const (
	reloadLook     = 20 * time.Millisecond
	reloadLookMost = time.Second
)

// overridden settings are in the file and have no effect: the server's command line, or the database, overrides it.
func (w *worker) overridden(ctx context.Context) error {
	var names []string
	for _, s := range w.out.Steps {
		if s.Change.Kind == Setting && s.State == Done {
			names = append(names, s.Change.Name)
		}
	}
	var over []string
	const sql = `SELECT ARRAY(SELECT name || ' (' || source || ')' FROM pg_settings WHERE name = ANY ($1)
		AND source IN ('command line', 'environment variable', 'database') AND NOT pending_restart ORDER BY name)`
	if err := w.fresh(ctx, sql, &over, names); err != nil {
		return err
	}
	if len(over) > 0 {
		w.need("set elsewhere, which overrides ALTER SYSTEM, so without effect: " + strings.Join(over, ", "))
	}
	return nil
}

// startAgain restores the settings that the restart was for, in the file of the server that does not start, and starts
// it with them.
func (w *worker) startAgain(ctx context.Context, pending []string, why error) error {
	of := func(s Step) bool { return slices.Contains(pending, s.Change.Name) }
	put, err := w.journal.revertSettings(of)
	w.shown(put)
	if errors.Is(err, errRuns) { // it was not stopped
		return problem.New(problem.ClassOf(why), fmt.Errorf("the server was not restarted: %w", why),
			"some of these settings take effect at its next start")
	}
	if err != nil {
		w.out.ByHand = w.journal.byHand(of)
		return problem.New(problem.ClassOf(why), fmt.Errorf("the server is down: it did not start with the new "+
			"settings (%w), and the old ones could not be restored: %w", why, err),
			"change the listed lines, and start it")
	}
	for _, s := range put {
		w.Say("%s: restored in %s", s.Change.Name, w.journal.autoConf())
	}
	if w.DSN, err = w.Start(ctx); err != nil {
		return problem.New(problem.ClassOf(why), fmt.Errorf("the server is down: it started neither with the new "+
			"settings (%w) nor with the old ones (%w)", why, err), "the old settings are in "+w.journal.autoConf())
	}
	return problem.New(problem.ClassOf(why), fmt.Errorf("the server did not start with %s; "+
		"it runs with the old settings again: %w", changesText(put), why),
		"other changes stay applied; 'plimsoll advise --revert' undoes them")
}

// shown in the outcome: steps that it has, as they are by now.
func (w *worker) shown(put []Step) {
	for _, s := range put {
		for i := range w.out.Steps {
			if w.out.Steps[i].Change == s.Change {
				w.out.Steps[i] = s
			}
		}
	}
}

func changesText(steps []Step) string {
	var all []string
	for _, s := range steps {
		all = append(all, s.Change.Name+" = "+s.Change.Value)
	}
	return strings.Join(all, ", ")
}

// fresh connection, as the server now makes them; the row's first column goes to to.
func (w *worker) fresh(ctx context.Context, sql string, to any, args ...any) error {
	conn, err := postgres.Connect(ctx, w.DSN, ownName)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return conn.QueryRow(ctx, sql, args...).Scan(to)
}

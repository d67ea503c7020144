package advise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Revert undoes what the journal says, the last first. What somebody else changed since is left as it is and reported;
// what the server refuses is listed, and the rest goes on. If the server is down it restores the settings in its file,
// and starts it.
func (h Applier) Revert(ctx context.Context) (*Outcome, error) {
	w, end, err := h.open(ctx)
	if isDown(err) {
		return h.complete().revertDown(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	defer end()
	if err := w.revertAll(ctx); err != nil {
		return w.stopped(err, "'plimsoll advise --revert' continues")
	}
	if err := w.settle(ctx, false); err != nil {
		return w.stopped(err, "the old values are in "+w.journal.path)
	}
	return &w.out, w.refusals(len(w.out.Steps) + len(w.out.Refused))
}

func (w *worker) revertAll(ctx context.Context) error {
	// An index without TABLESPACE was in the database's own, whatever the role has set for new ones.
	if _, err := w.conn.Exec(ctx, "SET default_tablespace = ''"); err != nil {
		return err
	}
	for i := len(w.journal.Steps) - 1; i >= 0; i-- {
		s := &w.journal.Steps[i]
		if !s.open() {
			continue
		}
		err := w.revert(ctx, s)
		if why := (*refused)(nil); errors.As(err, &why) {
			w.refuse(s.Advice, "undo: "+s.Change.text(), why)
			continue
		}
		if err != nil {
			return fmt.Errorf("revert %s: %w", s.Advice, err)
		}
		w.out.Steps = append(w.out.Steps, *s)
	}
	return nil
}

func (w *worker) revert(ctx context.Context, s *Step) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	state, statements, err := w.undo(ctx, *s)
	if err != nil {
		return refusalOf(err)
	}
	for _, sql := range statements {
		err := w.execute(ctx, s.Change, sql)
		if isGone(err) {
			w.Say("%s: what it changed no longer exists", s.Change.text())
			state = Left
			break
		}
		if err != nil {
			return refusalOf(err)
		}
		w.Say("%s", sql)
	}
	if len(statements) > 0 {
		w.needs(s.Change)
	}
	if s.Change.drops() && state == Reverted {
		if err := w.isBack(ctx, s); err != nil {
			return err
		}
	}
	s.State, s.At = state, time.Now().UTC()
	return w.journal.write()
}

// isGone: the table or schema of a change is not there any more.
func isGone(err error) bool {
	const undefinedTable, noSchema = "42P01", "3F000"
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.Code == undefinedTable || answer.Code == noSchema)
}

// isBack: an index whose build failed is there, and serves no query.
func (w *worker) isBack(ctx context.Context, s *Step) error {
	now, err := w.index(ctx, s.Change.Index)
	if err == nil && now.Exists && !now.Valid {
		return &refused{"index " + s.Change.Index + " is invalid; --revert rebuilds it"}
	}
	return refusalOf(err)
}

// undo of a step: the state that it then has, and the SQL; none: there is nothing to undo.
func (w *worker) undo(ctx context.Context, s Step) (state State, statements []string, err error) {
	switch c := s.Change; {
	case c.Kind == Setting:
		return w.undoSetting(ctx, s)
	case c.creates():
		return w.undoBuild(ctx, s)
	case c.drops():
		return w.undoDrop(ctx, s)
	case c.Undo != "":
		return Reverted, []string{c.Undo}, nil
	}
	return Reverted, nil, nil
}

func (w *worker) undoSetting(ctx context.Context, s Step) (state State, statements []string, err error) {
	c := s.Change
	now := Step{Change: c}
	if _, err := w.before(ctx, &now, false); err != nil {
		return "", nil, err
	}
	switch s.stateFor(now.Before) {
	case unchanged: // the step was never made, or was reverted without a note
		w.needs(c)
		return Reverted, nil, nil
	case foreign:
		w.Say("%s is left as it is: somebody has changed it since", c.Name)
		return Left, nil, nil
	}
	if s.Before == nil {
		return Reverted, []string{"ALTER SYSTEM RESET " + c.Name}, nil
	}
	c.Value = *s.Before
	return Reverted, []string{c.text()}, nil
}

// undoBuild drops an index that is as we made it, and that nothing needs by now but queries.
func (w *worker) undoBuild(ctx context.Context, s Step) (state State, statements []string, err error) {
	c := s.Change
	now, err := w.index(ctx, c.Index)
	switch {
	case err != nil:
		return "", nil, err
	case !now.Exists:
		return Reverted, nil, nil
	case now.Builder != 0:
		return "", nil, &refused{fmt.Sprintf("process %d is building it", now.Builder)}
	case now.Needed != "":
		w.Say("index %s is left as it is: it is needed now by %s", c.Index, now.Needed)
		return Left, nil, nil
	case now.Definition != s.Made && !sameIndex(now.Definition, c.SQL):
		w.Say("index %s is left as it is: somebody has created another one since: %s", c.Index, now.Definition)
		return Left, nil, nil
	}
	return Reverted, []string{c.Undo}, nil
}

// undoDrop recreates an index as it was.
func (w *worker) undoDrop(ctx context.Context, s Step) (state State, statements []string, err error) {
	c := s.Change
	statements = s.Restore
	if len(statements) == 0 {
		statements = []string{c.Undo} // of a journal that has no more
	}
	now, err := w.index(ctx, c.Index)
	switch {
	case err != nil:
		return "", nil, err
	case now.Builder != 0:
		return "", nil, &refused{fmt.Sprintf("process %d is building it", now.Builder)}
	case now.Exists && !sameIndex(now.Definition, withoutTablespace(statements[0])):
		w.Say("index %s is left as it is: somebody has created another one since: %s", c.Index, now.Definition)
		return Left, nil, nil
	case now.Exists && now.Valid && s.State == Planned: // it was never dropped
		return Reverted, nil, nil
	}
	return Reverted, statements, nil
}

// withoutTablespace as pg_get_indexdef prints it.
func withoutTablespace(create string) string {
	before, after, has := strings.Cut(create, " TABLESPACE ")
	if !has {
		return create
	}
	if _, where, filtered := strings.Cut(after, " WHERE "); filtered {
		return before + " WHERE " + where
	}
	return before
}

// open step: one that is to be reverted.
func (s Step) open() bool { return slices.Contains([]State{Planned, Done}, s.State) }

// found says how a setting is now, against what a step made of it.
type found int

const (
	ours      found = iota
	unchanged       // as before the step
	foreign         // somebody has changed it since
)

func (s Step) stateFor(now *string) found {
	switch {
	case equal(now, s.Before):
		return unchanged
	case now == nil || !sameValue(*now, s.Change.Value):
		return foreign
	}
	return ours
}

func equal(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return sameValue(*a, *b)
}

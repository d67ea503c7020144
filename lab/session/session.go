package session

import (
	"context"
	"errors"
	"time"
)

// Reasons for which a session stops early. A session may have others (Hopeless).
const (
	ByUser   = "by hand" // the value in stored sessions
	ByBudget = "budget"
)

// GoOn is the hint after a session that has not ended.
const GoOn = "the same command with --resume continues"

// StoppedBy is such a reason as a reader sees it.
func StoppedBy(reason string) string {
	if reason == ByUser {
		return "by the user"
	}
	return reason
}

// cleanUpWithin bounds what follows a turn, also after Ctrl-C.
const cleanUpWithin = time.Minute

// Session of turns that a T describes. Only Next and Make are needed.
type Session[T any] struct {
	// Next turn; false: none is left.
	Next func() (turn T, more bool)
	// Hopeless says why no further turn would help; empty: it may.
	Hopeless func() string
	// Make a turn and add it to those made, unless there is an error. One that was complete before the user stopped
	// the session counts.
	Make func(context.Context, T) error
	// CleanUp removes what a turn leaves behind, however it ended, so that a system is idle between its turns.
	CleanUp func(context.Context, T) error
	// Keep what was made and why the session stopped; empty: it goes on, or is complete.
	Keep func(stopped string) error
	// Ended is told of each turn after it was kept.
	Ended func(T)

	Began  time.Time
	Budget time.Duration // begin no turn that would end later; 0: no limit
	// Takes estimates the duration of a turn, for the budget.
	Takes func(T) time.Duration
}

// Over is a session of turns that are all known before.
func Over[T any](turns []T, play func(context.Context, T) error) Session[T] {
	made := 0
	return Session[T]{
		Next: func() (turn T, more bool) {
			if made < len(turns) {
				return turns[made], true
			}
			return turn, false
		},
		Make: func(ctx context.Context, turn T) error {
			err := play(ctx, turn)
			if err == nil {
				made++
			}
			return err
		},
	}
}

// All makes the turns that are left, and keeps what was made whatever ends them. Stopped says why they ended early, if
// only by the text of the error.
func (s Session[T]) All(ctx context.Context) (stopped string, err error) {
	for more := true; more; {
		more, stopped, err = s.Step(ctx)
	}
	if err != nil && stopped == "" {
		stopped = err.Error()
	}
	return stopped, errors.Join(err, s.keep(stopped))
}

// Step makes the next turn; more is false if it was not made.
func (s Session[T]) Step(ctx context.Context) (more bool, stopped string, err error) {
	turn, more := s.Next()
	if !more {
		return false, "", nil
	}
	if stopped = s.stops(ctx, turn); stopped != "" {
		return false, stopped, nil
	}
	err = s.Make(ctx, turn)
	cleanUp := s.cleanUp(ctx, turn)
	switch {
	case err != nil && ctx.Err() != nil:
		return false, ByUser, cleanUp
	case err != nil:
		return false, "", err
	case cleanUp != nil:
		return false, "", cleanUp
	}
	if err := s.keep(""); err != nil {
		return false, "", err
	}
	if s.Ended != nil {
		s.Ended(turn)
	}
	return true, "", nil
}

// stops says why the next turn is not begun; empty: it is.
func (s Session[T]) stops(ctx context.Context, turn T) string {
	switch {
	case ctx.Err() != nil:
		return ByUser
	case s.Budget > 0 && time.Since(s.Began)+s.Takes(turn) > s.Budget:
		return ByBudget
	case s.Hopeless != nil:
		return s.Hopeless()
	}
	return ""
}

func (s Session[T]) cleanUp(ctx context.Context, turn T) error {
	if s.CleanUp == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpWithin)
	defer cancel()
	return s.CleanUp(ctx, turn)
}

func (s Session[T]) keep(stopped string) error {
	if s.Keep == nil {
		return nil
	}
	return s.Keep(stopped)
}

// Share of a session that is done, given the time that is left.
func Share(elapsed, left time.Duration) float64 {
	return elapsed.Seconds() / max(1e-3, (elapsed+left).Seconds())
}

// Package group owns the markers of groups of objects that are changed together over several transactions. After a
// crash they tell which groups are half-done, and each of these is finished or undone.
//
//	Run ─▶ row with all members, none done ─▶ member 1, counted ─▶ … ─▶ last member, counted = whole
//	                │ killed, cancelled, failed: half-done, and nobody holds the lock of the scope
//	                ├── Finish ─▶ the members that are left, in order ─▶ whole
//	                └── Undo ───▶ the members that are done, the last one first ─▶ undone
//
// A member is counted in its own transaction, so the count is exact whatever suffix of the log a crash loses. Who works
// on a group holds the advisory lock of its scope in a session of its own, which the server releases however that
// process ends. Whoever takes a group over writes a new owner into its row; a step of an owner who has lost it finds
// that, and is rolled back. So each member is done once.
package group

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// State of a group.
type State string

const (
	Doing   State = "doing"   // members are done one after the other
	Undoing State = "undoing" // members are undone, the last one first
	Whole   State = "whole"   // all members are done
	Undone  State = "undone"  // none is
)

// Ended says whether the group is final.
func (s State) Ended() bool { return s == Whole || s == Undone }

// Retention is how long groups that have ended are remembered.
const Retention = 30 * 24 * time.Hour

var (
	// ErrTaken means that somebody else has taken the group over; the step was not done.
	ErrTaken = errors.New("the group has been taken over")
	// ErrBusy means that somebody works on the scope.
	ErrBusy = errors.New("somebody else is working on it")
	// ErrUnknown means that there is no such group.
	ErrUnknown = errors.New("no such group")
	// ErrEnded means that the group is whole or undone.
	ErrEnded = errors.New("the group is not half-done")

	errWaits = errors.New("the group is waiting for a decision")
)

// Kind of group, as registered by an application.
type Kind struct {
	Name string
	// Do carries out a member, Undo reverts it, each in one transaction that includes Step.Count. They may be called
	// for a member that was done and undone before.
	Do, Undo func(ctx context.Context, s Step) error
	// Undoing, if set, is called when somebody has decided to undo a group, or goes on with that, and nobody else works
	// on its scope: it stops what would do the group again.
	Undoing func(ctx context.Context, g Group) error
}

// Group of objects that are changed together.
type Group struct {
	ID   id.ID  `json:"id"`
	Kind string `json:"kind"`
	// Scope is what the objects belong to: of a kind there is one unfinished group in a scope.
	Scope     string            `json:"scope"`
	Title     string            `json:"title"`
	State     State             `json:"state"`
	Done      int               `json:"done"`
	Planned   int               `json:"planned"`
	Why       string            `json:"why,omitempty"` // it was left; empty after a crash
	Begun     time.Time         `json:"begun"`
	Changed   time.Time         `json:"changed"`
	Members   []json.RawMessage `json:"members"`
	Arguments json.RawMessage   `json:"arguments"`

	owner id.ID
}

// Groups of an application on a database.
type Groups struct {
	db    *database.Database
	kinds map[string]Kind
}

// New makes the groups of an application.
func New(db *database.Database, kinds ...Kind) *Groups {
	g := &Groups{db: db, kinds: map[string]Kind{}}
	for _, k := range kinds {
		g.kinds[k.Name] = k
	}
	return g
}

// Order asks for a group.
type Order struct {
	Kind, Scope, Title string
	// Arguments tell whether a group that was left is this one.
	Arguments any
	// Plan lists the members, each with the id of what it makes. It is asked while nobody else works on the scope. No
	// members: there is nothing to do.
	Plan func(ctx context.Context) ([]any, error)
}

// OtherLeft is the error that another group of the same scope was left half-done.
type OtherLeft struct{ Group Group }

func (e *OtherLeft) Error() string {
	return fmt.Sprintf("%s is half-done (%d of %d): finish or undo it first ('plimsoll groups')", e.Group.Title,
		e.Group.Done, e.Group.Planned)
}

// Run carries out a group, or goes on with the same one if it was left. It waits while another works on the scope.
func (g *Groups) Run(ctx context.Context, o Order) (Group, error) {
	arguments, err := json.Marshal(o.Arguments)
	if err != nil {
		return Group{}, err
	}
	release, err := g.hold(ctx, o.Kind, o.Scope, true)
	if err != nil {
		return Group{}, fmt.Errorf("%s: %w", o.Title, err)
	}
	defer release()
	if settled, err := g.settle(ctx, o, arguments); err != nil {
		return settled, err
	}
	members, err := o.Plan(ctx)
	if err != nil || len(members) == 0 {
		return Group{State: Whole}, err
	}
	one := &Group{ID: id.New(), Kind: o.Kind, Scope: o.Scope, Title: o.Title, State: Doing, Planned: len(members),
		Arguments: arguments, owner: id.New()}
	if err := g.begin(ctx, one, members); err != nil {
		return *one, fmt.Errorf("%s: %w", o.Title, err)
	}
	err = g.carryOut(ctx, one)
	return *one, err
}

// settle what was left of the scope, under its lock: the same group is finished, and one of which nothing was done is
// dropped. The last step of an owner that is dead may be committed meanwhile, so it looks until nothing is left.
func (g *Groups) settle(ctx context.Context, o Order, arguments []byte) (settled Group, err error) {
	for {
		left, same, err := g.unfinished(ctx, o.Kind, o.Scope, arguments)
		switch {
		case err != nil:
			return settled, fmt.Errorf("%s: %w", o.Title, err)
		case left == nil:
			return settled, nil
		case same && left.State == Doing:
			if settled, err = g.takeOver(ctx, left, Doing); err != nil && !errors.Is(err, ErrEnded) {
				return settled, err
			}
		case left.Done > 0:
			return settled, &OtherLeft{*left}
		default:
			if err := g.drop(ctx, left); err != nil {
				return settled, fmt.Errorf("%s: %w", o.Title, err)
			}
		}
	}
}

// Finish does the members of a half-done group that are left.
func (g *Groups) Finish(ctx context.Context, v id.ID) (Group, error) { return g.resume(ctx, v, Doing) }

// Undo reverts the members of a half-done group that are done.
func (g *Groups) Undo(ctx context.Context, v id.ID) (Group, error) { return g.resume(ctx, v, Undoing) }

// asLeft goes on with a group in its own direction, unless it was left for a reason.
const asLeft State = ""

func (g *Groups) resume(ctx context.Context, v id.ID, direction State) (Group, error) {
	one, err := g.show(ctx, v)
	if err != nil {
		return Group{}, err
	}
	release, err := g.hold(ctx, one.Kind, one.Scope, false)
	if err != nil {
		return *one, fmt.Errorf("%s: %w", one.Title, err)
	}
	defer release()
	if direction == asLeft {
		// somebody may have decided since it was listed: the row is read under the lock
		if one, err = g.show(ctx, v); err != nil {
			return Group{}, err
		}
		if direction = one.State; one.Why != "" {
			return *one, errWaits
		}
		if direction.Ended() {
			return *one, ErrEnded
		}
	}
	if err := g.take(ctx, one, direction); err != nil {
		return *one, err
	}
	if undoing := g.kinds[one.Kind].Undoing; direction == Undoing && undoing != nil {
		if err := undoing(ctx, *one); err != nil {
			g.abandon(ctx, one, err)
			return *one, fmt.Errorf("%s: %w", one.Title, err)
		}
	}
	err = g.carryOut(ctx, one)
	return *one, err
}

// Recover goes on with all groups that a crash left, each in its direction, and forgets old ones that have ended. A
// group that was left for a reason waits for somebody who decides.
func (g *Groups) Recover(ctx context.Context) (recovered, waiting []Group, err error) {
	left, err := g.HalfDone(ctx)
	for _, one := range left {
		if one.Why != "" {
			waiting = append(waiting, one)
			continue
		}
		done, err1 := g.resume(ctx, one.ID, asLeft)
		switch {
		case err1 == nil:
			recovered = append(recovered, done)
		case ctx.Err() != nil:
			return recovered, waiting, ctx.Err()
		case errors.Is(err1, errWaits):
			waiting = append(waiting, done)
		case errors.Is(err1, ErrUnknown): // ended, and forgotten
		case !errors.Is(err1, ErrBusy) && !errors.Is(err1, ErrEnded) && !errors.Is(err1, ErrTaken):
			one.Why = err1.Error()
			waiting = append(waiting, one)
		}
	}
	return recovered, waiting, errors.Join(err, g.forget(ctx))
}

// takeOver takes over a group, under the lock of its scope, and carries it out in a direction.
func (g *Groups) takeOver(ctx context.Context, one *Group, direction State) (Group, error) {
	if err := g.take(ctx, one, direction); err != nil {
		return *one, err
	}
	err := g.carryOut(ctx, one)
	return *one, err
}

// carryOut does or undoes member by member. When that fails, what was done stays, and the group is left half-done.
func (g *Groups) carryOut(ctx context.Context, one *Group) error {
	if one.State.Ended() {
		return nil // nothing was done of it
	}
	k, known := g.kinds[one.Kind]
	if !known {
		return fmt.Errorf("%s: unknown kind of group %q; another version created it", one.Title, one.Kind)
	}
	for !one.State.Ended() {
		s, do := Step{group: one, N: one.Done, to: one.Done + 1}, k.Do
		if one.State == Undoing {
			s.N, s.to, do = one.Done-1, one.Done-1, k.Undo
		}
		s.Member = one.Members[s.N]
		if err := do(ctx, s); err != nil {
			g.abandon(ctx, one, err)
			return fmt.Errorf("%s: %d of %d: %w", one.Title, s.N+1, one.Planned, err)
		}
		one.Done, one.State = s.to, s.state()
	}
	return nil
}

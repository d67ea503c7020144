// Package background owns the list of the ERP's background jobs.
package background

import (
	"context"
	"log/slog"

	"plimsoll/erp/monthclose"
	"plimsoll/erp/recalculation"
	"plimsoll/erp/restoration"
	"plimsoll/erp/rewriting"
	"plimsoll/platform/books/group"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/jobs"
)

// Groups of objects that jobs change together over several transactions.
func Groups(db *database.Database) *group.Groups { return group.New(db, monthclose.GroupKind(db)) }

// undoable groups: a part that a killed worker left in the queue, or that waits until nobody else works on the group,
// would do again what is undone, so it is dropped first.
func undoable(db *database.Database, all *jobs.Jobs) *group.Groups {
	months := monthclose.GroupKind(db)
	months.Undoing = func(ctx context.Context, g group.Group) error {
		return all.Drop(ctx, g.Kind, "organisation", g.Scope, g.Changed)
	}
	return group.New(db, months)
}

// Undo reverts what is done of a group.
func Undo(ctx context.Context, db *database.Database, all *jobs.Jobs, v id.ID) (group.Group, error) {
	return undoable(db, all).Undo(ctx, v)
}

// Recover finishes or undoes the groups that a crash left half-done, and names those that wait for a decision.
func Recover(ctx context.Context, db *database.Database, all *jobs.Jobs, log *slog.Logger) error {
	recovered, waiting, err := undoable(db, all).Recover(ctx)
	for _, g := range recovered {
		log.Warn("recovered a group that was half-done", "group", g.Title, "is", g.State)
	}
	for _, g := range waiting {
		log.Warn("a group is half-done: 'plimsoll groups' finishes or undoes it", "group", g.Title, "done", g.Done,
			"planned", g.Planned, "why", g.Why)
	}
	return err
}

// New makes the ERP's jobs on a database, which they have to themselves: work on so many parts at once takes
// jobs.Connections of them.
func New(db *database.Database, log *slog.Logger) (*jobs.Jobs, error) {
	return jobs.New(db, log, []jobs.Kind{
		restoration.Job(db),
		rewriting.Job(db),
		recalculation.Job(db),
		monthclose.Job(db),
	})
}

// Package background owns the list of the ERP's background jobs.
package background

import (
	"context"
	"log/slog"

	"plimsoll/erp/monthclose"
	"plimsoll/erp/recalculation"
	"plimsoll/erp/restoration"
	"plimsoll/erp/rewriting"
	"plimsoll/platform/database"
	"plimsoll/platform/group"
	"plimsoll/platform/id"
	"plimsoll/platform/jobs"
)

// Groups of objects that jobs change together over several transactions.
func Groups(db *database.Database) *group.Groups { return group.New(db, monthclose.GroupKind(db)) }

// Undo takes back what is done of a group. The part of a killed worker is still in the queue, and the next worker would
// do again what is undone here, so it is dropped.
func Undo(ctx context.Context, db *database.Database, all *jobs.Jobs, v id.ID) (group.Group, error) {
	undone, err := Groups(db).Undo(ctx, v)
	if err == nil {
		err = all.Drop(context.WithoutCancel(ctx), undone.Kind, "organisation", undone.Scope, undone.Begun)
	}
	return undone, err
}

// Recover finishes or undoes the groups that a crash left half-done, and names those that wait for a decision.
func Recover(ctx context.Context, db *database.Database, log *slog.Logger) error {
	recovered, waiting, err := Groups(db).Recover(ctx)
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

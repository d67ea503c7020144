// Package background owns the list of the ERP's background jobs.
package background

import (
	"log/slog"

	"plimsoll/erp/monthclose"
	"plimsoll/erp/recalculation"
	"plimsoll/erp/restoration"
	"plimsoll/erp/rewriting"
	"plimsoll/platform/database"
	"plimsoll/platform/jobs"
)

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

// Package erp owns the ERP under test as the application server sees it: its metadata,
// the rules by which its documents are posted, and its reports.
//
// A worker is made in three steps; as many as wanted serve one database:
//
//	db, err := database.Open(ctx, dsn, database.Options{})
//	err = erp.Migrate(ctx, db)
//	worker, err := erp.NewServer(server.Config{Database: db})
//	err = worker.Serve(ctx, listener) // until ctx is done, then it drains
package erp

import (
	"context"

	"plimsoll/platform/database"
	"plimsoll/platform/jobs"
	"plimsoll/platform/schema"
	"plimsoll/platform/server"
)

// Migrate creates the tables of the ERP or brings them forward; it loses nothing and
// refuses a database made by a newer version. Every worker may call it at start.
func Migrate(ctx context.Context, db *database.Database) error {
	if err := schema.Migrate(ctx, db, Metadata()); err != nil {
		return err
	}
	return jobs.Migrate(ctx, db)
}

// NewServer makes a worker that serves the ERP. Users look at the closing of a month, and ask a job for it: what a document of it says is
// computed, once for a month.
func NewServer(config server.Config) (*server.Server, error) {
	rules := Rules()
	delete(rules, MonthClose)
	return server.New(config, server.Application{
		Metadata: Metadata(), Rules: rules, Login: login, Users: Users,
		Reports: map[string]server.Report{
			"stock": stockReport, "trial-balance": trialBalanceReport, "account-card": accountCardReport, "settlements": settlementsReport,
			"to-ship": toShipReport, "to-receive": toReceiveReport,
		},
	})
}

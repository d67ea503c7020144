// Package repair repairs the books of the ERP: the platform's repair, with the ERP's rules and its audit.
package repair

import (
	"context"

	"plimsoll/erp"
	erpaudit "plimsoll/erp/audit"
	"plimsoll/platform/care/audit"
	"plimsoll/platform/care/repair"
	"plimsoll/platform/data/database"
)

// Connections that a repair needs for itself, besides those of the audit.
const Connections = 3

// Run audits the books and repairs them.
func Run(ctx context.Context, db *database.Database, options repair.Options) (repair.Report, error) {
	look := func(ctx context.Context, o audit.Options) (audit.Report, error) { return erpaudit.RunAs(ctx, db, o) }
	return repair.New(db, erp.Metadata(), erp.Rules(), look).Run(ctx, options)
}

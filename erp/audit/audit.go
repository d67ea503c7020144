// Package audit owns the answer to: do the books of the ERP balance? To what holds for any
// application it adds what holds for trade: stock never below zero, stock worth what account 41 says, and
// every document in the ledger for exactly what its lines say.
package audit

import (
	"context"
	"slices"
	"sync"

	"plimsoll/erp"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/care/audit"
	"plimsoll/platform/data/database"
)

// The report is the platform's.
type (
	Report    = audit.Report
	Check     = audit.Check
	Violation = audit.Violation
	Digest    = audit.Digest
	Options   = audit.Options
	Mode      = audit.Mode
)

// ExamplesMax is how many violations of an invariant are named by default.
const ExamplesMax = audit.ExamplesMax

// The modes, too.
const (
	All        = audit.All
	SinceClean = audit.SinceClean
	Sample     = audit.Sample
)

// Run checks every invariant in whole and in one snapshot, so it may run during live posting, and leaves nothing
// behind.
func Run(ctx context.Context, db *database.Database) (Report, error) {
	return RunAs(ctx, db, Options{})
}

// RunAs checks what the options say.
func RunAs(ctx context.Context, db *database.Database, options Options) (Report, error) {
	app := erp.Metadata()
	options.Books = posting.New(db, app, erp.Rules())
	return audit.Run(ctx, db, app, Invariants(), options)
}

// Invariants of the registers, and of the types of documents; a new type adds its own.
func Invariants() []audit.Invariant { return slices.Clone(invariants()) }

var invariants = sync.OnceValue(func() []audit.Invariant {
	return slices.Concat(audit.Invariants(erp.Metadata()), stock, settlements, vat, advances, cash, goodsReceipt,
		goodsSale,
		serviceSale, invoiceIssued, bankReceipt, internalConsumption, warehouseIssueOrder, settlementRegistrar,
		otherGoodsReceipt, servicePurchase, invoiceReceived, paymentRequest, bankPayment, warehouseReceiptOrder,
		assetCommissioning, monthClose)
})

// Connections that look at once, when so many are asked for.
func Connections(wanted int) int { return audit.Connections(wanted) }

// Books takes the digest of what the books hold.
func Books(ctx context.Context, db *database.Database) (Digest, error) {
	return audit.Books(ctx, db, erp.Metadata())
}

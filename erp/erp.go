// Package erp assembles the ERP under test as the application server sees it: the documents and reports of the packages
// by subject, and what they share in books, in the order in which tables are made and registers are written.
//
// A worker is made in three steps; as many as wanted serve one database:
//
//	db, err := database.Open(ctx, dsn, database.Options{})
//	err = schema.Claim(ctx, db) // an empty database becomes ours
//	err = erp.Migrate(ctx, db)
//	worker, err := erp.NewServer(server.Config{Database: db})
//	err = worker.Serve(ctx, listener) // until ctx is done, then it drains
package erp

import (
	"context"

	"plimsoll/erp/assets"
	"plimsoll/erp/books"
	"plimsoll/erp/closing"
	"plimsoll/erp/invoices"
	"plimsoll/erp/money"
	"plimsoll/erp/purchases"
	"plimsoll/erp/reports"
	"plimsoll/erp/sales"
	"plimsoll/erp/warehouse"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/worker/jobs"
	"plimsoll/platform/worker/server"
)

// Migrate creates the tables of the ERP or upgrades them; it loses nothing and refuses a database made by a newer
// version. Every worker may call it at start.
func Migrate(ctx context.Context, db *database.Database) error {
	if err := schema.Migrate(ctx, db, Metadata()); err != nil {
		return err
	}
	return jobs.Migrate(ctx, db)
}

// NewServer makes a worker that serves the ERP. Users can read the close of a month, and start a job for it: the
// content of its document is computed, once per month.
func NewServer(config server.Config) (*server.Server, error) {
	app, rules := Metadata(), Rules()
	delete(rules, books.MonthClose)
	return server.New(config, server.Application{
		Metadata: app, Rules: rules, Login: login, Users: Users, Reports: reports.All(app),
	})
}

// Version grows with every released change of the description.
const Version = 4

// documentTypes are all there are; a new one is added here. What closes the books comes last: it looks at the others.
func documentTypes() []books.DocumentType {
	all := []books.DocumentType{
		sales.CustomerOrder(),
		purchases.SupplierOrder(),
		purchases.GoodsReceipt(),
		sales.GoodsSale(),
		sales.ServiceSale(),
		invoices.Issued(),
		money.BankReceipt(),
		warehouse.InternalConsumption(),
		warehouse.IssueOrder(),
		money.SettlementRegistrar(),
		warehouse.OtherGoodsReceipt(),
		purchases.ServicePurchase(),
		invoices.Received(),
		money.PaymentRequest(),
		money.BankPayment(),
		warehouse.ReceiptOrder(),
		assets.Commissioning(),
	}
	return append(all, closing.MonthClose(described(all)))
}

func described(types []books.DocumentType) []metadata.Document {
	documents := make([]metadata.Document, len(types))
	for i, t := range types {
		documents[i] = t.Document
	}
	return documents
}

// Metadata describes the ERP. Registers are written in the order in which they stand here.
func Metadata() *metadata.Application {
	app := &metadata.Application{
		Name: "erp", Version: Version, Catalogs: books.Catalogs(), Documents: described(documentTypes()),
		Owners: books.Organisations, Authors: books.Users,
		Accounting: []metadata.Accounting{*books.General.Meta()},
	}
	for _, r := range []books.Information{
		books.SupplierNumbers, books.Invoices, books.InvoiceNumbers, books.BankReferences, books.Requests,
		books.AssetStates,
	} {
		app.Information = append(app.Information, *r.Meta())
	}
	for _, r := range []books.Register{
		books.CustomerOrders, books.SupplierOrders, books.Stock, books.Batches, books.Reserves, books.ToReceive,
		books.ToShip, books.Cells,
		books.CustomerSettlements, books.SupplierSettlements, books.CustomerPlan, books.SupplierPlan,
		books.InputVAT, books.OutputVAT, books.PurchaseBook, books.SalesBook, books.Cash, books.PaymentPlan,
		books.Payments, books.CustomerAdvances,
		books.SupplierAdvances, books.Investments, books.AssetCosts,
	} {
		app.Accumulation = append(app.Accumulation, *r.Meta())
	}
	return app
}

// Rules of the documents, by name.
func Rules() map[string]posting.Rules {
	rules := map[string]posting.Rules{}
	for _, t := range documentTypes() {
		rules[t.Name] = t.Rules
	}
	return rules
}

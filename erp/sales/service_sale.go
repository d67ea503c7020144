package sales

import (
	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/model/metadata"
)

// ServiceSale is the type of document: its description and its rules.
func ServiceSale() books.DocumentType {
	return books.DocumentType{Rules: serviceSaleRules{}, Document: metadata.Document{
		Name: books.ServiceSale, Title: "Sale of services", Prefix: "SV", Search: []string{"counterparty"},
		Registers:  books.Names(books.CustomerSettlements, books.OutputVAT, books.General),
		Attributes: books.DealHeader(), Sections: []metadata.Section{books.PricedLines(books.Service)},
	}}
}

// serviceSaleRules: services are sold at their price, within the credit limit.
//
//	SC+ · VAT+  ·  Dr 62 Cr 90 total  ·  Dr 90 Cr 68 VAT
type serviceSaleRules struct{}

func (serviceSaleRules) Reads() map[string][]string {
	return map[string][]string{books.Services: books.Names(books.VATRate, books.Price),
		books.Contracts: books.SettlementReads}
}

func (serviceSaleRules) Needs(d *document.Document) posting.Needs {
	return posting.Needs{Read: []posting.Need{
		books.CustomerSettlements.Need(d, books.CustomerSettlements.Key(books.Contract.In(d))),
	}}
}

func (serviceSaleRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := books.CheckDeal(d, facts, books.Customer); err != nil {
		return nil, err
	}
	if err := books.PriceLines(d, facts, books.Service, books.Price); err != nil {
		return nil, err
	}
	if err := books.WithinCredit(d, facts, books.Total.In(d)); err != nil {
		return nil, err
	}
	sales := ledger.At(books.AccountSales)
	return &posting.Records{
		Movements: []*register.Movements{books.Settle(d, facts, books.CustomerSettlements, false, books.Total.In(d)),
			books.ChargeVAT(d, books.OutputVAT)},
		Entries: books.General.Entries(
			books.DebitCredit(books.SettlementAccount(d, books.AccountCustomers), sales, books.Total.In(d)),
			books.DebitCredit(sales, ledger.At(books.AccountTaxes), books.VAT.In(d))),
	}, nil
}

// Restate implements posting.Evident.
func (serviceSaleRules) Restate(_ *document.Document, facts *posting.Facts, _ *posting.Records) {
	books.NoLimits(facts)
}

package erp

import (
	"plimsoll/platform/document"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
)

// ServiceSale is the type of document.
const ServiceSale = "service_sale"

func serviceSale() metadata.Document {
	return metadata.Document{
		Name: ServiceSale, Title: "Sale of services", Prefix: "SV", Search: []string{"counterparty"},
		Registers:  []string{CustomerSettlements, OutputVAT, General},
		Attributes: trade(), Sections: []metadata.Section{linesOf("service", "services")},
	}
}

// serviceSaleRules: services are sold at their price, within the credit limit.
//
//	SC+ · VAT+  ·  Dr 62 Cr 90 total  ·  Dr 90 Cr 68 VAT
type serviceSaleRules struct{}

func (serviceSaleRules) Reads() map[string][]string {
	return map[string][]string{"services": {"vat_rate", "price"}, "contracts": settlementReads}
}

func (serviceSaleRules) Balances(d *document.Document) []posting.Balance {
	return []posting.Balance{need(d, CustomerSettlements, contractKeys(d, CustomerSettlements))}
}

func (serviceSaleRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := deal(d, facts, "customer"); err != nil {
		return nil, err
	}
	if err := priceLinesOf(d, facts.Catalogs["services"], "service", "price"); err != nil {
		return nil, err
	}
	if err := withinCredit(d, facts, sumOf(d, "total")); err != nil {
		return nil, err
	}
	sales := ledger.At(AccountSales)
	return &posting.Records{
		Movements: []*register.Movements{settle(d, facts, CustomerSettlements, false, sumOf(d, "total")), charge(d, OutputVAT)},
		Entries: entriesOf(
			entry{settlementAccount(d, AccountCustomers), sales, sumOf(d, "total")},
			entry{sales, ledger.At(AccountTaxes), sumOf(d, "vat")}),
	}, nil
}

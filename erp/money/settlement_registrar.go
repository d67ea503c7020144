package money

import (
	"fmt"

	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// SettlementRegistrar is the type of document: its description and its rules.
func SettlementRegistrar() books.DocumentType {
	return books.DocumentType{Rules: registrarRules{}, Document: metadata.Document{
		Name: books.SettlementRegistrar, Title: "Settlement registrar", Prefix: "SR",
		Optional:   books.Names(books.CustomerSettlements, books.SupplierSettlements, books.General),
		Attributes: books.Attributes(books.Amount.Computed()),
		Sections: []metadata.Section{books.LineSection(2, books.Contract.Required(), books.Supplier,
			books.DocumentRef(books.SourceOrder, books.CustomerOrder, books.SupplierOrder), debit, credit)},
	}}
}

var (
	debit  = books.MoneyAttr("debit")
	credit = books.MoneyAttr("credit")
)

// registrarRules: debts move between contracts and objects of settlement, or are set off against each other. A debit
// is for us: a customer owes more, or we owe a supplier less; a credit is against us. Both sum to the same, so what
// is owed to us less what we owe stays what it was.
//
//	SC± · SS±  ·  Dr 62/60 Cr 62/60, unless it stays within a contract
type registrarRules struct{}

func (registrarRules) Reads() map[string][]string {
	return map[string][]string{books.Contracts: books.SettlementReads, books.CustomerOrder: books.Names(books.Contract),
		books.SupplierOrder: books.Names(books.Contract)}
}

func (registrarRules) Needs(*document.Document) posting.Needs { return posting.Needs{} }

func (registrarRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	lines := claimsOf(d)
	var debits, credits amount.Money
	for i := range lines {
		if err := lines[i].check(facts); err != nil {
			return nil, err
		}
		var err error
		if debits, err = amount.Sum(debits, lines[i].debit); err != nil {
			return nil, err
		}
		if credits, err = amount.Sum(credits, lines[i].credit); err != nil {
			return nil, err
		}
	}
	if debits != credits {
		return nil, &posting.Refusal{
			Control: "total", Items: []Imbalance{{debits, credits}},
			Message: fmt.Sprintf("the total owed would change: %s in debit, %s in credit", debits, credits),
		}
	}
	books.Amount.Set(d, debits)
	return &posting.Records{Movements: claimed(lines), Entries: pairs(lines)}, nil
}

// Imbalance is what the control of the total refused.
type Imbalance struct {
	Debit  amount.Money `json:"debit"`
	Credit amount.Money `json:"credit"`
}

// claim is a line: a contract and object, for us or against us.
type claim struct {
	field           string
	contract, order id.ID
	supplier        bool
	debit, credit   amount.Money
	account         ledger.Account
}

func claimsOf(d *document.Document) []claim {
	lines := books.Lines(d)
	all := make([]claim, lines.Rows())
	for i := range all {
		all[i] = claim{
			field: fmt.Sprintf("lines[%d].", i), contract: books.Contract.Of(lines)[i],
			order:    books.SourceOrder.Of(lines)[i],
			supplier: books.Supplier.Of(lines)[i], debit: debit.Of(lines)[i], credit: credit.Of(lines)[i],
		}
	}
	return all
}

// side of the contract, with the account and the type of order that belong to it.
func (c *claim) side() (side books.Attribute[bool], account, order string) {
	if c.supplier {
		return books.Supplier, books.AccountSuppliers, books.SupplierOrder
	}
	return books.Customer, books.AccountCustomers, books.CustomerOrder
}

// check a line, and find its account.
func (c *claim) check(facts *posting.Facts) error {
	contracts := facts.Catalogs[books.Contracts]
	side, account, order := c.side()
	if (c.debit == 0) == (c.credit == 0) {
		return &document.Invalid{Field: c.field + debit.Name(), Reason: "either a debit or a credit is expected"}
	}
	if !books.Attr(contracts, c.contract, side) {
		return &document.Invalid{Field: c.field + books.Contract.Name(), Reason: "is not a contract with a " +
			"" + side.Name()}
	}
	if !c.order.IsZero() {
		orderType, referred, row := facts.Document(c.order)
		switch {
		case orderType != order || books.Contract.Of(referred.Rows)[row] != c.contract:
			return &document.Invalid{Field: c.field + books.SourceOrder.Name(),
				Reason: "does not belong to a contract with a " + side.Name()}
		case !books.Attr(contracts, c.contract, books.ByOrder):
			return &document.Invalid{Field: c.field + books.SourceOrder.Name(),
				Reason: "the contract is not settled by order"}
		}
	}
	c.account = ledger.At(account, books.Attr(contracts, c.contract, books.Counterparty), c.contract)
	return nil
}

// claimed are the movements of settlements.
func claimed(lines []claim) (all []*register.Movements) {
	customers := books.CustomerSettlements.Movements(len(lines))
	suppliers := books.SupplierSettlements.Movements(len(lines))
	for _, c := range lines {
		if c.supplier {
			suppliers.Add(c.debit > 0, c.contract, c.order, c.debit+c.credit)
		} else {
			customers.Add(c.credit > 0, c.contract, c.order, c.debit+c.credit)
		}
	}
	for _, m := range []*register.Movements{customers, suppliers} {
		if m.Rows.Rows() > 0 {
			all = append(all, m)
		}
	}
	return all
}

// pairs debits with credits, from the first to the last. What stays within a contract is none of the ledger's business.
func pairs(lines []claim) []*ledger.Entries {
	e, at := &ledger.Entries{Ledger: books.General.Name()}, 0
	left := make([]amount.Money, len(lines))
	for i, c := range lines {
		left[i] = c.credit
	}
	for _, c := range lines {
		for owed := c.debit; owed > 0; {
			for left[at] == 0 {
				at++
			}
			sum := min(owed, left[at])
			if c.account != lines[at].account {
				e.Add(c.account, lines[at].account, sum)
			}
			owed, left[at] = owed-sum, left[at]-sum
		}
	}
	return []*ledger.Entries{e}
}

// Restate implements posting.Evident: an order was of the contract of its line when debts were moved.
func (registrarRules) Restate(d *document.Document, facts *posting.Facts, _ *posting.Records) {
	lines := books.Lines(d)
	for i, order := range books.SourceOrder.Of(lines) {
		if _, referred, row := facts.Document(order); referred != nil {
			books.Contract.Of(referred.Rows)[row] = books.Contract.Of(lines)[i]
		}
	}
}

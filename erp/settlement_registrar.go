package erp

import (
	"fmt"

	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// SettlementRegistrar is the type of document.
const SettlementRegistrar = "settlement_registrar"

func settlementRegistrar() metadata.Document {
	return metadata.Document{
		Name: SettlementRegistrar, Title: "Settlement registrar", Prefix: "SR",
		Optional:   []string{CustomerSettlements, SupplierSettlements, General},
		Attributes: []metadata.Attribute{computed("amount", metadata.Money)},
		Sections: []metadata.Section{{Name: "lines", MinRows: 2, MaxRows: LinesMax, Attributes: []metadata.Attribute{
			required(reference("contract", "contracts")), typed("supplier", metadata.Boolean), paper("source_order", CustomerOrder, SupplierOrder),
			typed("debit", metadata.Money), typed("credit", metadata.Money),
		}}},
	}
}

// registrarRules: debts move between contracts and objects of settlement, or are set off against each other. A debit is for us: a customer owes more, or
// we owe a supplier less; a credit is against us. Both sum to the same, so what is owed to us less what we owe stays what it was.
//
//	SC± · SS±  ·  Dr 62/60 Cr 62/60, unless it stays within a contract
type registrarRules struct{}

func (registrarRules) Reads() map[string][]string {
	return map[string][]string{"contracts": settlementReads, CustomerOrder: {"contract"}, SupplierOrder: {"contract"}}
}

func (registrarRules) Balances(*document.Document) []posting.Balance { return nil }

func (registrarRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	lines := claimsOf(d)
	var debit, credit amount.Money
	for i := range lines {
		if err := lines[i].check(facts); err != nil {
			return nil, err
		}
		var err error
		if debit, err = amount.Sum(debit, lines[i].debit); err != nil {
			return nil, err
		}
		if credit, err = amount.Sum(credit, lines[i].credit); err != nil {
			return nil, err
		}
	}
	if debit != credit {
		return nil, &posting.Refusal{
			Control: "total", Items: []Imbalance{{debit, credit}},
			Message: fmt.Sprintf("what is owed in all would change: %s in debit, %s in credit", debit, credit),
		}
	}
	rowset.Column[amount.Money](d.Header, "amount")[0] = debit
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
	lines := d.Section("lines")
	all := make([]claim, lines.Rows())
	for i := range all {
		all[i] = claim{
			fmt.Sprintf("lines[%d].", i), rowset.Column[id.ID](lines, "contract")[i], rowset.Column[id.ID](lines, "source_order")[i],
			rowset.Column[bool](lines, "supplier")[i], rowset.Column[amount.Money](lines, "debit")[i], rowset.Column[amount.Money](lines, "credit")[i], ledger.Account{},
		}
	}
	return all
}

// side of the contract, with the account and the type of order that belong to it.
func (c *claim) side() (name, account, order string) {
	if c.supplier {
		return "supplier", AccountSuppliers, SupplierOrder
	}
	return "customer", AccountCustomers, CustomerOrder
}

// check a line, and find its account.
func (c *claim) check(facts *posting.Facts) error {
	contracts := facts.Catalogs["contracts"]
	side, account, order := c.side()
	if (c.debit == 0) == (c.credit == 0) {
		return &document.Invalid{Field: c.field + "debit", Reason: "either a debit or a credit is expected"}
	}
	if !of[bool](contracts, c.contract, side) {
		return &document.Invalid{Field: c.field + "contract", Reason: "is not one with a " + side}
	}
	if !c.order.IsZero() {
		kind, referred, row := facts.Document(c.order)
		switch {
		case kind != order || rowset.Column[id.ID](referred.Rows, "contract")[row] != c.contract:
			return &document.Invalid{Field: c.field + "source_order", Reason: "is not one of the contract with a " + side}
		case !of[bool](contracts, c.contract, "by_order"):
			return &document.Invalid{Field: c.field + "source_order", Reason: "the contract is not settled by order"}
		}
	}
	c.account = ledger.At(account, of[id.ID](contracts, c.contract, "counterparty"), c.contract)
	return nil
}

// claimed are the movements of settlements.
func claimed(lines []claim) (all []*register.Movements) {
	customers, suppliers := moves(CustomerSettlements, len(lines)), moves(SupplierSettlements, len(lines))
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
	e, at := &ledger.Entries{Ledger: General}, 0
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

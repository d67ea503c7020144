package fill

import (
	"fmt"

	"plimsoll/erp"
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/rowset"
)

// payersTried until one is found who owes something; after that somebody pays ahead.
const payersTried = 5

func bankReceipt(h *history, o *organisation, _ id.ID) *document.Document {
	var payer deal
	var sum amount.Money
	for range payersTried {
		payer = h.partner(o.customers)
		if sum = h.owed(o, erp.CustomerSettlements, payer.contract); sum > 0 {
			break
		}
	}
	if sum <= 0 {
		sum = amount.Money(100 * (1000 + h.rng.IntN(100_000)))
	}
	d := h.deal(erp.BankReceipt, o, payer, "")
	set(d, "cash_account", o.bank(h))
	set(d, "bank_reference", fmt.Sprintf("BR%08d", h.left)) // no two are the same
	set(d, "amount", sum)
	return d
}

// bank account of an organisation; the last of its accounts is the cash desk.
func (o *organisation) bank(h *history) id.ID {
	return o.banks()[h.rng.IntN(len(o.banks()))]
}

func (o *organisation) banks() []id.ID { return o.cashAccounts[:len(o.cashAccounts)-1] }

// openingSum is what lies on every bank account before anything is paid.
const openingSum = amount.Money(1e13)

// openingCash has been paid ahead by the customer that trades least.
func openingCash(h *history, o opening) *document.Document {
	payer := o.organisation.customers[len(o.organisation.customers)-1]
	d := h.deal(erp.BankReceipt, o.organisation, payer, "Ввод начальных остатков")
	set(d, "cash_account", o.account)
	set(d, "bank_reference", "BR-0")
	set(d, "amount", openingSum)
	return d
}

// owed under a contract; below zero it is paid ahead.
func (h *history) owed(o *organisation, register string, contract id.ID) amount.Money {
	r := h.app.Register(register)
	keys := rowset.New(r.Dimensions[:1], 1)
	keys.Append(contract)
	return rowset.Column[amount.Money](h.memory.balancesOf(o.id, r, keys), "amount")[0]
}

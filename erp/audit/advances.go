package audit

import "plimsoll/platform/care/audit"

// advances: the VAT of what has been invoiced of payments ahead, and not set off since, lies on accounts of its own
// by contract.
var advances = []audit.Invariant{
	advanced("customer_advances", "76AV", "debit - credit"),
	advanced("supplier_advances", "76VA", "credit - debit"),
}

func advanced(register, account, balance string) audit.Invariant {
	return byContract(register, "vat", account, balance,
		"VAT of invoiced advances equals the balance of account "+account+", by contract")
}

// setOff joins to an invoice d what it has moved of advances as a, what it has reversed in the other book as o, and
// what of its payment it has taken as p. An invoice of a payment says in its header how much of it is the advance.
func setOff(name, register, book string) []string {
	counterparty := " m JOIN (SELECT id, counterparty AS own, contract AS deal, basis AS paid FROM doc_" + name +
		") i ON i.id = m.recorder"
	return []string{
		recorded("a", "acc_"+register+counterparty, name,
			`sum(CASE WHEN expense THEN -amount ELSE amount END) AS amount,
	sum(CASE WHEN expense THEN -vat ELSE vat END) AS vat,
		count(*) FILTER (WHERE m.contract <> deal) AS foreign_rows`, "amount", "vat", "foreign_rows"),
		recorded("o", "acc_"+book+counterparty, name, "sum(amount) AS amount, sum(vat) AS vat, count(*) FILTER "+
			"(WHERE expense OR m.counterparty <> own) AS foreign_rows", "amount", "vat", "foreign_rows"),
		recorded("p", "acc_payments"+counterparty, name, "sum(amount) AS amount, count(*) FILTER (WHERE NOT "+
			"expense OR m.contract <> deal OR m.payment <> paid) AS foreign_rows", "amount", "foreign_rows"),
	}
}

// setOffSays is what holds of them.
const setOffSays = `
	d.total = d.amount + d.vat AND d.advance IN (0, d.total) AND p.amount = d.advance
		AND a.amount = d.advance - d.set_off
	AND a.vat = CASE d.advance WHEN 0 THEN 0 ELSE d.vat END - d.set_off_vat AND o.amount = d.set_off - d.set_off_vat
		AND o.vat = d.set_off_vat
	AND a.foreign_rows = 0 AND o.foreign_rows = 0 AND p.foreign_rows = 0`

const setOffFound = `
	|| '; advances: amount=' || a.amount || ' vat=' || a.vat || ', of other contracts ' || a.foreign_rows
		|| '; reversed: amount=' || o.amount || ' vat=' || o.vat
	|| ', of other counterparties ' || o.foreign_rows || '; payment=' || p.amount || ', others ' || p.foreign_rows`

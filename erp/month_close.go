package erp

import (
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
)

// MonthClose is the type of document.
const MonthClose = "month_close"

func monthClose() metadata.Document {
	return metadata.Document{
		Name: MonthClose, Title: "Month close", Prefix: "MC", Registers: []string{General},
		Attributes: []metadata.Attribute{computed("result", metadata.Money)},
	}
}

// monthCloseRules: what sales have brought in a month goes to profit or loss at its end. Who writes the document
// (package monthclose) has computed the result.
//
//	Dr 90 Cr 99 profit  ·  Dr 99 Cr 90 loss
type monthCloseRules struct{}

func (monthCloseRules) Reads() map[string][]string { return nil }

func (monthCloseRules) Balances(*document.Document) []posting.Balance { return nil }

func (monthCloseRules) Record(d *document.Document, _ *posting.Facts) (*posting.Records, error) {
	sales, profit := ledger.At(AccountSales), ledger.At(AccountProfit)
	closing := entry{sales, profit, sumOf(d, "result")}
	if closing.sum < 0 {
		closing = entry{profit, sales, amount.Money(-closing.sum)}
	}
	return &posting.Records{Entries: entriesOf(closing)}, nil
}

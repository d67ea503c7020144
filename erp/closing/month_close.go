package closing

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// monthClose has besides its result what it counted: the documents of the month, and their versions in all. What is
// written into the month afterwards makes another count.
// MonthClose is the type of document: its description and its rules.
func MonthClose(others []metadata.Document) books.DocumentType {
	return books.DocumentType{Rules: monthCloseRules{others}, Document: metadata.Document{
		Name: books.MonthClose, Title: "Month close", Prefix: "MC", Registers: books.Names(books.General),
		ReopenHint: "plimsoll close MONTH --reopen",
		Attributes: books.Attributes(result.Computed(), documents.Computed(), versions.Computed()),
	}}
}

var (
	result    = books.MoneyAttr("result")
	documents = books.IntegerAttr("documents")
	versions  = books.IntegerAttr("versions")
)

// monthCloseRules: what sales have brought in a month goes to profit or loss at its end. Months are closed in order,
// each when the costs in it follow the order of time.
//
//	Dr 90 Cr 99 profit  ·  Dr 99 Cr 90 loss
type monthCloseRules struct {
	others []metadata.Document // all types but this one
}

// month is what there is in the month that is closed, besides the close.
type month struct {
	sales               amount.Money // brought
	documents, versions int64
	unrestored          int64 // keys of which the costs do not follow the order of time
	since               *time.Time
	open                *[]time.Time // earlier months that have not been closed
}

func (monthCloseRules) Reads() map[string][]string { return nil }

func (monthCloseRules) Needs(*document.Document) posting.Needs { return posting.Needs{} }

const (
	monthSalesSQL = `SELECT coalesce(sum(CASE WHEN credit = $4 THEN amount ELSE -amount END), 0) FROM gl_general
WHERE organisation = $1 AND period >= $2 AND period <= $3 AND (debit = $4) <> (credit = $4) AND recorder_type <> $5`
	monthBoundarySQL = "SELECT count(*), min(moment) FROM acc_batches_boundary WHERE organisation = $1 AND moment <= $2"
	openMonthsSQL    = `SELECT period FROM gl_general_totals
WHERE organisation = $1 AND account = $2 AND period < $3::date GROUP BY period HAVING sum(credit) <> sum(debit)
ORDER BY period`
)

// OpenMonths queues the reading of the months before another one whose sales have not been closed, the first one
// first.
func OpenMonths(w *database.Work, organisation id.ID, before time.Time) *[]time.Time {
	open := &[]time.Time{}
	w.Queue("look for open months", openMonthsSQL, organisation, books.AccountSales,
		before).Rows(func(r pgx.Rows) error {
		var one time.Time
		err := r.Scan(&one)
		*open = append(*open, one)
		return err
	})
	return open
}

// Look implements posting.Closing.
func (rules monthCloseRules) Look(w *database.Work, d *document.Document) any {
	first := time.Date(d.Date.UTC().Year(), d.Date.UTC().Month(), 1, 0, 0, 0, 0, time.UTC)
	m := &month{open: OpenMonths(w, d.Organisation, first)}
	w.Queue("sum sales", monthSalesSQL, d.Organisation, first, d.Date, books.AccountSales,
		books.MonthClose).Rows(func(r pgx.Rows) error {
		return r.Scan(&m.sales)
	})
	w.Queue("look at boundary", monthBoundarySQL, d.Organisation, d.Date).Rows(func(r pgx.Rows) error {
		return r.Scan(&m.unrestored, &m.since)
	})
	for _, other := range rules.others {
		w.Queue("count documents", "SELECT count(*), coalesce(sum(version), 0)::bigint FROM "+other.Table()+
			" WHERE organisation = $1 AND date >= $2 AND date <= $3",
			d.Organisation, first, d.Date).Rows(func(r pgx.Rows) error {
			var documents, versions int64
			err := r.Scan(&documents, &versions)
			m.documents += documents
			m.versions += versions
			return err
		})
	}
	return m
}

func (monthCloseRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	m := facts.Period.(*month)
	if open := *m.open; len(open) > 0 {
		return nil, &posting.Refusal{Control: books.MonthClose, Message: fmt.Sprintf("months are closed in order, "+
			"and %s has sales that are not closed: close it first "+
			"(plimsoll close %[1]s, or --through for all)", open[0].Format("2006-01"))}
	}
	if m.unrestored > 0 {
		return nil, &posting.Refusal{Control: books.MonthClose, Message: fmt.Sprintf(
			"costs of %d goods do not follow the order of time since %s: restore them first (plimsoll restore)",
			m.unrestored, m.since.UTC().Format(time.DateOnly))}
	}
	result.Set(d, m.sales)
	documents.Set(d, m.documents)
	versions.Set(d, m.versions)
	sales, profit := ledger.At(books.AccountSales), ledger.At(books.AccountProfit)
	closing := books.DebitCredit(sales, profit, m.sales)
	if closing.Sum < 0 {
		closing = books.DebitCredit(profit, sales, -closing.Sum)
	}
	return &posting.Records{Entries: books.General.Entries(closing)}, nil
}

// Restate implements posting.Evident: what the month had brought and counted.
func (monthCloseRules) Restate(d *document.Document, facts *posting.Facts, _ *posting.Records) {
	facts.Period = &month{sales: result.In(d), documents: documents.In(d), versions: versions.In(d),
		open: &[]time.Time{}}
}

package reports

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/openapi"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/session"
)

// Limits of the stock report.
const (
	StockLimitDefault = 1000
	StockLimitMax     = 10_000
)

// stockTotals tell of all rows with each row of a limited answer.
const stockTotals = ", count(*) OVER (), sum(b.amount) OVER ()"

// stockSQL are the texts of the report: of everything or of one warehouse, without the totals of all rows or with them.
type stockSQL struct{ plain, counted string }

var (
	stockOfAll       = stockSQL{stockReportSQL("", ""), stockReportSQL("", stockTotals)}
	stockOfWarehouse = stockSQL{stockReportSQL("warehouse", ""), stockReportSQL("warehouse", stockTotals)}
	stockShown       = books.Attributes(books.Warehouse, books.Item, books.TextAttr("code", 1),
		books.TextAttr("name", 1), books.TextAttr("account", 1),
		books.Quantity, books.Amount)
)

func stockReportSQL(filter, totals string) string {
	limit := "$3"
	if filter != "" {
		limit = "$4"
	}
	return `SELECT b.warehouse, b.item, i.code, i.name, i.account, b.quantity, b.amount` + totals + `
FROM ` + register.BalanceSQL(books.Stock.Meta(), filter) + ` b JOIN cat_items i ON i.id = b.item
ORDER BY i.name, i.id, b.warehouse LIMIT ` + limit
}

// stockReport is the stock on a date. Its count and amount are of all rows, also of those beyond the limit.
var stockReport = server.Report{
	Title: "Stock on a date",
	Parameters: []openapi.Parameter{
		{Name: "warehouse", In: "query", Description: "only at this warehouse", Schema: openapi.UUID("")},
		momentParameter("date", "now"),
		{Name: "limit", In: "query", Description: "maximum number of rows",
			Schema: openapi.Between(1, StockLimitMax, "")},
	},
	Answer: openapi.Object(openapi.Named[*openapi.Schema]{
		{Name: "date", Value: openapi.Moment("")}, {Name: "count", Value: openapi.Integer("of all rows")},
		{Name: "amount", Value: openapi.MoneyShown("of all rows")},
		{Name: "rows", Value: openapi.Array(openapi.Shown(stockShown))},
	}),
	Run: stockOnDate,
}

// momentParameter is what moment reads.
func momentParameter(name, otherwise string) openapi.Parameter {
	return openapi.Parameter{Name: name, In: "query", Description: "an RFC 3339 time, or a date, which means the " +
		"whole day; defaults to " + otherwise, Schema: openapi.String("")}
}

func stockOnDate(ctx context.Context, db *database.Database, user session.User, query url.Values) ([]byte, error) {
	at, err := moment(query, "date", time.Now())
	if err != nil {
		return nil, err
	}
	limit, err := limited(query, StockLimitDefault, StockLimitMax)
	if err != nil {
		return nil, err
	}
	sql, args := stockOfAll, []any{user.Organisation, at}
	warehouse, err := idOf(query, "warehouse")
	if err != nil {
		return nil, err
	}
	if !warehouse.IsZero() {
		sql, args = stockOfWarehouse, append(args, []id.ID{warehouse})
	}
	stock := &stockAt{}
	if err := stock.read(ctx, db, sql, args, limit); err != nil {
		return nil, err
	}
	body := fmt.Appendf(nil, `{"date":%q,"count":%d,"amount":%q,"rows":`, at.Format(time.RFC3339Nano), stock.count,
		stock.amount)
	return append(stock.rows.AppendJSON(body), '}'), nil
}

// stockAt is the stock as it was at a moment.
type stockAt struct {
	rows   *rowset.Table
	count  int64        // of all rows
	amount amount.Money // of all rows
}

// read asks for one row more than is shown. Nearly always there is none, and what is shown is all there is: nobody
// has to count it with every row. Where there is more, another statement tells rows and totals of one moment.
func (s *stockAt) read(ctx context.Context, db *database.Database, sql stockSQL, args []any, limit int) error {
	if err := s.query(ctx, db, sql.plain, append(args[:len(args):len(args)], limit+1)); err != nil {
		return err
	}
	if s.rows.Rows() > limit {
		return s.query(ctx, db, sql.counted, append(args, limit), &s.count, &s.amount)
	}
	s.count, s.amount = int64(s.rows.Rows()), 0
	for _, a := range books.Amount.Of(s.rows) {
		s.amount += a
	}
	return nil
}

func (s *stockAt) query(ctx context.Context, db *database.Database, statement string, args []any, totals ...any) error {
	return db.Read(ctx, func(w *database.Work) error {
		s.rows = rowset.New(stockShown, 0)
		w.Queue("stock report", statement, args...).Rows(func(r pgx.Rows) error {
			return r.Scan(append(s.rows.Cells(s.rows.Grow(1)), totals...)...)
		})
		return nil
	})
}

// moment reads a time or a date of a query; a date means its last moment.
func moment(query url.Values, name string, otherwise time.Time) (time.Time, error) {
	given := query.Get(name)
	if given == "" {
		return otherwise.UTC().Truncate(time.Microsecond), nil
	}
	if day, err := time.Parse(time.DateOnly, given); err == nil && day.Year() > 0 {
		return day.AddDate(0, 0, 1).Add(-time.Microsecond), nil
	}
	at, err := time.Parse(time.RFC3339Nano, given)
	if err != nil || at.Year() < 1 || at.Year() > 9999 {
		return at, &document.Invalid{Field: name, Reason: "a date (2025-12-31) or an RFC 3339 time is expected"}
	}
	return at.UTC().Truncate(time.Microsecond), nil
}

package erp

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/amount"
	"plimsoll/platform/database"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/openapi"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
	"plimsoll/platform/server"
	"plimsoll/platform/session"
)

// Limits of the stock report.
const (
	StockLimitDefault = 1000
	StockLimitMax     = 10_000
)

var (
	stockSQL            = stockReportSQL("")
	stockOfWarehouseSQL = stockReportSQL("warehouse")
	stockShown          = []metadata.Attribute{
		reference("warehouse", "warehouses"), reference("item", "items"), text("code", 1), text("name", 1),
		text("account", 1), typed("quantity", metadata.Quantity), typed("amount", metadata.Money),
	}
)

func stockReportSQL(filter string) string {
	meta := stock()
	limit := "$3"
	if filter != "" {
		limit = "$4"
	}
	return `SELECT b.warehouse, b.item, i.code, i.name, i.account, b.quantity, b.amount, count(*) OVER (), sum(b.amount) OVER ()
FROM ` + register.BalanceSQL(&meta, filter) + ` b JOIN cat_items i ON i.id = b.item
ORDER BY i.name, i.id, b.warehouse LIMIT ` + limit
}

// stockReport is the stock on a date. Its count and amount are of all rows, also of those beyond the limit.
var stockReport = server.Report{
	Title: "Stock on a date",
	Parameters: []openapi.Parameter{
		{Name: "warehouse", In: "query", Description: "only there", Schema: openapi.UUID("")}, momentParameter("date", "now"),
		{Name: "limit", In: "query", Description: "rows of the answer", Schema: openapi.Between(1, StockLimitMax, "")},
	},
	Answer: openapi.Object(openapi.Named[*openapi.Schema]{
		{Name: "date", Value: openapi.Moment("")}, {Name: "count", Value: openapi.Integer("of all rows")}, {Name: "amount", Value: openapi.MoneyShown("of all rows")},
		{Name: "rows", Value: openapi.Array(openapi.Shown(stockShown))},
	}),
	Run: stockOnDate,
}

// momentParameter is what moment reads.
func momentParameter(name, otherwise string) openapi.Parameter {
	return openapi.Parameter{Name: name, In: "query", Description: "an RFC 3339 time, or a date, which is meant as a whole; without it " + otherwise, Schema: openapi.String("")}
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
	statement, args := stockSQL, []any{user.Organisation, at}
	warehouse, err := idOf(query, "warehouse")
	if err != nil {
		return nil, err
	}
	if !warehouse.IsZero() {
		statement, args = stockOfWarehouseSQL, append(args, []id.ID{warehouse})
	}
	return runStock(ctx, db, at, statement, append(args, limit))
}

func runStock(ctx context.Context, db *database.Database, at time.Time, statement string, args []any) ([]byte, error) {
	var count int64
	var value amount.Money
	rows := rowset.New(stockShown, 0)
	err := db.Read(ctx, func(w *database.Work) error {
		rows = rowset.New(stockShown, 0)
		w.Queue("stock report", statement, args...).Rows(func(r pgx.Rows) error {
			row := rows.Grow(1)
			targets := make([]any, 0, len(stockShown)+2)
			for i := range stockShown {
				targets = append(targets, rows.Cell(i, row))
			}
			return r.Scan(append(targets, &count, &value)...)
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	body := fmt.Appendf(nil, `{"date":%q,"count":%d,"amount":%q,"rows":`, at.Format(time.RFC3339Nano), count, value)
	return append(rows.AppendJSON(body), '}'), nil
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

package reports

import (
	"context"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/books"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/temptable"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/worker/openapi"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/session"
)

// Limits of a work list of an addressed warehouse.
const (
	WorkListLimitDefault = 200
	WorkListLimitMax     = 10_000
)

// workListTable is the temp table of a work list: what is to be carried.
var workListTable = temptable.MustDefine([]temptable.Column{
	{Name: "basis", Type: "uuid"}, {Name: "number", Type: "text"}, {Name: "warehouse", Type: "uuid"},
	{Name: "item", Type: "uuid"}, {Name: "quantity", Type: "numeric(18,3)"},
}, "warehouse", "item")

var workListShown = books.Attributes(books.Basis, books.TextAttr("number", 1), books.Warehouse, books.Item,
	books.TextAttr("name", 1), books.Quantity, books.Cell,
	books.TextAttr("cell_name", 1), books.QuantityAttr("in_cell"))

// toShip is what has been taken from addressed warehouses and not left its cells yet, with the cell that has most of
// it.
func toShip(app *metadata.Application) server.Report {
	return workListReport(app, "What is to be shipped from cells", books.ToShip, books.WarehouseIssueOrder)
}

// toReceive is what has been brought to addressed warehouses and not been put into cells yet, with a cell for it: the
// one that has most of it, or the first one.
func toReceive(app *metadata.Application) server.Report {
	return workListReport(app, "What is to be put into cells", books.ToReceive, books.WarehouseReceiptOrder)
}

func workListReport(app *metadata.Application, title string, awaited books.Register, orderType string) server.Report {
	numbers := numbersOfBases(app, orderType)
	return server.Report{
		Title: title,
		Parameters: []openapi.Parameter{
			{Name: "warehouse", In: "query", Description: "only at this warehouse", Schema: openapi.UUID("")},
			{Name: "limit", In: "query", Description: "maximum number of rows",
				Schema: openapi.Between(1, WorkListLimitMax, "")},
		},
		Answer: openapi.Object(openapi.Named[*openapi.Schema]{{Name: "rows",
			Value: openapi.Array(openapi.Shown(workListShown))}}),
		Run: func(ctx context.Context, db *database.Database, user session.User, query url.Values) ([]byte, error) {
			return workList(ctx, db, user, query, awaited, numbers)
		},
	}
}

// workList of what is awaited by the documents that an order can be made of; numbers is a query for theirs.
func workList(ctx context.Context, db *database.Database, user session.User, query url.Values, awaited books.Register,
	numbers string) ([]byte, error) {
	warehouse, err := idOf(query, "warehouse")
	if err != nil {
		return nil, err
	}
	limit, err := limited(query, WorkListLimitDefault, WorkListLimitMax)
	if err != nil {
		return nil, err
	}
	where, args := "", []any{user.Organisation, limit}
	if !warehouse.IsZero() {
		where, args = " AND t.warehouse = $3", append(args, warehouse)
	}
	var rows *rowset.Table
	err = db.Read(ctx, func(w *database.Work) error {
		rows = rowset.New(workListShown, 0) // reading may be repeated
		b, err := begin(ctx, w, limit, workListTable)
		if err != nil {
			return err
		}
		b.fillTable(0, awaited.Name(), `SELECT t.basis, d.number, t.warehouse, t.item, t.quantity
FROM (SELECT * FROM `+awaited.Meta().Totals()+` t WHERE t.organisation = $1 AND t.`+metadata.Open+`
AND t.quantity > 0`+where+` ORDER BY t.basis, t.item LIMIT $2) t
JOIN (`+numbers+`) d ON d.id = t.basis`, args...)
		// The fullest cell of each item is found item by item: a join may read all that lies in cells.
		b.query("work list", `WITH fullest AS MATERIALIZED (SELECT t.warehouse, t.item, c.cell, c.quantity
FROM (SELECT DISTINCT warehouse, item FROM {0}) t CROSS JOIN LATERAL (
	SELECT cell, quantity FROM acc_cells_totals c
	WHERE c.organisation = $2 AND c.warehouse = t.warehouse AND c.item = t.item AND c.period = 'infinity'
	AND c.quantity > 0
	ORDER BY quantity DESC, cell LIMIT 1) c)
SELECT t.basis, t.number, t.warehouse, t.item, i.name, t.quantity,
			coalesce(k.id, $1::uuid), coalesce(k.name, ''), coalesce(c.quantity, 0)
FROM {0} t JOIN cat_items i ON i.id = t.item LEFT JOIN fullest c USING (warehouse, item)
LEFT JOIN (SELECT DISTINCT ON (warehouse) warehouse, id FROM cat_warehouse_cells WHERE organisation = $2
ORDER BY warehouse, code) f ON f.warehouse = t.warehouse
LEFT JOIN cat_warehouse_cells k ON k.id = coalesce(c.cell, f.id)
ORDER BY t.basis, t.item`, id.ID{}, user.Organisation).Rows(func(r pgx.Rows) error { return rows.Scan(r) })
		return nil
	})
	if err != nil {
		return nil, err
	}
	return append(rows.AppendJSON([]byte(`{"rows":`)), '}'), nil
}

// numbersOfBases queries the numbers of the documents that an order can be made of.
func numbersOfBases(app *metadata.Application, orderType string) string {
	order, _ := app.Document(orderType)
	basis, _ := metadata.Find(order.Attributes, books.Basis.Name())
	parts := make([]string, len(basis.Documents))
	for i, basisType := range basis.Documents {
		meta, _ := app.Document(basisType)
		parts[i] = "SELECT id, number FROM " + meta.Table()
	}
	return strings.Join(parts, " UNION ALL ")
}

package erp

import (
	"context"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/database"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/openapi"
	"plimsoll/platform/rowset"
	"plimsoll/platform/server"
	"plimsoll/platform/session"
	"plimsoll/platform/temptable"
)

// Limits of a work list of an addressed warehouse.
const (
	WorkListLimitDefault = 200
	WorkListLimitMax     = 10_000
)

// The temp tables of a work list: what is to be carried, and the fullest cell of each of these items.
var workListTables = []temptable.Structure{
	temptable.MustDefine([]temptable.Column{
		{Name: "basis", Type: "uuid"}, {Name: "number", Type: "text"}, {Name: "warehouse", Type: "uuid"}, {Name: "item", Type: "uuid"}, {Name: "quantity", Type: "numeric(18,3)"},
	}, "warehouse", "item"),
	temptable.MustDefine([]temptable.Column{
		{Name: "warehouse", Type: "uuid"}, {Name: "item", Type: "uuid"}, {Name: "cell", Type: "uuid"}, {Name: "quantity", Type: "numeric(18,3)"},
	}, "warehouse", "item"),
}

var workListShown = []metadata.Attribute{
	anyPaper("basis"), text("number", 1), reference("warehouse", "warehouses"), reference("item", "items"), text("name", 1), typed("quantity", metadata.Quantity),
	reference("cell", "warehouse_cells"), text("cell_name", 1), typed("in_cell", metadata.Quantity),
}

// toShipReport is what has been taken from addressed warehouses and not left its cells yet, with the cell that has most of it.
var toShipReport = workListReport("What is to be shipped from cells", ToShip, warehouseIssueOrder())

// toReceiveReport is what has been brought to addressed warehouses and not been put into cells yet, with a cell for it: the one that has most of it, or the
// first one.
var toReceiveReport = workListReport("What is to be put into cells", ToReceive, warehouseReceiptOrder())

func workListReport(title, register string, order metadata.Document) server.Report {
	return server.Report{
		Title: title,
		Parameters: []openapi.Parameter{
			{Name: "warehouse", In: "query", Description: "only there", Schema: openapi.UUID("")},
			{Name: "limit", In: "query", Description: "rows of the answer", Schema: openapi.Between(1, WorkListLimitMax, "")},
		},
		Answer: openapi.Object(openapi.Named[*openapi.Schema]{{Name: "rows", Value: openapi.Array(openapi.Shown(workListShown))}}),
		Run: func(ctx context.Context, db *database.Database, user session.User, query url.Values) ([]byte, error) {
			return workList(ctx, db, user, query, register, order)
		},
	}
}

// workList of what is awaited by the documents that an order can be made of.
func workList(ctx context.Context, db *database.Database, user session.User, query url.Values, register string, order metadata.Document) ([]byte, error) {
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
		b, err := begin(ctx, w, workListTables...)
		if err != nil {
			return err
		}
		b.into(0, register, `SELECT t.basis, d.number, t.warehouse, t.item, t.quantity
FROM (SELECT * FROM acc_`+register+`_totals t WHERE t.organisation = $1 AND t.`+metadata.Open+` AND t.quantity > 0`+where+` ORDER BY t.basis, t.item LIMIT $2) t
JOIN (`+numbersOf(order)+`) d ON d.id = t.basis`, args...)
		// Item by item: a join may read all that lies in cells.
		b.into(1, "fullest cells", `SELECT t.warehouse, t.item, c.cell, c.quantity
FROM (SELECT DISTINCT warehouse, item FROM {0}) t CROSS JOIN LATERAL (
	SELECT cell, quantity FROM acc_cells_totals c
	WHERE c.organisation = $1 AND c.warehouse = t.warehouse AND c.item = t.item AND c.period = 'infinity' AND c.quantity > 0
	ORDER BY quantity DESC, cell LIMIT 1) c`, user.Organisation)
		b.query("work list", `SELECT t.basis, t.number, t.warehouse, t.item, i.name, t.quantity, coalesce(k.id, $1::uuid), coalesce(k.name, ''), coalesce(c.quantity, 0)
FROM {0} t JOIN cat_items i ON i.id = t.item LEFT JOIN {1} c USING (warehouse, item)
LEFT JOIN (SELECT DISTINCT ON (warehouse) warehouse, id FROM cat_warehouse_cells WHERE organisation = $2 ORDER BY warehouse, code) f ON f.warehouse = t.warehouse
LEFT JOIN cat_warehouse_cells k ON k.id = coalesce(c.cell, f.id)
ORDER BY t.basis, t.item`, id.ID{}, user.Organisation).Rows(func(r pgx.Rows) error { return rows.Scan(r) })
		return nil
	})
	if err != nil {
		return nil, err
	}
	return append(rows.AppendJSON([]byte(`{"rows":`)), '}'), nil
}

// numbersOf the documents that an order can be made of.
func numbersOf(order metadata.Document) string {
	basis, _ := metadata.Find(order.Attributes, "basis")
	parts := make([]string, len(basis.Documents))
	for i, kind := range basis.Documents {
		meta, _ := application.Document(kind)
		parts[i] = "SELECT id, number FROM " + meta.Table()
	}
	return strings.Join(parts, " UNION ALL ")
}

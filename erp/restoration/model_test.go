package restoration_test

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

// model restores serially and in memory, with arithmetic of its own: it knows the lines of posted documents and
// nothing of movements, and says what movements and costs there should be.
type model struct {
	lines []line // of receipts and sales, in the order of time
	cost  map[id.ID]*big.Int
	rows  []string
	short map[string]time.Time // "warehouse item"
}

type line struct {
	document, warehouse, item id.ID
	date                      time.Time
	n                         int
	sale                      bool
	quantity, amount          int64
}

type layer struct {
	from             line
	quantity, amount *big.Int
}

const linesSQL = `SELECT d.id, d.warehouse, l.item, d.date, l.line, false, (l.quantity * 1000)::bigint,
	(l.amount * 100)::bigint FROM doc_goods_receipt d JOIN doc_goods_receipt_lines l ON l.document = d.id WHERE d.posted
UNION ALL SELECT d.id, d.warehouse, l.item, d.date, l.line, true, (l.quantity * 1000)::bigint, 0 FROM doc_goods_sale d
JOIN doc_goods_sale_lines l ON l.document = d.id WHERE d.posted`

func newModel(t *testing.T, c *erptest.Company) *model {
	m := &model{cost: map[id.ID]*big.Int{}, short: map[string]time.Time{}}
	err := c.Borrow(context.Background(), func(conn *pgx.Conn) error {
		rows, err := conn.Query(context.Background(), linesSQL)
		if err != nil {
			return err
		}
		var l line
		_, err = pgx.ForEachRow(rows, []any{&l.document, &l.warehouse, &l.item, &l.date, &l.n, &l.sale, &l.quantity,
			&l.amount}, func() error {
			m.lines = append(m.lines, l)
			return nil
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(m.lines, func(a, b line) int {
		return cmp.Or(a.date.Compare(b.date), a.document.Compare(b.document), cmp.Compare(a.n, b.n))
	})
	m.restore()
	return m
}

func (l line) place() string { return l.warehouse.String() + " " + l.item.String() }

// restore gives each sale the layers of its goods in the order of time, those that came later last.
func (m *model) restore() {
	layers := map[string][]*layer{}
	for _, l := range m.lines {
		if !l.sale {
			layers[l.place()] = append(layers[l.place()], &layer{l, big.NewInt(l.quantity), big.NewInt(l.amount)})
			m.rows = append(m.rows, fmt.Sprintf("batch %s %d + %s %s %d %d %d", l.document, l.n, l.item, l.document,
				l.n, l.quantity, l.amount))
			m.rows = append(m.rows, fmt.Sprintf("stock %s %d + %s %d %d", l.document, l.n, l.item, l.quantity,
				l.amount))
		}
	}
	taken := map[id.ID]int{}
	for _, l := range m.lines {
		if !l.sale {
			continue
		}
		left, cost := big.NewInt(l.quantity), new(big.Int)
		for _, from := range layers[l.place()] {
			if left.Sign() == 0 || from.quantity.Sign() == 0 {
				continue
			}
			part := new(big.Int).Set(left)
			if from.quantity.Cmp(part) < 0 {
				part.Set(from.quantity)
			}
			twice := new(big.Int).Mul(from.amount, part)
			twice.Mul(twice, big.NewInt(2)).Add(twice, from.quantity)
			value := twice.Quo(twice, new(big.Int).Mul(from.quantity, big.NewInt(2)))
			from.quantity.Sub(from.quantity, part)
			from.amount.Sub(from.amount, value)
			left.Sub(left, part)
			cost.Add(cost, value)
			taken[l.document]++
			m.rows = append(m.rows, fmt.Sprintf("batch %s %d - %s %s %d %s %s", l.document, taken[l.document], l.item,
				from.from.document, from.from.n, part, value))
			if later := cmp.Or(from.from.date.Compare(l.date), from.from.document.Compare(l.document)) > 0; later {
				if _, known := m.short[l.place()]; !known {
					m.short[l.place()] = l.date
				}
			}
		}
		m.rows = append(m.rows, fmt.Sprintf("stock %s %d - %s %d %s", l.document, l.n, l.item, l.quantity, cost),
			fmt.Sprintf("line %s %d %s", l.document, l.n, cost))
		if m.cost[l.document] == nil {
			m.cost[l.document] = new(big.Int)
		}
		m.cost[l.document].Add(m.cost[l.document], cost)
	}
	for document, cost := range m.cost {
		m.rows = append(m.rows, fmt.Sprintf("document %s %s", document, cost))
		if cost.Sign() > 0 {
			m.rows = append(m.rows, fmt.Sprintf("entry %s %s", document, cost))
		}
	}
	for place, date := range m.short {
		m.rows = append(m.rows, "boundary "+place+" "+date.UTC().Format(time.RFC3339Nano))
	}
}

func (m *model) String() string { return sorted(m.rows) }

func sorted(rows []string) string {
	slices.Sort(rows)
	return strings.Join(rows, "\n")
}

const foundSQL = `SELECT 'batch ' || recorder || ' ' || line || CASE WHEN expense THEN ' - ' ELSE ' + ' END || item
	|| ' ' || receipt || ' ' || receipt_line || ' ' || (quantity * 1000)::bigint || ' ' || (amount * 100)::bigint
	FROM acc_batches
UNION ALL SELECT 'stock ' || recorder || ' ' || line || CASE WHEN expense THEN ' - ' ELSE ' + ' END || item
	|| ' ' || (quantity * 1000)::bigint || ' ' || (amount * 100)::bigint FROM acc_stock
UNION ALL SELECT 'line ' || l.document || ' ' || l.line || ' ' || (l.cost * 100)::bigint FROM doc_goods_sale_lines l
JOIN doc_goods_sale d ON d.id = l.document WHERE d.posted
UNION ALL SELECT 'document ' || id || ' ' || (cost * 100)::bigint FROM doc_goods_sale WHERE posted
UNION ALL SELECT 'entry ' || recorder || ' ' || (amount * 100)::bigint FROM gl_general WHERE debit = '90'
AND credit = '41'
UNION ALL SELECT 'boundary ' || warehouse || ' ' || item || ' ' ||
	to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') FROM acc_batches_boundary`

// found are the books in the form of the model.
func found(t *testing.T, c *erptest.Company) string {
	t.Helper()
	var rows []string
	err := c.Borrow(context.Background(), func(conn *pgx.Conn) error {
		all, err := conn.Query(context.Background(), foundSQL)
		if err != nil {
			return err
		}
		rows, err = pgx.CollectRows(all, pgx.RowTo[string])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows { // moments as the model writes them
		if place, moment, ok := strings.Cut(row, "T"); ok && strings.HasPrefix(row, "boundary ") {
			at, err := time.Parse("2006-01-02T15:04:05.999999", place[len(place)-10:]+"T"+moment)
			if err != nil {
				t.Fatal(err)
			}
			rows[i] = place[:len(place)-10] + at.Format(time.RFC3339Nano)
		}
	}
	return sorted(rows)
}

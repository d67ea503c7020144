package platformtest

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/information"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/lock"
	"plimsoll/platform/model/metadata"
)

// Rules returns the posting rules of an application from Application.
func Rules(app *metadata.Application) map[string]posting.Rules {
	return map[string]posting.Rules{Receipt: receiptRules{app}, Issue: issueRules{app}, Close: closeRules{app}}
}

// Names of the controls that refuse.
const (
	ControlShort    = "short"    // not enough in stock
	ControlPromised = "promised" // the rest is promised to others
)

type receiptRules struct{ app *metadata.Application }

func (receiptRules) Reads() map[string][]string { return nil }

func (r receiptRules) Needs(d *document.Document) posting.Needs {
	return posting.Needs{Lock: []posting.Lock{locks(r.app, d)}}
}

func (r receiptRules) Record(d *document.Document, _ *posting.Facts) (*posting.Records, error) {
	lines, shelf := d.Section("lines"), referenceOf(d.Header, "shelf")
	goods, sums := rowset.Column[id.ID](lines, "goods"), rowset.Column[amount.Money](lines, "amount")
	stock, batches := moves(r.app, Stock), moves(r.app, Batches)
	promised, entries := moves(r.app, Promised), &ledger.Entries{Ledger: General}
	records := &posting.Records{Movements: []*register.Movements{stock, batches}, Entries: []*ledger.Entries{entries}}
	costs := information.NewRecords(r.app.Record(LastCosts))
	stated := map[id.ID]bool{}
	for row, q := range rowset.Column[amount.Quantity](lines, "quantity") {
		stock.Add(false, shelf, goods[row], q, sums[row])
		batches.Add(false, shelf, goods[row], d.ID, int64(row+1), q, sums[row])
		entries.Add(ledger.At(AccountGoods, shelf, goods[row]), ledger.At(AccountSuppliers), sums[row])
		if rowset.Column[bool](d.Header, "promised")[0] {
			promised.Add(false, shelf, goods[row], q)
		}
		if !stated[goods[row]] {
			stated[goods[row]] = true
			costs.Rows.Append(goods[row], sums[row])
		}
	}
	records.Information = append(records.Information, costs)
	if len(promised.Expense) > 0 {
		records.Movements = append(records.Movements, promised)
	}
	if number := rowset.Column[string](d.Header, "paper_number")[0]; number != "" {
		numbers := information.NewRecords(r.app.Record(Numbers))
		numbers.Rows.Append(number)
		records.Information = append(records.Information, numbers)
	}
	return records, nil
}

type issueRules struct{ app *metadata.Application }

func (issueRules) Reads() map[string][]string { return map[string][]string{Receipt: {"shelf"}} }

func (r issueRules) Needs(d *document.Document) posting.Needs {
	keys, sums := keysOf(r.app, d)
	required := rowset.New(r.app.Register(Batches).Resources[:1], len(sums))
	for _, q := range sums {
		required.Append(q)
	}
	goods := rowset.New(r.app.Record(LastCosts).Dimensions, keys.Rows())
	for _, v := range rowset.ColumnAt[id.ID](keys, 1) {
		goods.Append(v)
	}
	none := func() []lock.Key { return nil } // facts are read without a lock
	return posting.Needs{Read: []posting.Need{
		{Register: Batches, Keys: keys, Required: required, Lock: locks(r.app, d)},
		{Register: Promised, Keys: keys, Lock: locks(r.app, d)},
		{Register: LastCosts, As: "estimate", Keys: goods, Lock: none},
	}}
}

func (r issueRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	receipt := referenceOf(d.Header, "receipt")
	if err := r.left(d, facts, !receipt.IsZero()); err != nil {
		return nil, err
	}
	estimate := rowset.Column[amount.Money](facts.Information["estimate"].Resources, "amount")
	rowset.Column[amount.Money](d.Header, "estimate")[0] = 0
	for _, cost := range estimate {
		rowset.Column[amount.Money](d.Header, "estimate")[0] += cost
	}
	records, err := r.Recost(d, facts)
	if err != nil {
		return nil, err
	}
	keys, sums := keysOf(r.app, d)
	if !receipt.IsZero() {
		promised := moves(r.app, Promised)
		for row, q := range sums {
			promised.Add(true, keys.Value(0, row), keys.Value(1, row), q)
		}
		records.Movements = append(records.Movements, promised)
	}
	return records, nil
}

// left refuses what is not in stock, and what is promised to others.
func (r issueRules) left(d *document.Document, facts *posting.Facts, kept bool) error {
	promised := rowset.Column[amount.Quantity](facts.Balances[Promised], "quantity")
	keys, sums := keysOf(r.app, d)
	total := inAll(facts.Layers[Batches], keys)
	for row, q := range sums {
		if q > total[row] {
			return &posting.Refusal{Control: ControlShort, Message: fmt.Sprintf("%s of %s are left", total[row], q)}
		}
		if left := total[row] - promised[row]; !kept && q > left {
			return &posting.Refusal{Control: ControlPromised, Message: fmt.Sprintf("%s of %s are free", left, q)}
		}
	}
	return nil
}

// inAll sums the layers of each key.
func inAll(l *register.Layers, keys *rowset.Table) []amount.Quantity {
	if l.Total != nil {
		return rowset.Column[amount.Quantity](l.Total, "quantity")
	}
	sums, queues := make([]amount.Quantity, keys.Rows()), queuesOf(l)
	for row := range sums {
		for _, one := range queues[keys.Value(1, row).(id.ID)] {
			sums[row] += one.quantity
		}
	}
	return sums
}

// Recost implements posting.Costing.
func (r issueRules) Recost(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	lines, shelf := d.Section("lines"), referenceOf(d.Header, "shelf")
	goods, costs := rowset.Column[id.ID](lines, "goods"), rowset.Column[amount.Money](lines, "cost")
	stock, batches, sales := moves(r.app, Stock), moves(r.app, Batches), moves(r.app, Sales)
	entries := &ledger.Entries{Ledger: General}
	queues, total := queuesOf(facts.Layers[Batches]), amount.Money(0)
	for row, q := range rowset.Column[amount.Quantity](lines, "quantity") {
		rest, cost, err := take(batches, queues[goods[row]], q)
		if err != nil {
			return nil, err
		}
		queues[goods[row]] = rest
		costs[row] = cost
		total += cost
		stock.Add(true, shelf, goods[row], q, cost)
		sales.Add(false, goods[row], int64(20), cost)
		entries.Add(ledger.At(AccountCosts), ledger.At(AccountGoods, shelf, goods[row]), cost)
	}
	rowset.Column[amount.Money](d.Header, "cost")[0] = total
	return &posting.Records{
		Movements: []*register.Movements{stock, batches, sales}, Entries: []*ledger.Entries{entries},
	}, nil
}

// layer is the rest of a receipt line.
type layer struct {
	shelf, goods, receipt id.ID
	line                  int64
	quantity              amount.Quantity
	amount                amount.Money
}

// queuesOf returns the layers by goods, the oldest first.
func queuesOf(l *register.Layers) map[id.ID][]layer {
	queues := map[id.ID][]layer{}
	for row := range l.Keys.Rows() {
		one := layer{
			shelf: l.Keys.Value(0, row).(id.ID), goods: l.Keys.Value(1, row).(id.ID),
			receipt: l.Keys.Value(2, row).(id.ID), line: l.Keys.Value(3, row).(int64),
			quantity: l.Left.Value(0, row).(amount.Quantity), amount: l.Left.Value(1, row).(amount.Money),
		}
		if one.quantity > 0 {
			queues[one.goods] = append(queues[one.goods], one)
		}
	}
	return queues
}

// take takes from the oldest layers. The last piece of a layer gets the rest of its amount.
func take(m *register.Movements, layers []layer, q amount.Quantity) (rest []layer, cost amount.Money, err error) {
	for q > 0 {
		if len(layers) == 0 {
			return nil, 0, &posting.Refusal{Control: ControlShort, Message: fmt.Sprintf("%s are missing", q)}
		}
		from := &layers[0]
		part := min(q, from.quantity)
		sum, err := from.amount.Portion(part, from.quantity)
		if err != nil {
			return nil, 0, err
		}
		m.Add(true, from.shelf, from.goods, from.receipt, from.line, part, sum)
		from.quantity -= part
		from.amount -= sum
		if from.quantity == 0 {
			layers = layers[1:]
		}
		q -= part
		cost += sum
	}
	return layers, cost, nil
}

type closeRules struct{ app *metadata.Application }

func (closeRules) Reads() map[string][]string { return nil }

func (closeRules) Needs(*document.Document) posting.Needs { return posting.Needs{} }

// Look implements posting.Closing: it counts the receipts and issues of the month.
func (r closeRules) Look(w *database.Work, d *document.Document) any {
	documents := new(int64)
	for _, name := range []string{Receipt, Issue} {
		meta, _ := r.app.Document(name)
		w.Queue("count documents", "SELECT count(*) FROM "+meta.Table()+" WHERE organisation = $1 AND date >= $2 AND "+
			"date <= $3", d.Organisation, month(d.Date), d.Date).Rows(func(rows pgx.Rows) error {
			var n int64
			err := rows.Scan(&n)
			*documents += n
			return err
		})
	}
	return documents
}

func (r closeRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	rowset.Column[int64](d.Header, "documents")[0] = *facts.Period.(*int64)
	closed := information.NewRecords(r.app.Record(Closings))
	closed.Rows.Append(month(d.Date).Format("2006-01"))
	return &posting.Records{Information: []*information.Records{closed}}, nil
}

func month(at time.Time) time.Time {
	return time.Date(at.UTC().Year(), at.UTC().Month(), 1, 0, 0, 0, 0, time.UTC)
}

func referenceOf(t *rowset.Table, name string) id.ID { return rowset.Column[id.ID](t, name)[0] }

func moves(app *metadata.Application, name string) *register.Movements {
	return register.NewMovements(app.Register(name), 0)
}

// keysOf returns the document's shelf with each of its goods once, and the quantity of each.
func keysOf(app *metadata.Application, d *document.Document) (keys *rowset.Table, sums []amount.Quantity) {
	lines, shelf := d.Section("lines"), referenceOf(d.Header, "shelf")
	goods, rows := rowset.Column[id.ID](lines, "goods"), map[id.ID]int{}
	keys = rowset.New(app.Register(Stock).Dimensions, len(goods))
	for i, q := range rowset.Column[amount.Quantity](lines, "quantity") {
		row, known := rows[goods[i]]
		if !known {
			row = keys.Rows()
			rows[goods[i]] = row
			keys.Append(shelf, goods[i])
			sums = append(sums, 0)
		}
		sums[row] += q
	}
	return keys, sums
}

// locks returns the locks on the stock that a document moves.
func locks(app *metadata.Application, d *document.Document) posting.Lock {
	return func() []lock.Key {
		keys, _ := keysOf(app, d)
		return register.Locks(app.Register(Stock), d.Organisation, keys)
	}
}

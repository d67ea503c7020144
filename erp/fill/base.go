package fill

import (
	"fmt"
	"math/rand/v2"
	"time"

	"plimsoll/erp"
	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/catalog"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/rowset"
)

// base is the catalogs: what goes into the tables, and what the history needs of it.
type base struct {
	options       Options
	rng           words
	created       time.Time
	catalogs      []rows
	organisations []*organisation
	known         map[string]*catalog.Elements
	itemIDs       []id.ID
	groupIDs      []id.ID
	serviceIDs    []id.ID
}

// organisation with what belongs to it.
type organisation struct {
	id                                id.ID
	warehouses, counterparties, users []id.ID
	departments, cashAccounts, assets []id.ID // of the assets those that nothing has been spent on
	invested                          []id.ID // assets to be commissioned
	expenseItems                      []id.ID
	cells                             map[id.ID][]id.ID // by warehouse
	customers, suppliers              []deal            // of the same counterparties, in the same order
}

// deal is a contract and whom it is with.
type deal struct{ counterparty, contract id.ID }

// historyLength is how far back the opening stock lies.
const historyLength = 91 * 24 * time.Hour

func newBase(options Options) *base {
	b := &base{
		options: options, rng: words{rand.New(rand.NewPCG(options.Seed, 0x706c696d736f6c6c))},
		created: options.Until.Add(-2 * historyLength).Truncate(time.Millisecond),
	}
	b.addOrganisations()
	b.addWarehouses()
	b.addUsers()
	b.addCounterparties()
	b.addContracts()
	b.addItems()
	b.addServices()
	b.addOwnThings()
	b.index()
	return b
}

// index makes the elements of every catalog known to the rules.
func (b *base) index() {
	b.known = map[string]*catalog.Elements{}
	app := erp.Metadata()
	for i := range app.Catalogs {
		b.known[app.Catalogs[i].Name] = catalog.Of(elements(&app.Catalogs[i], nil))
	}
	for _, c := range b.catalogs {
		meta, _ := app.Catalog(c.name)
		b.known[c.name] = catalog.Of(elements(meta, c.rows))
	}
}

func elements(meta *metadata.Catalog, rows [][]any) *rowset.Table {
	t := rowset.New(append([]metadata.Attribute{
		{Name: "id", Type: metadata.Reference}, {Name: "code", Type: metadata.Text}, {Name: "name", Type: metadata.Text},
	}, meta.Attributes...), len(rows))
	for _, row := range rows {
		if !meta.Shared { // an organisation's element has it in the second place
			row = append([]any{row[0]}, row[2:]...)
		}
		t.Append(row...)
	}
	return t
}

// newID is of the time the base was created; rising, so that codes and ids have one order.
func (b *base) newID() id.ID {
	b.created = b.created.Add(time.Millisecond)
	return id.At(b.created, b.rng.Uint64(), b.rng.Uint64())
}

// begin starts a catalog's rows: id, organisation unless shared, code, name, attributes.
func (b *base) begin(name string) *rows {
	meta, _ := erp.Metadata().Catalog(name)
	own := []string{"id", "organisation", "code", "name"}
	if meta.Shared {
		own = []string{"id", "code", "name"}
	}
	b.catalogs = append(b.catalogs, rows{name: name, table: meta.Table(), columns: columnNames(own, meta.Attributes)})
	return &b.catalogs[len(b.catalogs)-1]
}

// owner gives every organisation one thing first, and then most to the first ones.
func (b *base) owner(n int) *organisation {
	if n < len(b.organisations) {
		return b.organisations[n]
	}
	return b.organisations[skew.Pick(b.rng.Rand, len(b.organisations), skew.Mild)]
}

func (b *base) addOrganisations() {
	to := b.begin("organisations")
	w := b.rng
	for n := range b.options.Organisations {
		o := &organisation{id: b.newID(), cells: map[id.ID][]id.ID{}}
		short, full := w.firm()
		b.organisations = append(b.organisations, o)
		to.rows = append(to.rows, []any{
			o.id, o.id, fmt.Sprintf("ORG%03d", n+1), short, full, w.digits(10), w.digits(9), w.digits(13), w.address(), w.phone(),
			fmt.Sprintf("office%d@example.com", n+1), w.person(), w.person(), w.digits(20), w.digits(9),
		})
	}
}

func (b *base) addWarehouses() {
	to := b.begin("warehouses")
	w := b.rng
	for n := range b.options.Warehouses {
		o, v := b.owner(n), b.newID()
		o.warehouses = append(o.warehouses, v)
		to.rows = append(to.rows, []any{
			v, o.id, fmt.Sprintf("W%04d", n+1), fmt.Sprintf("Склад № %d, %s", n+1, w.of(cities)), w.of([]string{"Оптовый", "Розничный", "Распределительный центр"}),
			w.address(), w.person(), w.phone(), "Пн-Пт 08:00-20:00", amount.Quantity(1000 * (200 + w.IntN(20000))), len(o.warehouses)%5 == 2, // so that every organisation of two has one
		})
	}
}

func (b *base) addUsers() {
	to := b.begin("users")
	w := b.rng
	for n := range b.options.Users {
		o, v := b.owner(n), b.newID()
		o.users = append(o.users, v)
		warehouse := o.warehouses[skew.Pick(w.Rand, len(o.warehouses), skew.Mild)]
		role := w.of(roles)
		to.rows = append(to.rows, []any{
			v, o.id, erp.UserCode(n + 1), w.person(), warehouse, role, fmt.Sprintf("user%d@example.com", n+1), w.phone(), role, w.of([]string{"Отдел продаж", "Отдел закупок", "Склад", "Бухгалтерия"}),
		})
	}
}

func (b *base) addCounterparties() {
	to := b.begin("counterparties")
	w := b.rng
	for n := range b.options.Counterparties {
		o, v := b.owner(n), b.newID()
		o.counterparties = append(o.counterparties, v)
		short, full := w.firm()
		legal := w.address()
		to.rows = append(to.rows, []any{
			v, o.id, fmt.Sprintf("C%07d", n+1), short, full, w.digits(10), w.digits(9), w.digits(13), w.of([]string{"Юридическое лицо", "Предприниматель"}), legal,
			legal, w.phone(), fmt.Sprintf("partner%d@example.com", n+1), w.person(), w.of(banks), w.digits(20), w.digits(9),
			amount.Money(100 * 1000 * int64(w.IntN(5000))), int64(w.IntN(60)), w.IntN(3) > 0, w.IntN(4) > 0, w.of(notes), id.ID{},
		})
	}
}

func (b *base) addItems() {
	b.addGroups()
	to := b.begin("items")
	w := b.rng
	for n := range b.options.Items {
		v := b.newID()
		name, full := w.item(n + 1)
		cost := amount.Money(500 + w.IntN(500_000))
		b.itemIDs = append(b.itemIDs, v)
		group := w.IntN(len(groups))
		to.rows = append(to.rows, []any{
			v, fmt.Sprintf("I%07d", n+1), name, full, "A-" + w.digits(6), w.digits(13), w.of(units), groups[group], w.of(manufacturers), w.of(countries),
			w.digits(2) + "." + w.digits(2) + "." + w.digits(2), rates[w.IntN(len(rates))], cost + cost*amount.Money(15+w.IntN(40))/100, cost,
			amount.Quantity(10 + w.IntN(20000)), amount.Quantity(1 + w.IntN(500)),
			w.of([]string{"коробка", "мешок", "поддон", "без упаковки"}), int64(w.IntN(3) * 365), w.IntN(10) == 0,
			fmt.Sprintf("%s. Изготовитель: %s. Применяется в строительстве и ремонте, хранить в сухом помещении.", full, w.of(manufacturers)),
			accountOf(n), b.groupIDs[group],
		})
	}
}

// rates of VAT; most things have the first.
var rates = []int64{20, 20, 20, 10, 0}

// materialEvery n-th item is a material, the others are goods.
const materialEvery = 10

func accountOf(n int) string {
	if n%materialEvery == materialEvery-1 {
		return erp.AccountMaterials
	}
	return erp.AccountGoods
}

package fill

import (
	"fmt"
	"strconv"
	"time"

	"plimsoll/erp"
	"plimsoll/erp/books"
	"plimsoll/erp/skew"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// Counts that do not depend on the size of the base.
const (
	cashAccountsEach  = 3 // the last one is a cash desk
	bankAccountsEach  = cashAccountsEach - 1
	cellsPerWarehouse = 50
)

// Every contractsByOrderEvery-th counterparty settles by order. Every creditEvery-th has a credit limit, too high for
// the history to reach.
const (
	contractsByOrderEvery = 10
	creditEvery           = 7
	creditLimit           = amount.Money(1e14)
	paymentLimit          = amount.Money(0) // none
)

// list is a range of catalog elements, of one organisation or shared.
type list struct {
	name         string
	first, count int                     // of all in the catalog
	element      func(e *element, i int) // id, organisation unless shared, code, name, attributes
}

// elementsAtOnce is the number of elements in one unit.
const elementsAtOnce = 20_000

// cut splits lists into units.
func cut(lists []list) (units [][]list) {
	room := 0
	for _, l := range lists {
		for from := 0; from < l.count; {
			if room == 0 {
				units, room = append(units, nil), elementsAtOnce
			}
			n := min(room, l.count-from)
			last := &units[len(units)-1]
			*last = append(*last, l.part(from, n))
			from, room = from+n, room-n
		}
	}
	return units
}

func (l list) part(from, count int) list {
	return list{l.name, l.first + from, count, func(e *element, i int) { l.element(e, from+i) }}
}

func elementsOf(lists []list) (n int) {
	for _, l := range lists {
		n += l.count
	}
	return n
}

// common returns the lists that belong to no organisation. Users are among them: their codes are not grouped by
// organisation.
func (b *base) common() []list {
	return []list{
		{"organisations", 0, b.Organisations, func(e *element, i int) { b.organisation(e, b.organisations[i]) }},
		{"users", 0, b.Users, b.user},
		{"item_groups", 0, len(groups), b.group},
		{"items", 0, b.Items, b.item},
		{"services", 0, len(serviceNames), b.service},
	}
}

// listsOf returns the lists of an organisation.
func (b *base) listsOf(o *organisation) []list {
	fillCatalog := func(name string, s slice, make func(e *element, o *organisation, i int)) list {
		return list{name, s.first, s.count, func(e *element, i int) { make(e, o, i) }}
	}
	houses := o.company.warehouses
	return []list{
		fillCatalog("departments", o.company.departments, b.department),
		fillCatalog("employees", o.employees, b.employee),
		fillCatalog("warehouses", houses, b.warehouse),
		fillCatalog("warehouse_cells", slice{houses.first * cellsPerWarehouse, houses.count * cellsPerWarehouse},
			b.cell),
		fillCatalog("partners", o.partners, b.partner),
		fillCatalog("counterparties", o.counterparties, b.counterparty),
		fillCatalog("contracts", o.contracts, b.contract),
		fillCatalog("cash_accounts", o.cash(), b.cashAccount),
		fillCatalog("expense_items", o.expenses(), b.expenseItem),
		fillCatalog("fixed_assets", o.assets, b.asset),
	}
}

func (o *organisation) cash() slice { return slice{o.n * cashAccountsEach, cashAccountsEach} }

func (o *organisation) expenses() slice { return slice{o.n * len(expenseNames), len(expenseNames)} }

func (b *base) organisation(e *element, o *organisation) {
	w := e.seeded(b, organisations, o.n)
	short, full := w.firm()
	e.ref(o.id).ref(o.id).code("ORG", 3, o.n+1).text(short).text(full).digits(w, 10).digits(w, 9).digits(w,
		13).text(w.address()).text(w.phone()).
		text(fmt.Sprintf("office%d@example.com", o.n+1)).person(w).person(w).digits(w, 20).digits(w, 9)
}

// addressed warehouses (with cells) are the second of an organisation and every fifth after it, so that an
// organisation with two warehouses has one.
func addressed(i int) bool { return i%5 == 1 }

func (b *base) warehouse(e *element, o *organisation, i int) {
	n := o.company.warehouses.first + i
	w := e.seeded(b, warehouses, n)
	e.ref(o.warehouses[i]).ref(o.id).code("W", 4,
		n+1).text(fmt.Sprintf("Склад № %d, %s", n+1, w.choose(cities))).text(
		w.choose([]string{"Оптовый", "Розничный", "Распределительный центр"})).
		text(w.address()).person(w).text(w.phone()).text("Пн-Пт 08:00-20:00").quantity(
		amount.Quantity(1000 * (200 + w.IntN(20000)))).flag(addressed(i))
}

func (b *base) cellID(o *organisation, warehouse, cell int) id.ID {
	return b.id(cells, (o.company.warehouses.first+warehouse)*cellsPerWarehouse+cell)
}

// cell of an organisation. Each warehouse has a contiguous range.
func (b *base) cell(e *element, o *organisation, i int) {
	warehouse, n := i/cellsPerWarehouse, i%cellsPerWarehouse
	e.ref(b.cellID(o, warehouse, n)).ref(o.id).code("CL", 6,
		o.company.warehouses.first*cellsPerWarehouse+i+1).text(fmt.Sprintf("%02d-%02d", n/10+1, n%10+1)).
		ref(o.warehouses[warehouse]).text(fmt.Sprint(n/10 + 1)).integer(n%10 + 1).quantity(1000)
}

func (b *base) user(e *element, n int) {
	o, w := b.organisations[b.employer(n)], e.seeded(b, users, n)
	role := w.choose(roles)
	e.ref(b.id(users, n)).ref(o.id).text(erp.UserCode(n + 1)).person(w).ref(
		o.warehouses[skew.Pick(w.Rand, len(o.warehouses), skew.Mild)]).text(role).
		text(fmt.Sprintf("user%d@example.com", n+1)).text(w.phone()).text(role).text(
		w.choose([]string{"Отдел продаж", "Отдел закупок", "Склад", "Бухгалтерия"}))
}

func (b *base) department(e *element, o *organisation, i int) {
	n, name := o.company.departments.first+i, departmentNames[i%len(departmentNames)]
	if i >= len(departmentNames) {
		name = fmt.Sprintf("%s № %d", name, i/len(departmentNames)+1)
	}
	e.ref(o.departments[i]).ref(o.id).code("DP", 6, n+1).text(name).person(e.seeded(b, departments, n))
}

func (b *base) employee(e *element, o *organisation, i int) {
	n := o.employees.first + i
	w := e.seeded(b, employees, n)
	e.ref(b.id(employees, n)).ref(o.id).code("E", 6,
		n+1).person(w).ref(o.departments[i%len(o.departments)]).text(w.choose(roles)).text(w.phone()).text("")
}

func (b *base) cashAccount(e *element, o *organisation, i int) {
	n := o.cash().first + i
	w := e.seeded(b, cashAccounts, n)
	e.ref(o.cashAccounts[i]).ref(o.id).code("CA", 6,
		n+1).text(fmt.Sprintf("Счёт № %d", i+1)).flag(i < bankAccountsEach).text(w.choose(banks)).digits(w,
		20).digits(w,
		9).text("RUB")
}

func (b *base) expenseItem(e *element, o *organisation, i int) {
	e.ref(o.expenseItems[i]).ref(o.id).code("X", 6,
		o.expenses().first+i+1).text(expenseNames[i]).text("Общехозяйственные")
}

func (b *base) assetID(o *organisation, i int) id.ID { return b.id(assets, o.assets.first+i) }

func (b *base) asset(e *element, o *organisation, i int) {
	n := o.assets.first + i
	w := e.seeded(b, assets, n)
	e.ref(b.assetID(o, i)).ref(o.id).code("FA", 6, n+1).text(w.choose(assetNames), " № ", strconv.Itoa(n+1)).digits(w,
		8).text("Оборудование").ref(id.ID{}).
		ref(o.departments[skew.Pick(w.Rand, len(o.departments), skew.Mild)]).integer(24 + 12*w.IntN(8))
}

func (b *base) partner(e *element, o *organisation, i int) {
	n, name, segment := o.partners.first+i, "Розничные покупатели", "Розница"
	w := e.seeded(b, partners, n)
	if i > 0 {
		name, _ = w.firm()
		segment = "Опт"
	}
	e.ref(b.id(partners, n)).ref(o.id).code("P", 6,
		n+1).text(name).text(segment).text(w.choose(cities)).person(w).text(w.phone()).text("").text("")
}

func (b *base) counterparty(e *element, o *organisation, i int) {
	n := o.counterparties.first + i
	w := e.seeded(b, counterparties, n)
	short, full := w.firm()
	legal := w.address()
	e.ref(b.id(counterparties, n)).ref(o.id).code("C", 7, n+1).text(short).text(full).digits(w, 10).digits(w,
		9).digits(w, 13).
		text(w.choose([]string{"Юридическое лицо", "Предприниматель"})).text(legal).text(legal).text(w.phone()).text(
		"partner", strconv.Itoa(n+1), "@example.com").person(w).
		text(w.choose(banks)).digits(w, 20).digits(w,
		9).money(amount.Money(100 * 1000 * int64(w.IntN(5000)))).integer(w.IntN(60)).flag(w.IntN(3) > 0).flag(
		w.IntN(4) > 0).
		text(w.choose(notes)).ref(b.id(partners, o.partners.first+i*o.partners.count/o.counterparties.count))
}

// contractsOf a counterparty: the number of the first and the count. Big counterparties have one more than the
// others.
func (o *organisation) contractsOf(counterparty int) slice {
	each, more := o.contracts.count/o.counterparties.count, o.contracts.count%o.counterparties.count
	s := slice{counterparty*each + min(counterparty, more), each}
	if counterparty < more {
		s.count++
	}
	return s
}

// counterpartyOf the i-th contract of an organisation, and the contract's index among those of the counterparty.
func (o *organisation) counterpartyOf(i int) (counterparty, contract int) {
	each, more := o.contracts.count/o.counterparties.count, o.contracts.count%o.counterparties.count
	if i < more*(each+1) {
		return i / (each + 1), i % (each + 1)
	}
	i -= more * (each + 1)
	return more + i/each, i % each
}

func (b *base) contractID(o *organisation, i int) id.ID { return b.id(contracts, o.contracts.first+i) }

// terms of a contract that rules read.
type terms struct {
	counterparty id.ID
	customer     bool // else it is one with a supplier
	limit        amount.Money
	byOrder      bool
}

// termsOf a contract. A counterparty's contracts alternate between selling and buying, so that each counterparty can
// be customer and supplier.
func (b *base) termsOf(o *organisation, i int) terms {
	counterparty, which := o.counterpartyOf(i)
	t := terms{
		counterparty: b.id(counterparties, o.counterparties.first+counterparty), customer: which%contractsLeast == 0,
		byOrder: counterparty%contractsByOrderEvery == contractsByOrderEvery-1,
	}
	if t.customer && counterparty%creditEvery == creditEvery-1 {
		t.limit = creditLimit
	}
	return t
}

func (b *base) contract(e *element, o *organisation, i int) {
	n, t := o.contracts.first+i, b.termsOf(o, i)
	w := e.seeded(b, contracts, n)
	e.ref(b.contractID(o, i)).ref(o.id).code("D", 7, n+1).text("Договор № ",
		strconv.Itoa(n+1)).ref(t.counterparty).flag(t.customer).flag(!t.customer).text("RUB").
		money(t.limit).integer(w.IntN(60)).flag(t.byOrder).moment(b.created.Truncate(24 * time.Hour)).moment(
		time.Time{}).person(w).money(paymentLimit)
}

func (b *base) group(e *element, n int) {
	e.ref(b.id(itemGroups, n)).code("NG", 3, n+1).text(groups[n]).text("")
}

func (b *base) item(e *element, n int) {
	w := e.seeded(b, items, n)
	name, full := w.item(n + 1)
	cost := amount.Money(500 + w.IntN(500_000))
	group := w.IntN(len(groups))
	e.ref(b.id(items, n)).code("I", 7, n+1).text(name).text(full).text("A-", w.digits(6)).digits(w,
		13).text(w.choose(units)).text(groups[group]).text(w.choose(manufacturers)).
		text(w.choose(countries)).text(w.digits(2), ".", w.digits(2), ".",
		w.digits(2)).integer(rates[w.IntN(len(rates))]).money(cost+cost*amount.Money(15+w.IntN(40))/100).money(cost).
		quantity(amount.Quantity(10+w.IntN(20000))).quantity(amount.Quantity(1+w.IntN(500))).
		text(w.choose([]string{"коробка", "мешок", "поддон",
			"без упаковки"})).integer(w.IntN(3)*365).flag(w.IntN(10) == 0).
		text(full, ". Изготовитель: ", w.choose(manufacturers),
			". Применяется в строительстве и ремонте, хранить в сухом помещении.").
		text(accountOf(n)).ref(b.groupIDs[group])
}

// rates of VAT. Most items have the first.
var rates = []int{20, 20, 20, 10, 0}

// Every materialEvery-th item is a material; the others are goods.
const materialEvery = 10

func accountOf(n int) string {
	if n%materialEvery == materialEvery-1 {
		return books.AccountMaterials
	}
	return books.AccountGoods
}

func (b *base) service(e *element, n int) {
	w := e.seeded(b, services, n)
	cost := amount.Money(100_000 + w.IntN(5_000_000))
	e.ref(b.serviceIDs[n]).code("S", 5, n+1).text(serviceNames[n]).text(serviceNames[n]).text("усл").integer(
		rates[w.IntN(len(rates))]).money(cost + cost/4).money(cost).
		ref(b.groupIDs[n%len(b.groupIDs)])
}

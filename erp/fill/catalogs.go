package fill

import (
	"fmt"
	"time"

	"plimsoll/erp"
	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/id"
)

// What an organisation has however large the base.
const (
	cashAccountsEach  = 3 // the last one is a cash desk
	bankAccountsEach  = cashAccountsEach - 1
	cellsPerWarehouse = 50
)

// contractsByOrderEvery n-th counterparty settles by order, creditEvery n-th has a credit limit, which a history does not reach.
const (
	contractsByOrderEvery = 10
	creditEvery           = 7
	creditLimit           = amount.Money(1e14)
	paymentLimit          = amount.Money(0) // none
)

// list is elements of a catalog, of one organisation or shared.
type list struct {
	name         string
	first, count int               // of all in the catalog
	element      func(i int) []any // id, organisation unless shared, code, name, attributes
}

// elementsAtOnce are written by one unit of work.
const elementsAtOnce = 20_000

// cut lists into what units of work write, one after the other.
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
	return list{l.name, l.first + from, count, func(i int) []any { return l.element(from + i) }}
}

func elementsOf(lists []list) (n int) {
	for _, l := range lists {
		n += l.count
	}
	return n
}

// common are the lists of no organisation's own. Users are among them, whose codes come in no order of organisations.
func (b *base) common() []list {
	return []list{
		{"organisations", 0, b.Organisations, func(i int) []any { return b.organisation(b.organisations[i]) }},
		{"users", 0, b.Users, b.user},
		{"item_groups", 0, len(groups), b.group},
		{"items", 0, b.Items, b.item},
		{"services", 0, len(serviceNames), b.service},
	}
}

// own are the lists of an organisation.
func (b *base) own(o *organisation) []list {
	of := func(name string, s slice, element func(o *organisation, i int) []any) list {
		return list{name, s.first, s.count, func(i int) []any { return element(o, i) }}
	}
	houses := o.company.warehouses
	return []list{
		of("departments", o.company.departments, b.department),
		of("employees", o.employees, b.employee),
		of("warehouses", houses, b.warehouse),
		of("warehouse_cells", slice{houses.first * cellsPerWarehouse, houses.count * cellsPerWarehouse}, b.cell),
		of("partners", o.partners, b.partner),
		of("counterparties", o.counterparties, b.counterparty),
		of("contracts", o.contracts, b.contract),
		of("cash_accounts", o.cash(), b.cashAccount),
		of("expense_items", o.expenses(), b.expenseItem),
		of("fixed_assets", o.assets, b.asset),
	}
}

func (o *organisation) cash() slice { return slice{o.n * cashAccountsEach, cashAccountsEach} }

func (o *organisation) expenses() slice { return slice{o.n * len(expenseNames), len(expenseNames)} }

// words for the n-th element of a catalog.
func (b *base) words(catalog, n int) words { return words{b.chance(ofElement, catalog, n)} }

func (b *base) organisation(o *organisation) []any {
	w := b.words(organisations, o.n)
	short, full := w.firm()
	return []any{
		o.id, o.id, fmt.Sprintf("ORG%03d", o.n+1), short, full, w.digits(10), w.digits(9), w.digits(13), w.address(), w.phone(),
		fmt.Sprintf("office%d@example.com", o.n+1), w.person(), w.person(), w.digits(20), w.digits(9),
	}
}

// addressed warehouses are the second one of an organisation and each fifth after it, so that every organisation of two has one.
func addressed(i int) bool { return i%5 == 1 }

func (b *base) warehouse(o *organisation, i int) []any {
	n := o.company.warehouses.first + i
	w := b.words(warehouses, n)
	return []any{
		o.warehouses[i], o.id, fmt.Sprintf("W%04d", n+1), fmt.Sprintf("Склад № %d, %s", n+1, w.of(cities)), w.of([]string{"Оптовый", "Розничный", "Распределительный центр"}),
		w.address(), w.person(), w.phone(), "Пн-Пт 08:00-20:00", amount.Quantity(1000 * (200 + w.IntN(20000))), addressed(i),
	}
}

func (b *base) cellID(o *organisation, warehouse, cell int) id.ID {
	return b.id(cells, (o.company.warehouses.first+warehouse)*cellsPerWarehouse+cell)
}

// cell of an organisation, whose warehouses have one after the other.
func (b *base) cell(o *organisation, i int) []any {
	warehouse, n := i/cellsPerWarehouse, i%cellsPerWarehouse
	return []any{
		b.cellID(o, warehouse, n), o.id, fmt.Sprintf("CL%06d", o.company.warehouses.first*cellsPerWarehouse+i+1), fmt.Sprintf("%02d-%02d", n/10+1, n%10+1),
		o.warehouses[warehouse], fmt.Sprint(n/10 + 1), int64(n%10 + 1), amount.Quantity(1000),
	}
}

func (b *base) user(n int) []any {
	o, w := b.organisations[b.employer(n)], b.words(users, n)
	role := w.of(roles)
	return []any{
		b.id(users, n), o.id, erp.UserCode(n + 1), w.person(), o.warehouses[skew.Pick(w.Rand, len(o.warehouses), skew.Mild)], role,
		fmt.Sprintf("user%d@example.com", n+1), w.phone(), role, w.of([]string{"Отдел продаж", "Отдел закупок", "Склад", "Бухгалтерия"}),
	}
}

func (b *base) department(o *organisation, i int) []any {
	n, name := o.company.departments.first+i, departmentNames[i%len(departmentNames)]
	if i >= len(departmentNames) {
		name = fmt.Sprintf("%s № %d", name, i/len(departmentNames)+1)
	}
	return []any{o.departments[i], o.id, fmt.Sprintf("DP%06d", n+1), name, b.words(departments, n).person()}
}

func (b *base) employee(o *organisation, i int) []any {
	n := o.employees.first + i
	w := b.words(employees, n)
	return []any{b.id(employees, n), o.id, fmt.Sprintf("E%06d", n+1), w.person(), o.departments[i%len(o.departments)], w.of(roles), w.phone(), ""}
}

func (b *base) cashAccount(o *organisation, i int) []any {
	n := o.cash().first + i
	w := b.words(cashAccounts, n)
	return []any{o.cashAccounts[i], o.id, fmt.Sprintf("CA%06d", n+1), fmt.Sprintf("Счёт № %d", i+1), i < bankAccountsEach, w.of(banks), w.digits(20), w.digits(9), "RUB"}
}

func (b *base) expenseItem(o *organisation, i int) []any {
	return []any{o.expenseItems[i], o.id, fmt.Sprintf("X%06d", o.expenses().first+i+1), expenseNames[i], "Общехозяйственные"}
}

func (b *base) assetID(o *organisation, i int) id.ID { return b.id(assets, o.assets.first+i) }

func (b *base) asset(o *organisation, i int) []any {
	n := o.assets.first + i
	w := b.words(assets, n)
	return []any{
		b.assetID(o, i), o.id, fmt.Sprintf("FA%06d", n+1), fmt.Sprintf("%s № %d", w.of(assetNames), n+1), w.digits(8), "Оборудование", id.ID{},
		o.departments[skew.Pick(w.Rand, len(o.departments), skew.Mild)], int64(24 + 12*w.IntN(8)),
	}
}

func (b *base) partner(o *organisation, i int) []any {
	n, name, segment := o.partners.first+i, "Розничные покупатели", "Розница"
	w := b.words(partners, n)
	if i > 0 {
		name, _ = w.firm()
		segment = "Опт"
	}
	return []any{b.id(partners, n), o.id, fmt.Sprintf("P%06d", n+1), name, segment, w.of(cities), w.person(), w.phone(), "", ""}
}

func (b *base) counterparty(o *organisation, i int) []any {
	n := o.counterparties.first + i
	w := b.words(counterparties, n)
	short, full := w.firm()
	legal := w.address()
	return []any{
		b.id(counterparties, n), o.id, fmt.Sprintf("C%07d", n+1), short, full, w.digits(10), w.digits(9), w.digits(13), w.of([]string{"Юридическое лицо", "Предприниматель"}), legal,
		legal, w.phone(), fmt.Sprintf("partner%d@example.com", n+1), w.person(), w.of(banks), w.digits(20), w.digits(9),
		amount.Money(100 * 1000 * int64(w.IntN(5000))), int64(w.IntN(60)), w.IntN(3) > 0, w.IntN(4) > 0, w.of(notes),
		b.id(partners, o.partners.first+i*o.partners.count/o.counterparties.count),
	}
}

// contractsOf a counterparty: the first of them, and how many. Each has as many, the big ones one more.
func (o *organisation) contractsOf(counterparty int) slice {
	each, more := o.contracts.count/o.counterparties.count, o.contracts.count%o.counterparties.count
	s := slice{counterparty*each + min(counterparty, more), each}
	if counterparty < more {
		s.count++
	}
	return s
}

// counterpartyOf the i-th contract of an organisation, and which one of its contracts it is.
func (o *organisation) counterpartyOf(i int) (counterparty, contract int) {
	each, more := o.contracts.count/o.counterparties.count, o.contracts.count%o.counterparties.count
	if i < more*(each+1) {
		return i / (each + 1), i % (each + 1)
	}
	i -= more * (each + 1)
	return more + i/each, i % each
}

func (b *base) contractID(o *organisation, i int) id.ID { return b.id(contracts, o.contracts.first+i) }

// terms of a contract are what rules look at.
type terms struct {
	counterparty id.ID
	customer     bool // else it is one with a supplier
	limit        amount.Money
	byOrder      bool
}

// termsOf a contract: those of a counterparty are for selling and for buying by turns, so that the directory of counterparties serves for both.
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

func (b *base) contract(o *organisation, i int) []any {
	n, t := o.contracts.first+i, b.termsOf(o, i)
	w := b.words(contracts, n)
	return []any{
		b.contractID(o, i), o.id, fmt.Sprintf("D%07d", n+1), fmt.Sprintf("Договор № %d", n+1), t.counterparty, t.customer, !t.customer, "RUB",
		t.limit, int64(w.IntN(60)), t.byOrder, b.created.Truncate(24 * time.Hour), time.Time{}, w.person(), paymentLimit,
	}
}

func (b *base) group(n int) []any {
	return []any{b.id(itemGroups, n), fmt.Sprintf("NG%03d", n+1), groups[n], ""}
}

func (b *base) item(n int) []any {
	w := b.words(items, n)
	name, full := w.item(n + 1)
	cost := amount.Money(500 + w.IntN(500_000))
	group := w.IntN(len(groups))
	return []any{
		b.id(items, n), fmt.Sprintf("I%07d", n+1), name, full, "A-" + w.digits(6), w.digits(13), w.of(units), groups[group], w.of(manufacturers), w.of(countries),
		w.digits(2) + "." + w.digits(2) + "." + w.digits(2), rates[w.IntN(len(rates))], cost + cost*amount.Money(15+w.IntN(40))/100, cost,
		amount.Quantity(10 + w.IntN(20000)), amount.Quantity(1 + w.IntN(500)),
		w.of([]string{"коробка", "мешок", "поддон", "без упаковки"}), int64(w.IntN(3) * 365), w.IntN(10) == 0,
		fmt.Sprintf("%s. Изготовитель: %s. Применяется в строительстве и ремонте, хранить в сухом помещении.", full, w.of(manufacturers)),
		accountOf(n), b.groupIDs[group],
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

func (b *base) service(n int) []any {
	w := b.words(services, n)
	cost := amount.Money(100_000 + w.IntN(5_000_000))
	return []any{
		b.serviceIDs[n], fmt.Sprintf("S%05d", n+1), serviceNames[n], serviceNames[n], "усл", rates[w.IntN(len(rates))], cost + cost/4, cost, b.groupIDs[n%len(b.groupIDs)],
	}
}

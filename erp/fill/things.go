package fill

import (
	"fmt"
	"time"

	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/id"
)

// contractsByOrderEvery n-th contract is settled by order, creditEvery n-th has a credit limit, which a history does not reach.
const (
	contractsByOrderEvery = 10
	creditEvery           = 7
	creditLimit           = amount.Money(1e14)
)

// addContracts: every counterparty has one for buying and one for selling, so that the directory of counterparties serves for both.
func (b *base) addContracts() {
	to := b.begin("contracts")
	n := 0
	for _, o := range b.organisations {
		for i, c := range o.counterparties {
			for _, customer := range []bool{true, false} {
				n++
				v, limit := b.newID(), amount.Money(0)
				if customer && i%creditEvery == creditEvery-1 {
					limit = creditLimit
				}
				to.rows = append(to.rows, []any{
					v, o.id, fmt.Sprintf("D%07d", n), fmt.Sprintf("Договор № %d", n), c, customer, !customer, "RUB", limit, int64(b.rng.IntN(60)),
					i%contractsByOrderEvery == contractsByOrderEvery-1, b.created.Truncate(24 * time.Hour), time.Time{}, b.rng.person(), amount.Money(0),
				})
				if customer {
					o.customers = append(o.customers, deal{c, v})
				} else {
					o.suppliers = append(o.suppliers, deal{c, v})
				}
			}
		}
	}
}

func (b *base) addGroups() {
	to := b.begin("item_groups")
	for n, name := range groups {
		v := b.newID()
		b.groupIDs = append(b.groupIDs, v)
		to.rows = append(to.rows, []any{v, fmt.Sprintf("NG%03d", n+1), name, ""})
	}
}

func (b *base) addServices() {
	to := b.begin("services")
	for n, name := range serviceNames {
		cost := amount.Money(100_000 + b.rng.IntN(5_000_000))
		v := b.newID()
		b.serviceIDs = append(b.serviceIDs, v)
		to.rows = append(to.rows, []any{v, fmt.Sprintf("S%05d", n+1), name, name, "усл", rates[b.rng.IntN(len(rates))], cost + cost/4, cost, b.groupIDs[n%len(b.groupIDs)]})
	}
}

const (
	employeesPerDepartment = 3
	cashAccountsEach       = 3  // the last one is a cash desk
	assetsLeast            = 60 // of an organisation
	cellsPerWarehouse      = 50
)

// addOwnThings: departments with employees, accounts, items of expense, fixed assets and cells of every organisation.
func (b *base) addOwnThings() {
	departments, employees, accounts := b.begin("departments"), b.begin("employees"), b.begin("cash_accounts")
	expenses, assets, cells, partners := b.begin("expense_items"), b.begin("fixed_assets"), b.begin("warehouse_cells"), b.begin("partners")
	w := b.rng
	add := func(to *rows, prefix string, o *organisation, name string, values ...any) id.ID {
		v := b.newID()
		to.rows = append(to.rows, append([]any{v, o.id, fmt.Sprintf("%s%06d", prefix, len(to.rows)+1), name}, values...))
		return v
	}
	for _, o := range b.organisations {
		for _, name := range departmentNames {
			v := add(departments, "DP", o, name, w.person())
			o.departments = append(o.departments, v)
			for range employeesPerDepartment {
				add(employees, "E", o, w.person(), v, w.of(roles), w.phone(), "")
			}
		}
		for n := range cashAccountsEach {
			bank := n < cashAccountsEach-1
			o.cashAccounts = append(o.cashAccounts, add(accounts, "CA", o, fmt.Sprintf("Счёт № %d", n+1), bank, w.of(banks), w.digits(20), w.digits(9), "RUB"))
		}
		for _, name := range expenseNames {
			o.expenseItems = append(o.expenseItems, add(expenses, "X", o, name, "Общехозяйственные"))
		}
		for _, warehouse := range o.warehouses {
			for n := range cellsPerWarehouse {
				cell := add(cells, "CL", o, fmt.Sprintf("%02d-%02d", n/10+1, n%10+1), warehouse, fmt.Sprint(n/10+1), int64(n%10+1), amount.Quantity(1000))
				o.cells[warehouse] = append(o.cells[warehouse], cell)
			}
		}
		add(partners, "P", o, "Розничные покупатели", "Розница", w.of(cities), w.person(), w.phone(), "", "")
	}
	for n := range max(assetsLeast*len(b.organisations), b.options.Counterparties*2/5) { // as many against counterparties as in the base of claim C02
		o := b.organisations[n%len(b.organisations)]
		if n >= assetsLeast*len(b.organisations) {
			o = b.owner(n)
		}
		o.assets = append(o.assets, add(assets, "FA", o, fmt.Sprintf("%s № %d", w.of(assetNames), n+1), w.digits(8), "Оборудование", id.ID{},
			o.departments[skew.Pick(w.Rand, len(o.departments), skew.Mild)], int64(24+12*w.IntN(8))))
	}
}

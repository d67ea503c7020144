// Package damagetest has the books of all types of documents that tests damage.
package damagetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/audit/damage"
	"plimsoll/erp/erptest"
	"plimsoll/erp/monthclose"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/jobs"
	"plimsoll/platform/worker/shape"
)

// Rounds of documents in which each type has as many as there are damages of it.
const Rounds = 9

// Company has documents of all types, made in turns by workers of all shapes.
func Company(t *testing.T, rounds int) *erptest.Company {
	c := erptest.New(t, 3)
	o := c.Organisations[0]
	second := id.New()
	c.Exec(t, "INSERT INTO cat_counterparties (id, organisation, code, name) VALUES ($1, $2, 'P2', 'P2')", second, o.ID)
	c.Exec(t, "INSERT INTO cat_contracts (id, organisation, code, name, counterparty, customer, supplier, currency) "+
		"VALUES ($1, $2, 'P2', 'P2', $3, true, true, 'RUB')", erptest.Contract(second), o.ID, second)
	c.Exec(t, "INSERT INTO cat_users (id, organisation, code, name, warehouse) VALUES ($1, $2, 'second', 'second', $3)",
		id.New(), o.ID, o.Warehouses[0])
	var users []*erptest.User
	defer erptest.Alone(t, c.Database) // who uses the company has it alone
	for _, name := range shape.Names {
		config := erptest.Shaped(t, name, shape.Tweaks{})
		db, err := database.Open(t.Context(), c.DSN, config.Shape.Options(database.Options{Application: "worker"}))
		if err != nil {
			t.Fatal(err)
		}
		base, drain := erptest.Start(t, db, config)
		defer db.Close()
		defer drain()
		users = append(users, erptest.Login(t, base, o.User))
	}
	for round := range rounds {
		asset := id.New()
		c.Exec(t, "INSERT INTO cat_fixed_assets (id, organisation, code, name, useful_months) VALUES "+
			"($1, $2, $3, $3, 36)", asset, o.ID, fmt.Sprintf("A%d", round))
		r := business{t, c, users[round%len(users)], o, round, asset}
		r.trade()
		r.pay()
		r.keep()
	}
	closed(t, c)
	return c
}

// closed is January, in which there was a sale.
func closed(t *testing.T, c *erptest.Company) {
	t.Helper()
	arguments, _ := json.Marshal(monthclose.Arguments{Organisation: c.Organisations[0].ID, Month: "2025-01"})
	done, err := monthclose.Job(c.Database).Work(t.Context(), jobs.Task{Arguments: arguments})
	if all, _ := done.([]monthclose.Closed); err != nil || len(all) != 1 || !all[0].Closed {
		t.Fatalf("%+v %v", done, err)
	}
}

// business of a round.
type business struct {
	t     *testing.T
	c     *erptest.Company
	u     *erptest.User
	o     erptest.Organisation
	round int
	asset id.ID
}

func (b business) post(kind string, f erptest.Fields) id.ID {
	b.t.Helper()
	if f["basis"] == nil && strings.HasPrefix(kind, "invoice") || f["lines"] != nil || f["amount"] != nil {
		f["counterparty"], f["contract"] = b.o.Counterparty, erptest.Contract(b.o.Counterparty)
	}
	switch kind {
	case "invoice-issued", "invoice-received":
		f["contract"] = erptest.Contract(b.o.Counterparty)
	case "other-goods-receipt", "internal-consumption", "settlement-registrar", "warehouse-receipt-order",
		"warehouse-issue-order", "asset-commissioning":
		delete(f, "counterparty")
		delete(f, "contract")
	}
	a := b.u.Post(b.t, kind, "", f)
	if a.Status != 201 {
		b.t.Fatalf("%s: %d %s", kind, a.Status, a.Body)
	}
	return a.ID
}

func (b business) lines(quantity string) []erptest.Fields {
	return []erptest.Fields{{"item": b.c.Items[0], "quantity": quantity}, {"item": b.c.Items[1], "quantity": quantity}}
}

func (b business) services() []erptest.Fields {
	return []erptest.Fields{{"service": b.c.Services[0], "quantity": "2"},
		{"service": b.c.Services[1], "quantity": "3"}}
}

func (b business) cells() []erptest.Fields {
	return []erptest.Fields{{"item": b.c.Items[0], "cell": b.o.Cells[0], "quantity": "2"}}
}

func (b business) number(prefix string) string { return fmt.Sprintf("%s-%d", prefix, b.round) }

// trade with goods, by order and without, and with services.
func (b business) trade() {
	supplied := b.post("supplier-order", erptest.Fields{"warehouse": b.o.Warehouses[0], "lines": b.lines("20"),
		"supplier_number": b.number("SO")})
	b.post("goods-receipt", erptest.Fields{"warehouse": b.o.Warehouses[0], "lines": b.lines("20"),
		"source_order": supplied})
	received := b.post("goods-receipt", erptest.Fields{"warehouse": b.o.Addressed, "lines": b.lines("10")})
	b.post("warehouse-receipt-order", erptest.Fields{"basis": received, "warehouse": b.o.Addressed, "lines": b.cells()})
	ordered := b.post("customer-order", erptest.Fields{"warehouse": b.o.Warehouses[0], "lines": b.lines("4")})
	b.post("goods-sale", erptest.Fields{"warehouse": b.o.Warehouses[0], "lines": b.lines("3"), "source_order": ordered})
	shipped := b.post("goods-sale", erptest.Fields{"warehouse": b.o.Addressed, "lines": b.lines("3")})
	b.post("warehouse-issue-order", erptest.Fields{"basis": shipped, "warehouse": b.o.Addressed, "lines": b.cells()})
	sold := b.post("service-sale", erptest.Fields{"lines": b.services()})
	b.post("invoice-issued", erptest.Fields{"basis": sold})
	if b.round == 0 {
		b.post("service-sale", erptest.Fields{"lines": b.services(), "date": "2025-01-15T12:00:00Z"})
	}
}

// pay what is owed, and ahead.
func (b business) pay() {
	paid := b.post("bank-receipt", erptest.Fields{"cash_account": b.o.Bank, "bank_reference": b.number("BR"),
		"amount": "5000.00"})
	b.post("invoice-issued", erptest.Fields{"basis": paid, "advance": "30.00"})
	b.post("invoice-issued", erptest.Fields{"basis": b.post("service-sale", erptest.Fields{"lines": b.services()})})
	bought := b.post("service-purchase", erptest.Fields{"asset": b.asset, "lines": b.services(),
		"supplier_number": b.number("SP")})
	b.post("invoice-received", erptest.Fields{"basis": bought, "invoice_number": b.number("IR")})
	requested := b.post("payment-request", erptest.Fields{"basis": bought, "amount": "4.00"})
	b.post("bank-payment", erptest.Fields{"cash_account": b.o.Bank, "bank_reference": b.number("BP"), "amount": "3.00",
		"request": requested})
	b.post("settlement-registrar", erptest.Fields{"lines": []erptest.Fields{
		{"contract": erptest.Contract(b.o.Counterparty), "supplier": true, "debit": "3.00"},
		{"contract": erptest.Contract(b.o.Counterparty), "credit": "3.00"},
	}})
}

// keep goods: find, use up, and put to use.
func (b business) keep() {
	b.post("other-goods-receipt", erptest.Fields{"warehouse": b.o.Warehouses[0], "lines": b.lines("5")})
	b.post("internal-consumption", erptest.Fields{"warehouse": b.o.Warehouses[0], "department": b.o.Department,
		"expense_item": b.o.ExpenseItem, "lines": b.lines("2")})
	b.post("asset-commissioning", erptest.Fields{"asset": b.asset, "department": b.o.Department,
		"warehouse": b.o.Warehouses[0], "lines": b.lines("1")})
}

// Inflict damages: each is done to a document that no other is done to. The answer is what its violation names.
func Inflict(t *testing.T, c *erptest.Company, damages map[string]damage.Damage) (subjects map[string]string) {
	t.Helper()
	err := c.Database.Borrow(t.Context(), func(conn *pgx.Conn) (err error) {
		subjects, err = damage.Inflict(t.Context(), conn, damages, words(c))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return subjects
}

// words of the damages' SQL that name elements of the company.
func words(c *erptest.Company) []string {
	o, other := c.Organisations[0], c.Organisations[1]
	quoted := func(v id.ID) string { return "'" + v.String() + "'" }
	return []string{"{counterparty}", "(SELECT id FROM cat_counterparties WHERE code = 'P2')",
		"{contract}", "(SELECT id FROM cat_contracts WHERE code = 'P2')",
		"{foreign contract}", quoted(erptest.Contract(other.Counterparty)), "{foreign organisation}", quoted(other.ID),
		"{foreign cash_account}", quoted(other.Bank), "{cash_account}", quoted(o.CashDesk),
		"{department}", quoted(o.Department), "{expense_item}", quoted(o.ExpenseItem),
		"{warehouse}", quoted(o.Warehouses[1]), "{item}", quoted(c.Items[2]),
		"{cell}", quoted(o.Cells[1]),
		"{author}", "(SELECT id FROM cat_users WHERE code = 'second')",
		"{foreign author}", "(SELECT id FROM cat_users WHERE organisation = " + quoted(other.ID) + ")"}
}

package fill

import (
	"math/rand/v2"
	"slices"
	"time"

	"plimsoll/erp"
	"plimsoll/erp/skew"
	"plimsoll/platform/books/catalog"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// base is what all organisations share. Catalog elements are not kept in memory: each is computed from its number, so
// an organisation can refer to the millionth contract without generating the others.
type base struct {
	Sizes
	app           *metadata.Application
	created       time.Time
	organisations []*organisation
	itemIDs       []id.ID // of the assortment
	groupIDs      []id.ID
	serviceIDs    []id.ID
	shared        map[string]*catalog.Elements // of the shared catalogs, what documents can refer to
	kinds         map[string]*kind             // of documents
}

// organisation and what belongs to it.
type organisation struct {
	company
	id                        id.ID
	warehouses, users         []id.ID
	addressed                 []int // of the warehouses
	departments, cashAccounts []id.ID
	expenseItems              []id.ID
	known                     map[string]*catalog.Elements // what documents can refer to, but contracts and assets
}

// deal is a contract and its counterparty.
type deal struct{ counterparty, contract id.ID }

// Random streams: what is drawn for one thing does not depend on what was drawn for another.
const (
	ofElement = iota + 1
	ofIdentity
	ofOwners
	ofUnit
)

// chance is a random stream for one thing of a kind.
func (b *base) chance(kind, group, n int) *rand.Rand { return rand.New(b.source(kind, group, n)) }

func (b *base) source(kind, group, n int) *rand.PCG {
	return rand.NewPCG(mix(b.Seed, uint64(kind), uint64(group)), mix(uint64(n), 0x706c696d736f6c6c, b.Seed))
}

// mix hashes three numbers: rounds of splitmix64.
func mix(values ...uint64) (h uint64) {
	for _, v := range values {
		h += v + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// Numbers of the catalogs.
const (
	organisations = iota
	warehouses
	users
	departments
	employees
	cashAccounts
	expenseItems
	assets
	cells
	partners
	counterparties
	contracts
	itemGroups
	items
	services
)

// id of the n-th element of a catalog, counted over all organisations. Ids rise with the number, as codes do.
func (b *base) id(catalog, n int) id.ID {
	return id.At(b.created.Add(time.Duration(n)*time.Millisecond), mix(b.Seed, ofIdentity, uint64(catalog), uint64(n)),
		mix(uint64(n), ofIdentity, uint64(catalog), b.Seed))
}

// number of an element; the inverse of id.
func (b *base) number(v id.ID) int { return int(v.Moment().Sub(b.created) / time.Millisecond) }

func (b *base) ids(catalog int, wanted slice) []id.ID {
	all := make([]id.ID, wanted.count)
	for i := range all {
		all[i] = b.id(catalog, wanted.first+i)
	}
	return all
}

func newBase(s Sizes) *base {
	// Elements are older than the history, by as many months as the history has.
	b := &base{Sizes: s, app: erp.Metadata(),
		created: s.Until.Add(-2 * time.Duration(s.Months) * 730 * time.Hour).Truncate(time.Millisecond)}
	b.kinds = kindsOf(b.app)
	b.itemIDs = b.ids(items, slice{0, s.Assortment})
	b.groupIDs, b.serviceIDs = b.ids(itemGroups, slice{0, len(groups)}), b.ids(services, slice{0, len(serviceNames)})
	b.shared = map[string]*catalog.Elements{
		"items":    b.elements("items", s.Assortment, b.item),
		"services": b.elements("services", len(serviceNames), b.service),
	}
	for _, c := range s.companies() {
		o := &organisation{company: c, id: b.id(organisations, c.n)}
		o.warehouses, o.departments = b.ids(warehouses, c.warehouses), b.ids(departments, c.departments)
		o.cashAccounts, o.expenseItems = b.ids(cashAccounts, o.cash()), b.ids(expenseItems, o.expenses())
		for i := range o.warehouses {
			if addressed(i) {
				o.addressed = append(o.addressed, i)
			}
		}
		b.organisations = append(b.organisations, o)
	}
	for n := range s.Users {
		o := b.organisations[b.employer(n)]
		o.users = append(o.users, b.id(users, n))
	}
	return b
}

// employer of a user. Each organisation has at least one user; most users work for the first organisations. Codes of
// users are not grouped by organisation.
func (b *base) employer(n int) int {
	if n < len(b.organisations) {
		return n
	}
	return skew.Pick(b.chance(ofOwners, users, n), len(b.organisations), skew.Mild)
}

// loadElements loads the elements of an organisation for the rules. They are needed only while its history is
// generated.
func (b *base) loadElements(o *organisation) {
	inCells := len(o.addressed) * cellsPerWarehouse
	o.known = map[string]*catalog.Elements{
		"items": b.shared["items"], "services": b.shared["services"],
		"warehouses": b.elements("warehouses", len(o.warehouses), func(e *element, i int) { b.warehouse(e, o, i) }),
		"cash_accounts": b.elements("cash_accounts", len(o.cashAccounts),
			func(e *element, i int) { b.cashAccount(e, o, i) }),
		"warehouse_cells": b.elements("warehouse_cells", inCells, func(e *element, i int) {
			b.cell(e, o, o.addressed[i/cellsPerWarehouse]*cellsPerWarehouse+i%cellsPerWarehouse)
		}),
	}
}

// contractTerms are the attributes of contracts that rules read.
var contractTerms = []metadata.Attribute{
	{Name: "id", Type: metadata.Reference}, {Name: "counterparty", Type: metadata.Reference},
	{Name: "customer", Type: metadata.Boolean},
	{Name: "supplier", Type: metadata.Boolean}, {Name: "by_order", Type: metadata.Boolean},
	{Name: "credit_limit", Type: metadata.Money}, {Name: "payment_limit", Type: metadata.Money},
}

// contractsAs returns the contracts in the form that rules read.
func (b *base) contractsAs(o *organisation, ids ...id.ID) *catalog.Elements {
	t := rowset.New(contractTerms, len(ids))
	for _, v := range ids {
		contract := b.termsOf(o, b.number(v)-o.contracts.first)
		t.Append(v, contract.counterparty, contract.customer, !contract.customer, contract.byOrder, contract.limit,
			paymentLimit)
	}
	return catalog.Of(t)
}

// elements of a catalog in the form that rules read.
func (b *base) elements(name string, count int, make func(e *element, i int)) *catalog.Elements {
	meta, _ := b.app.Catalog(name)
	t := rowset.New(append([]metadata.Attribute{
		{Name: "id", Type: metadata.Reference}, {Name: "code", Type: metadata.Text},
		{Name: "name", Type: metadata.Text},
	}, meta.Attributes...), count)
	e := newElement()
	for i := range count {
		e.begin()
		make(e, i)
		if !meta.Shared { // an organisation's element has it in the second place
			e.fields = slices.Delete(e.fields, 1, 2)
		}
		e.keep(t)
	}
	return catalog.Of(t)
}

package fill

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"plimsoll/erp/books"
	"plimsoll/erp/skew"
	"plimsoll/ground/problem"
)

// Sizes of a base: the same Sizes give the same base.
type Sizes struct {
	Organisations  int            `json:"organisations"`
	Warehouses     int            `json:"warehouses"`
	Items          int            `json:"items"`
	Users          int            `json:"users"`
	Counterparties int            `json:"counterparties"`
	Contracts      int            `json:"contracts"`
	Assets         int            `json:"fixed_assets"`
	Employees      int            `json:"employees"`
	Departments    int            `json:"departments"`
	Partners       int            `json:"partners"`
	Documents      map[string]int `json:"documents"` // by type
	// Opening stock and cash are documents on top of Documents when set, otherwise part of them.
	Opening bool `json:"opening_on_top"`
	// Assortment is how many items a warehouse trades in: the hottest ones.
	Assortment int       `json:"assortment"`
	Months     int       `json:"months"`
	Until      time.Time `json:"until"`
	Seed       uint64    `json:"seed"`
}

const (
	contractsLeast         = 2 // of a counterparty: one as a customer, one as a supplier
	departmentsEach        = 5
	employeesPerDepartment = 3
	assetsLeast            = 60 // of an organisation
	monthsDefault          = 3
	monthsOfScale          = 12
)

// documentsAtOnce are as many as one unit makes; tests have fewer.
var documentsAtOnce = 3000

// SizesOf resolves options; it needs no database.
func SizesOf(o Options) (s Sizes, err error) {
	if o.Scale != 0 {
		if math.IsNaN(o.Scale) || o.Scale < ScaleMin || o.Scale > ScaleMax {
			return s, problem.New(problem.Usage, fmt.Errorf("fill at scale %g", o.Scale),
				fmt.Sprintf("scales go from %g to %d; 1 is the base of claim C02", ScaleMin, ScaleMax))
		}
		s = scaled(o.Scale)
	} else if s, err = o.sizes(); err != nil {
		return s, err
	}
	s.Seed, s.Until, s.Months = o.Seed, o.Until, cmp.Or(o.Months, s.Months)
	if s.Until.IsZero() {
		s.Until = time.Now().UTC().Truncate(24 * time.Hour)
	}
	s.Until = s.Until.UTC().Truncate(time.Microsecond)
	return s, nil
}

func (o Options) sizes() (s Sizes, err error) {
	for _, size := range []struct {
		name            string
		given, standard int
		to              *int
	}{
		{"organisations", o.Organisations, OrganisationsDefault, &s.Organisations},
		{"items", o.Items, ItemsDefault, &s.Items},
		{"warehouses", o.Warehouses, WarehousesDefault, &s.Warehouses},
		{"counterparties", o.Counterparties, CounterpartiesDefault, &s.Counterparties},
		{"users", o.Users, UsersDefault, &s.Users},
	} {
		*size.to = cmp.Or(size.given, max(size.standard, s.Organisations))
		if *size.to < 1 || size.to != &s.Items && *size.to < s.Organisations {
			return s, problem.New(problem.Usage, fmt.Errorf("fill with %d %s", *size.to, size.name),
				"every organisation needs at least one")
		}
	}
	s.Contracts = contractsLeast * s.Counterparties
	s.Departments = departmentsEach * s.Organisations
	s.Partners = s.Organisations
	s.Employees = employeesPerDepartment * s.Departments
	s.Documents = counted(max(0, cmp.Or(o.Documents, DocumentsDefault)), weightsOf(o))
	// As many contracts per counterparty as in the base of claim C02, and some without documents.
	s.Assets = max(assetsLeast*s.Organisations, s.Counterparties*2/5, 2*s.Documents[books.AssetCommissioning])
	s.Opening, s.Assortment, s.Months = true, min(s.Items, assortmentMax), monthsDefault
	return s, nil
}

// Total of the documents, without those of an opening on top.
func (s Sizes) Total() (n int) {
	for _, some := range s.Documents {
		n += some
	}
	return n
}

// Elements of all catalogs.
func (s Sizes) Elements() int {
	return s.Organisations*(1+cashAccountsEach+len(expenseNames)) + s.Warehouses*(1+cellsPerWarehouse) + s.Items +
		s.Users + s.Counterparties + s.Contracts +
		s.Assets + s.Employees + s.Departments + s.Partners + len(groups) + len(serviceNames)
}

// seasons of trade, by month.
var seasons = [12]float64{0.75, 0.85, 1.0, 1.0, 0.95, 0.95, 0.9, 0.9, 1.05, 1.1, 1.15, 1.4}

// part is a period of the history within a month: what one unit makes of it.
type part struct {
	from, to time.Time
	weight   float64
}

// parts of a history, earliest first: months, divided where they have more documents than one unit takes.
func (s Sizes) parts(documents int) (all []part) {
	cuts := max(1, (documents+s.Months*documentsAtOnce-1)/(s.Months*documentsAtOnce))
	// Months of 30 days and a bit, so that three of them always touch the month before them.
	for at := s.Until.Add(-time.Duration(s.Months) * 730 * time.Hour); at.Before(s.Until); {
		next := time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		if next.After(s.Until) {
			next = s.Until
		}
		step := next.Sub(at) / time.Duration(cuts)
		for cut := range cuts {
			// Ids of documents contain the millisecond: no part begins within one.
			p := part{at.Add(time.Duration(cut) * step).Truncate(time.Millisecond),
				at.Add(time.Duration(cut+1) * step).Truncate(time.Millisecond), 0}
			if cut == cuts-1 {
				p.to = next
			}
			p.weight = seasons[at.Month()-1] * p.to.Sub(p.from).Hours()
			all = append(all, p)
		}
		at = next
	}
	return all
}

// company is an organisation's share of the sizes.
type company struct {
	n                                                                               int
	warehouses, counterparties, contracts, assets, employees, departments, partners slice
	parts                                                                           []part
	documents                                                                       []map[string]int // by part
	// receipts and bank receipts before anything else
	opening int
}

// slice of a catalog's elements: those from first on.
type slice struct{ first, count int }

// companies divides the sizes: the first organisations are big.
func (s Sizes) companies() []company {
	weights := make([]float64, s.Organisations)
	for i := range weights {
		weights[i] = math.Pow(float64(i+1)/float64(len(weights)),
			1.0/skew.Mild) - math.Pow(float64(i)/float64(len(weights)), 1.0/skew.Mild)
	}
	all := make([]company, s.Organisations)
	split := func(total, least int, to func(*company) *slice) {
		first := 0
		for i, n := range share(total-least*s.Organisations, weights) {
			*to(&all[i]) = slice{first, n + least}
			first += n + least
		}
	}
	split(s.Warehouses, 1, func(c *company) *slice { return &c.warehouses })
	split(s.Counterparties, 1, func(c *company) *slice { return &c.counterparties })
	split(s.Assets, min(assetsLeast, s.Assets/s.Organisations), func(c *company) *slice { return &c.assets })
	split(s.Employees, 1, func(c *company) *slice { return &c.employees })
	split(s.Departments, min(departmentsEach, s.Departments/s.Organisations), func(c *company) *slice {
		return &c.departments
	})
	split(s.Partners, 1, func(c *company) *slice { return &c.partners })
	first, spare, so := 0, s.Contracts-contractsLeast*s.Counterparties, 0
	for i := range all { // as many of a counterparty everywhere
		so += all[i].counterparties.count
		end := contractsLeast*so + int(float64(spare)*float64(so)/float64(s.Counterparties))
		all[i].n, all[i].contracts, first = i, slice{first, end - first}, end
	}
	s.shareDocuments(all, weights)
	return all
}

func (s Sizes) shareDocuments(all []company, weights []float64) {
	counts := make([]map[string]int, len(all))
	for i := range counts {
		counts[i] = map[string]int{}
	}
	for _, name := range typesOf() {
		for i, n := range share(s.Documents[name], weights) {
			counts[i][name] = n
		}
	}
	for i := range all {
		c := &all[i]
		c.opening = bankAccountsEach + c.warehouses.count*((s.Assortment+openingLines-1)/openingLines)
		s.settle(counts[i], c)
		c.shareOut(counts[i], s)
	}
}

// shareOut divides documents over the parts of the history.
func (c *company) shareOut(counts map[string]int, s Sizes) {
	total := c.opening
	for _, n := range counts {
		total += n
	}
	c.parts = s.parts(total)
	when := make([]float64, len(c.parts))
	for i, p := range c.parts {
		when[i] = p.weight
	}
	c.documents = make([]map[string]int, len(c.parts))
	for p := range c.parts {
		c.documents[p] = map[string]int{}
	}
	for _, name := range typesOf() {
		for p, n := range share(counts[name], when) {
			c.documents[p][name] = n
		}
	}
}

// settle removes what an organisation cannot make, and counts what its opening has made.
func (s Sizes) settle(counts map[string]int, c *company) {
	if c.warehouses.count < warehousesLeast { // none is addressed
		counts[books.GoodsReceipt] += counts[books.WarehouseIssueOrder] + counts[books.WarehouseReceiptOrder]
		counts[books.WarehouseIssueOrder], counts[books.WarehouseReceiptOrder] = 0, 0
	}
	if !s.Opening {
		receipts := c.opening - bankAccountsEach
		counts[books.GoodsReceipt], counts[books.BankReceipt] = max(0, counts[books.GoodsReceipt]-receipts),
			max(0, counts[books.BankReceipt]-bankAccountsEach)
	}
}

// total of an organisation's documents, with its opening.
func (c *company) total() int {
	n := c.opening
	for _, counts := range c.documents {
		for _, some := range counts {
			n += some
		}
	}
	return n
}

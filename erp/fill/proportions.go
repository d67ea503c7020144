package fill

import (
	"maps"
	"math"

	"plimsoll/erp"
	"plimsoll/erp/books"
)

// Bounds of a scale: the smallest base still has one of everything.
const (
	ScaleMin = 0.0001
	ScaleMax = 1000
)

// proportions of the base of claim C02, which is scale 1.
var proportions = struct {
	organisations, warehouses, items, users, counterparties, contracts int

	assets, employees, departments, partners int

	documents map[string]int
}{
	organisations: 56, warehouses: 3_500, items: 80_000, users: 25_000, counterparties: 2_500_000,
	contracts: 28_000_000, assets: 1_000_000,
	employees: 700_000, departments: 1_800, partners: 90_000,
	documents: map[string]int{
		books.SettlementRegistrar: 1_622_037, books.PaymentRequest: 1_067_654, books.BankPayment: 1_067_386,
		books.InvoiceReceived: 1_027_831,
		books.SupplierOrder:   778_551, books.GoodsReceipt: 777_796, books.CustomerOrder: 723_716,
		books.InvoiceIssued:       567_056,
		books.BankReceipt:         537_417,
		books.WarehouseIssueOrder: 339_371, books.GoodsSale: 334_494, books.WarehouseReceiptOrder: 285_622,
		books.ServicePurchase:     206_605,
		books.InternalConsumption: 157_894, books.OtherGoodsReceipt: 137_313, books.ServiceSale: 136_486,
		books.AssetCommissioning: 129_407,
	},
}

// Reported documents of the report's base, by type.
func Reported() map[string]int { return maps.Clone(proportions.documents) }

// ReportedCatalogs are the elements of the report's base, by catalog.
func ReportedCatalogs() map[string]int {
	p := proportions
	return map[string]int{books.Organisations: p.organisations, books.Warehouses: p.warehouses, books.Items: p.items,
		books.Users: p.users, books.Counterparties: p.counterparties, books.Contracts: p.contracts,
		books.FixedAssets: p.assets, books.Employees: p.employees, books.Departments: p.departments,
		books.Partners: p.partners}
}

// ReportedTotal is the number of the documents of all types.
func ReportedTotal() (all int) {
	for _, n := range proportions.documents {
		all += n
	}
	return all
}

const (
	itemsLeast      = 20 // every tenth is a material
	warehousesLeast = 2  // the second one is addressed
)

// scaled returns the sizes of the base of C02 times a scale.
func scaled(scale float64) Sizes {
	times := func(n, least int) int { return max(least, int(math.Round(float64(n)*scale))) }
	p := proportions
	s := Sizes{Organisations: times(p.organisations, 1), Items: times(p.items, itemsLeast), Documents: map[string]int{},
		Months: monthsOfScale}
	s.Warehouses = times(p.warehouses, max(warehousesLeast, s.Organisations))
	each := s.Organisations
	s.Users, s.Counterparties, s.Assets = times(p.users, each), times(p.counterparties, each), times(p.assets, each)
	s.Employees = times(p.employees, each)
	s.Departments = times(p.departments, each)
	s.Partners = times(p.partners, each)
	s.Contracts = max(times(p.contracts, 1), contractsLeast*s.Counterparties)
	for name, n := range p.documents {
		s.Documents[name] = times(n, 1)
	}
	s.Assortment = s.assortment()
	return s
}

// A warehouse trades in so many of the hottest items that each is moved this often in the history; but in no fewer
// than users look for, and in no more than they can.
const (
	receivedEach    = 8
	assortmentLeast = 200
	assortmentMax   = 2000
)

func (s Sizes) assortment() int {
	lines := float64(s.Documents[books.GoodsReceipt]) * LinesAverage
	return min(s.Items, max(assortmentLeast, min(assortmentMax, int(lines/float64(receivedEach*s.Warehouses)))))
}

// trade is the mix of a history of receipts and sales alone.
var trade = map[string]int{books.GoodsSale: 4, books.GoodsReceipt: 1}

// weightsOf the document types: those of C02, unless the history is trade alone.
func weightsOf(o Options) map[string]int {
	if o.Trade {
		return trade
	}
	return scaled(1).Documents
}

// counted divides a number of documents by weights.
func counted(documents int, overrides map[string]int) map[string]int {
	names := typesOf()
	weights := make([]float64, len(names))
	for i, name := range names {
		weights[i] = float64(overrides[name])
	}
	counts := map[string]int{}
	for i, n := range share(documents, weights) {
		counts[names[i]] = n
	}
	return counts
}

// typesOf documents in a history, in the order of the metadata.
func typesOf() (names []string) {
	for _, d := range erp.Metadata().Documents {
		if proportions.documents[d.Name] > 0 {
			names = append(names, d.Name)
		}
	}
	return names
}

// share divides a number by weights, so that the first n shares always sum to their rounded weights.
func share(total int, weights []float64) []int {
	sum, so, given := 0.0, 0.0, 0
	for _, w := range weights {
		sum += w
	}
	shares := make([]int, len(weights))
	for i, w := range weights {
		so += w
		upTo := int(math.Round(float64(total) * so / sum))
		if i == len(weights)-1 {
			upTo = total
		}
		shares[i], given = upTo-given, upTo
	}
	return shares
}

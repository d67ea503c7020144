package onec

// account of the chart, with the kinds of its analytics in their order.
type account struct {
	n    int
	code string
	name string
	dims []int
}

// Kinds of analytics.
const (
	byItem = 1 + iota
	byWarehouse
	byDocument
	byPartner
	byContract
)

// The chart of accounts.
var (
	goodsAccount     = account{1, "41.01", "Goods", []int{byItem, byWarehouse, byDocument}}
	suppliersAccount = account{2, "60.01", "Suppliers", []int{byPartner, byContract, byDocument}}
	customersAccount = account{3, "62.01", "Customers", []int{byPartner, byContract, byDocument}}
	revenueAccount   = account{4, "90.01", "Revenue", []int{byItem}}
	costAccount      = account{5, "90.02", "Cost of sales", []int{byItem}}
	chart            = []account{goodsAccount, suppliersAccount, customersAccount, revenueAccount, costAccount}
)

func (a account) ref() ref { return newRef(accountsNumber, uint64(a.n)) }

func dimKindRef(kind int) ref { return newRef(dimKindsNumber, uint64(kind)) }

// withDims are the accounts with so many analytics.
func withDims(n int) (all []account) {
	for _, a := range chart {
		if len(a.dims) == n {
			all = append(all, a)
		}
	}
	return all
}

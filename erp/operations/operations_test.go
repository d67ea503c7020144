package operations_test

import (
	"math"
	"testing"

	"plimsoll/erp/operations"
)

func TestOperationsAreAMix(t *testing.T) {
	sum, last := 0.0, 0
	for _, op := range operations.All() {
		if op.Target <= 0 || op.Title == "" || op.Weight <= 0 || op.Priority < max(last, 1) {
			t.Errorf("operation %+v lacks something, or comes out of order", op)
		}
		if found, ok := operations.Find(op.ID); !ok || found != op {
			t.Errorf("%s is not found", op.ID)
		}
		sum, last = sum+op.Weight, op.Priority
	}
	if math.Abs(sum-100) > 1e-9 {
		t.Errorf("weights sum to %v", sum)
	}
	sale, _ := operations.Find(operations.GoodsSalePost)
	order, _ := operations.Find(operations.CustomerOrderPost)
	if got := order.Weight / sale.Weight; math.Abs(got-724.0/334) > 1e-9 {
		t.Errorf("%v orders for a sale, C02 has 724 for 334", got)
	}
	if _, ok := operations.Find("none"); ok {
		t.Error("an unknown operation was found")
	}
}

package operations_test

import (
	"testing"

	"plimsoll/erp/operations"
)

func TestOperationsAreAMix(t *testing.T) {
	sum, last := 0.0, 0
	for _, op := range operations.All() {
		if op.Target <= 0 || op.Title == "" || op.Weight <= 0 || op.Priority < max(last, 1) {
			t.Errorf("%+v", op)
		}
		if found, ok := operations.Find(op.ID); !ok || found != op {
			t.Errorf("%s is not found", op.ID)
		}
		sum, last = sum+op.Weight, op.Priority
	}
	if sum != 100 {
		t.Errorf("weights sum to %v", sum)
	}
	if _, ok := operations.Find("none"); ok {
		t.Error("an unknown operation was found")
	}
}

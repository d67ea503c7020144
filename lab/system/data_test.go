package system

import (
	"strings"
	"testing"

	"plimsoll/lab/load"
	"plimsoll/lab/run"
)

// Systems with other data are named without their passwords.
func TestSameData(t *testing.T) {
	of := func(target Target, documents int64) *System {
		return &System{Target: target, Run: run.Options{Load: load.Default()}, base: Base{Documents: documents}}
	}
	one, other := Target{Cluster: "vanilla"}, Target{DSN: "postgres://me:secret@db1/erp"}
	if err := sameData([]*System{of(one, 2000), {}, of(other, 2010)}); err != nil {
		t.Error(err)
	}
	err := sameData([]*System{of(one, 2000), of(other, 9000)})
	if err == nil || !strings.Contains(err.Error(), "the bases of vanilla and db1:5432/erp differ") {
		t.Error(err)
	}
}

// Package scenariotest owns a scenario for runs that a test ends.
package scenariotest

import (
	"slices"

	"plimsoll/erp/operations"
	"plimsoll/lab/load/scenario"
)

// Endless is the ERP's own mix without operations that act on documents of others. What those will lack in an hour is
// made before a run begins: thousands of documents, for a test that ends it after seconds.
func Endless() *scenario.Scenario {
	s, mix := scenario.Default(), map[string]float64{}
	for _, op := range s.Operations {
		mix[op.ID] = op.Weight
	}
	s.Operations = slices.DeleteFunc(s.Operations, func(op scenario.Operation) bool {
		return operations.Lack(op.ID, mix, 1) > 0
	})
	return s
}

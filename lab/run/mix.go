package run

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/erp/operations"
	"plimsoll/lab/users"
	"plimsoll/platform/problem"
)

// plan is the ERP's key operations with the weights of this run; those that are
// never done are left out.
func plan(mix map[string]float64) ([]users.Operation, error) {
	for _, id := range slices.Sorted(maps.Keys(mix)) {
		if _, known := operations.Find(id); !known {
			return nil, problem.New(problem.Usage, fmt.Errorf("no key operation %q", id), "there are "+strings.Join(ids(), ", "))
		}
	}
	var planned []users.Operation
	for _, op := range operations.All() {
		weight, given := mix[op.ID]
		if !given {
			weight = op.Weight
		}
		if weight != 0 {
			planned = append(planned, users.Operation{ID: op.ID, Title: op.Title, Target: op.Target, Priority: op.Priority, Weight: weight})
		}
	}
	return planned, nil
}

func ids() (all []string) {
	for _, op := range operations.All() {
		all = append(all, op.ID)
	}
	return all
}

// shares of the mix, 0..1.
func shares(planned []users.Operation) map[string]float64 {
	sum := 0.0
	for _, op := range planned {
		sum += op.Weight
	}
	all := map[string]float64{}
	for _, op := range planned {
		all[op.ID] = op.Weight / sum
	}
	return all
}

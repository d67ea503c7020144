// Package recalculation owns the job that recalculates totals from movements, register by register.
package recalculation

import (
	"context"
	"encoding/json"
	"fmt"

	"plimsoll/erp"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/jobs"
)

// Kind is the name of the job.
const Kind = "recalculation"

// Arguments of the job: registers and ledgers by name, all of them when there is none.
type Arguments struct {
	Registers []string `json:"registers"`
}

// Result of the job: totals by register.
type Result map[string]int64

// Registers that have totals, in their order.
func Registers() (names []string) {
	app := erp.Metadata()
	for i := range app.Accumulation {
		names = append(names, app.Accumulation[i].Name)
	}
	for i := range app.Accounting {
		names = append(names, app.Accounting[i].Name)
	}
	return names
}

// Job recalculates. It is for an operator: totals are of all organisations.
func Job(db *database.Database) jobs.Kind {
	books := posting.New(db, erp.Metadata(), erp.Rules())
	return jobs.Kind{
		Name: Kind, Title: "Recalculating totals", Unique: true, Arguments: arguments,
		Plan: func(_ context.Context, given json.RawMessage) (parts []jobs.Part, err error) {
			var a Arguments
			err = json.Unmarshal(given, &a)
			for _, name := range a.Registers {
				parts = append(parts, jobs.Part{Arguments: name, Weight: 1})
			}
			return parts, err
		},
		Work: func(ctx context.Context, t jobs.Task) (any, error) {
			var name string
			if err := json.Unmarshal(t.Arguments, &name); err != nil {
				return nil, err
			}
			totals, err := books.Recalculate(ctx, name)
			return Result{name: totals}, err
		},
		Sum: func(results []json.RawMessage) (any, error) {
			all := Result{}
			for _, r := range results {
				if err := json.Unmarshal(r, &all); err != nil { // adds to what is there
					return nil, err
				}
			}
			return all, nil
		},
	}
}

func arguments(owner string, given json.RawMessage) (any, error) {
	var a Arguments
	if len(given) > 0 {
		if err := json.Unmarshal(given, &a); err != nil {
			return nil, &document.Invalid{Field: "arguments", Reason: "not valid arguments of a recalculation"}
		}
	}
	if owner != "" {
		return nil, &posting.Refusal{Control: "operator", Message: "totals belong to all organisations: only an " +
			"operator may recalculate them"}
	}
	known := map[string]bool{}
	for _, name := range Registers() {
		known[name] = true
	}
	for _, name := range a.Registers {
		if !known[name] {
			return nil, &document.Invalid{Field: "registers", Reason: fmt.Sprintf("unknown register %q", name)}
		}
	}
	if len(a.Registers) == 0 {
		a.Registers = Registers()
	}
	return a, nil
}

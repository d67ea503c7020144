package tally

import (
	"maps"
	"slices"

	"plimsoll/lab/load/apdex"
)

// ErrorTextsMax is how many different error texts are kept for an operation;
// the rest is counted as OtherErrors.
const (
	ErrorTextsMax = 10
	OtherErrors   = "other errors"
)

// Operation is what was counted of one key operation.
type Operation struct {
	Apdex         apdex.Counts
	Units         apdex.Histogram
	Outcomes      [outcomes]int64
	Latency       *Times // of answered operations
	Errors        map[string]int64
	GeneratorWait GeneratorWait
	Resent        int64 // requests sent again
	Retried       Retried
	Instead       map[string]int64 // carried out in place of this one, which had nothing to act on
}

func newOperation() *Operation {
	return &Operation{Latency: NewTimes(), Errors: map[string]int64{}}
}

// add what ended in a second.
func (o *Operation) add(c Cell) {
	o.Apdex.Add(c.Apdex)
	o.Units.Add(c.Units)
	for i, n := range c.Outcomes {
		o.Outcomes[i] += n
	}
	addErrors(o.Errors, c.Errors)
	o.Latency.RecordAll(c.Latency)
	o.Resent += c.Resent
	o.Retried.add(c.Retried)
	o.GeneratorWait.add(c.GeneratorWait)
	addInstead(&o.Instead, c.Instead)
}

func addErrors(to, more map[string]int64) {
	for _, text := range slices.Sorted(maps.Keys(more)) {
		countError(to, text, more[text])
	}
}

func countError(counts map[string]int64, text string, n int64) {
	if _, known := counts[text]; !known && len(counts) >= ErrorTextsMax {
		text = OtherErrors
	}
	counts[text] += n
}

// N is how many operations ended, in whatever way.
func (o *Operation) N() int64 { return o.Apdex.N() }

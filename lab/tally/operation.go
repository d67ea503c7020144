package tally

import (
	"time"

	"plimsoll/lab/apdex"
)

// ErrorTextsMax is how many different error texts are kept for an operation;
// the rest is counted as OtherErrors.
const (
	ErrorTextsMax = 10
	OtherErrors   = "other errors"
)

// Operation is what was counted of one key operation.
type Operation struct {
	Apdex    apdex.Counts
	Units    apdex.Histogram
	Outcomes [outcomes]int64
	Latency  *Times // of answered operations
	Errors   map[string]int64
}

func newOperation() *Operation {
	return &Operation{Latency: NewTimes(), Errors: map[string]int64{}}
}

func (o *Operation) count(s Sample, target time.Duration) {
	o.Outcomes[s.Outcome]++
	if s.Outcome.Answered() {
		o.Apdex.Time(s.Latency(), target)
		o.Units.Time(s.Latency(), target)
		o.Latency.Record(s.Latency())
		return
	}
	o.Apdex.Fail()
	if s.Err != nil {
		o.countError(s.Err.Error(), 1)
	}
}

func (o *Operation) countError(text string, n int64) {
	if _, known := o.Errors[text]; !known && len(o.Errors) >= ErrorTextsMax {
		text = OtherErrors
	}
	o.Errors[text] += n
}

// N is how many operations ended, in whatever way.
func (o *Operation) N() int64 { return o.Apdex.N() }

func (o *Operation) merge(other *Operation) error {
	o.Apdex.Add(other.Apdex)
	o.Units.Add(other.Units)
	for i := range o.Outcomes {
		o.Outcomes[i] += other.Outcomes[i]
	}
	for text, n := range other.Errors {
		o.countError(text, n)
	}
	return o.Latency.Merge(other.Latency)
}

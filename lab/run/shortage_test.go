package run

import (
	"strings"
	"testing"

	"plimsoll/lab/run/result"
)

func TestAShortageIsNamed(t *testing.T) {
	r := &result.Result{Operations: []result.Operation{
		{ID: "invoice.post", Totals: result.Totals{Ops: 33, OK: 33},
			Instead: map[string]int64{"sale.post": 30, "b": 4}},
		{ID: "sale.post", Totals: result.Totals{Ops: 50, OK: 50}},
	}}
	got := strings.Join(shortages(r), "\n")
	if want := "invoice.post: 34 of 67 had nothing to act on and were carried out, and counted, as b or " +
		"sale.post"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

package crash_test

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/lab/crash"
)

// However much was lost, the verdict stands first and all of it fits on a screen; --details has the rest.
func TestReport_SummaryFitsOnAScreen(t *testing.T) {
	r := &crash.Report{Conditions: crash.Conditions{Durability: crash.Sync, Load: crash.SQL}, Operations: 9000}
	for i := range 40 {
		r.Cuts = append(r.Cuts, crash.Cut{Seed: uint64(i), Acknowledged: 225, Lost: i % 2,
			Damage: []string{fmt.Sprintf("index %d is damaged", i)}})
	}
	var short, whole strings.Builder
	if err := r.Summary(&short); err != nil {
		t.Fatal(err)
	}
	if err := r.Write(&whole); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(short.String(), "\n"); n > 25 || strings.Count(short.String(), "--details") != 2 ||
		!strings.HasPrefix(short.String(), "A PROMISE IS BROKEN: 9000 operations acknowledged, 20 of them lost; 40") {
		t.Errorf("%d lines\n%s", n, short.String())
	}
	if !strings.Contains(whole.String(), "index 39 is damaged") || strings.Contains(whole.String(), "--details") {
		t.Errorf("want everything:\n%s", whole.String())
	}
	r = &crash.Report{Conditions: crash.Conditions{Durability: crash.Async}, Operations: 10,
		Cuts: []crash.Cut{{Seed: 1, Lost: 3}}}
	short.Reset()
	if err := r.Summary(&short); err != nil ||
		!strings.HasPrefix(short.String(), "LOSSES, which commits async allow: ") {
		t.Errorf("%v\n%s", err, short.String())
	}
}

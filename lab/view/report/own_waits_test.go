package report

import (
	"strings"
	"testing"

	"plimsoll/lab/run/result"
)

func TestTheWorstOwnWaitsAreInOneSentence(t *testing.T) {
	var all []result.Operation
	for i, ms := range []float64{2, 9, 0.5, 5, 7} {
		all = append(all, result.Operation{ID: string(rune('a' + i)),
			OwnWait: &result.OwnWait{MeanMS: ms, MaxMS: 10 * ms}})
	}
	var b strings.Builder
	ownWaits(&b, all)
	got := strings.Join(strings.Fields(b.String()), " ")
	if !strings.HasPrefix(got, "waited for the generator: b mean 9") || !strings.HasSuffix(got, "; 1 more") ||
		strings.Count(got, "waited") != 1 || strings.Index(got, "e mean 7") > strings.Index(got, "d mean 5") {
		t.Error(got)
	}
	b.Reset()
	if ownWaits(&b, all[2:3]); b.Len() > 0 {
		t.Error(b.String())
	}
}

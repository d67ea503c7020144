package compare

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/lab/prove/compare/verdict"
)

// An effect that is displayed as zero comes with what its verdict is about.
func TestEffect_OfRowsThatAreMostlyNothing(t *testing.T) {
	side := func(many, few float64, n int) (all []float64) {
		return append(slices.Repeat([]float64{few}, n), slices.Repeat([]float64{many}, 16-n)...)
	}
	rule := verdict.Rule{Margin: 0.05}
	for name, c := range map[string]struct {
		row  verdict.Row
		want []string
	}{
		"AppearsInSevenRuns": {verdict.Of(side(0, 0, 0), side(0, 5, 7), rule),
			[]string{"0 in most runs, more in 41 %, less in 0 %", "worse"}},
		"VanishesInSevenRuns": {verdict.Of(side(0, 5, 7), side(0, 0, 0), rule),
			[]string{"0 in most runs, more in 0 %, less in 41 %", "better"}},
		"SeenTwice": {verdict.Of(side(0, 0, 0), side(0, 5, 2), rule),
			[]string{"0 in most runs, more in 12 %, less in 0 %", "inconclusive, seen in too few runs"}},
		"NeverSeen": {verdict.Of(side(0, 0, 0), side(0, 0, 0), rule), []string{"none on either side", "equal"}},
	} {
		if got := cells(Metric{}, "x", c.row)[3:]; !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Shares are shown in percent, and their differences in points.
func TestCells_OfAShare(t *testing.T) {
	row := verdict.Of([]float64{0, 0, 0, 0}, []float64{0.95, 0.95, 0.95, 0.95}, verdict.Rule{Margin: failedMargin,
		Amount: true})
	if got := strings.Join(cells(metricOf(failedShare, nil), "x", row), "|"); got !=
		"x|0.0 %|95.0 %|+95.0 points (+95.0 to +95.0)|worse" {
		t.Error(got)
	}
}

package experiments

import (
	"testing"

	"plimsoll/lab/claims"
	"plimsoll/lab/ratio"
)

func TestAtLeast(t *testing.T) {
	for name, c := range map[string]struct {
		r       ratio.Ratio
		partial bool
		want    claims.Verdict
	}{
		"More":       {ratio.Ratio{Ratio: 4, Low: 3.1, High: 5, Confidence: 0.97}, false, claims.Confirmed},
		"SurelyLess": {ratio.Ratio{Ratio: 2, Low: 1.5, High: 2.9, Confidence: 0.97}, false, claims.Refuted},
		"Within":     {ratio.Ratio{Ratio: 3, Low: 2.5, High: 3.5, Confidence: 0.97}, false, claims.Inconclusive},
		"FewTurns":   {ratio.Ratio{Ratio: 4, Low: 3.1, High: 5, Confidence: 0.9}, false, claims.Inconclusive},
		"Stopped":    {ratio.Ratio{Ratio: 4, Low: 3.1, High: 5, Confidence: 0.97}, true, claims.Inconclusive},
		"Nothing":    {ratio.Ratio{}, false, claims.Inconclusive},
	} {
		if got, _ := atLeast(c.r, 3, c.partial); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestC31_Judge(t *testing.T) {
	// 2,000,000 lines in 12 h are 46.3 a second
	for name, c := range map[string]struct {
		pace          []float64
		full, partial bool
		want          claims.Verdict
	}{
		"Slower":   {[]float64{40, 41, 42, 43}, true, false, claims.Confirmed},
		"Faster":   {[]float64{60, 61, 62, 63}, true, false, claims.Refuted},
		"Both":     {[]float64{40, 41, 62, 63}, true, false, claims.Inconclusive},
		"Small":    {[]float64{40, 41, 42, 43}, false, false, claims.Inconclusive},
		"FewTurns": {[]float64{40, 41, 42}, true, false, claims.Inconclusive},
		"Stopped":  {[]float64{40, 41, 42, 43}, true, true, claims.Inconclusive},
	} {
		if got, _ := (Restoring{}).judge(c.pace, c.full, c.partial); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

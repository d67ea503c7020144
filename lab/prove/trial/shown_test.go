package trial_test

import (
	"context"
	"fmt"
	"testing"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

// shownBy plays operations whose new side has these figures, eight turns each; the old one has 10.
func shownBy(t *testing.T, operations ...[]float64) claims.Finding {
	t.Helper()
	shown := trial.Shown{As: "operations with ×2", Bar: 2}
	part := trial.Part{Rounds: 8}
	turn := func(name string, figures func(operation, n int) float64) {
		part.Sides = append(part.Sides, trial.Side{Name: name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				played := 0
				return func(context.Context, int) (trial.Figures, error) {
					f := trial.Figures{}
					for i := range operations {
						f[fmt.Sprint("operation ", i)] = figures(i, played)
					}
					played++
					return f, nil
				}, nil
			}})
	}
	turn("old", func(int, int) float64 { return 10 })
	turn("new", func(operation, n int) float64 { return operations[operation][n%len(operations[operation])] })
	for i := range operations {
		name := fmt.Sprint("operation ", i)
		part.Series = append(part.Series, trial.Series{Name: name})
		shown.Of = append(shown.Of, trial.Operation{Name: name, Ratios: []trial.Ratio{
			{Of: trial.At("new", name), To: trial.At("old", name)}}})
	}
	f, err := trial.Trial{Parts: []trial.Part{part}, Measured: []trial.Phrase{trial.Say("%s", shown)},
		Rules: trial.Rules{Direction: []trial.Criterion{{Of: shown, Confirm: trial.AtLeast(2),
			Refute: trial.Below(2)}}},
	}.Play(t.Context(), trial.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestShown(t *testing.T) {
	much, none := []float64{30, 31}, []float64{10, 11}
	// seven of eight turns are beyond the bar, and one misses it: of two it would pass at 5 %, not among eight
	nearly := []float64{30, 30, 30, 30, 30, 30, 30, 5}
	for name, c := range map[string]struct {
		operations [][]float64
		want       claims.Verdict
		measured   string
	}{
		"Two":      {[][]float64{much, none, much}, claims.Confirmed, "2 of 3 (operation 0, operation 2)"},
		"One":      {[][]float64{much, none, none}, claims.Refuted, "1 of 3 (operation 0)"},
		"None":     {[][]float64{none, none, none}, claims.Refuted, "0 of 3"},
		"Unsure":   {[][]float64{much, none, {15, 25}}, claims.Inconclusive, "1 of 3 (operation 0)"},
		"NoRatio":  {[][]float64{much, much, {0, 25}}, claims.Inconclusive, "(not measured)"},
		"AloneTwo": {[][]float64{nearly, nearly}, claims.Confirmed, "2 of 2"},
		"AmongMany": {[][]float64{nearly, nearly, none, none, none, none, none, none}, claims.Inconclusive,
			"0 of 8"},
	} {
		t.Run(name, func(t *testing.T) {
			f := shownBy(t, c.operations...)
			if f.Verdict != c.want || len(f.Measured) < len(c.measured) || f.Measured[:len(c.measured)] != c.measured {
				t.Errorf("%s (%s), want %s (%s)", f.Verdict, f.Measured, c.want, c.measured)
			}
		})
	}
}

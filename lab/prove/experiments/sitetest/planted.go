// Package sitetest plays experiments on planted figures, and has bases and programs for tests of experiments.
package sitetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Plant are figures that nobody measured, by "side: series" or "series" for all sides; in parts with a name
// "part, side: series". A side has as many turns as the longest of its figures; what is not planted is 10.
type Plant map[string][]float64

const plantedFigure = 10

func (p Plant) figure(r trial.Ref, turn int) (float64, bool) {
	name := r.Series
	for _, prefix := range []string{r.Part + ", " + r.Side + ": ", r.Side + ": ", ""} {
		if figures, planted := p[prefix+name]; planted {
			if turn >= len(figures) {
				return 0, false
			}
			return figures[turn], true
		}
	}
	return plantedFigure, true
}

// Four turns around a figure, which surely differ from those around another.
func Four(v float64) []float64 { return []float64{v, v * 1.01, v * 1.02, v * 1.03} }

// With other figures of a series.
func With(p Plant, name string, figures ...float64) Plant {
	p[name] = figures
	return p
}

// Failing is a check that a turn does not pass.
type Failing struct{ Check, Detail string }

// Answered plays an experiment whose sides are planted, through the engine that plays the real ones.
func Answered(t *testing.T, b site.Bench, e site.Experiment, p Plant, stopAfter int, fail ...Failing) claims.Finding {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	planted := PlantedTrial(e.Declare(b, &site.Site{}), p.figure)
	turns := 0
	for i := range planted.Parts {
		part := &planted.Parts[i]
		for k, side := range part.Sides {
			part.Sides[k].Open = func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
				turn, err := side.Open(ctx, r)
				return func(ctx context.Context, n int) (trial.Figures, error) {
					if turns++; turns == stopAfter+1 && stopAfter > 0 {
						stop()
						return nil, ctx.Err() // cut short
					}
					if n == 0 {
						for _, f := range fail {
							r.Fail(f.Check, f.Detail)
						}
					}
					return turn(ctx, n)
				}, err
			}
		}
	}
	f, err := planted.Play(ctx, trial.Options{Conditions: []claims.Condition{{Name: "engine", Text: "planted"}}})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return f
}

// PlantedTrial has the sides give planted figures in place of setting anything up.
func PlantedTrial(planted trial.Trial, figure func(trial.Ref, int) (float64, bool)) trial.Trial {
	for i := range planted.Parts {
		part := &planted.Parts[i]
		part.Open, part.Check = nil, nil
		for k, side := range part.Sides {
			part.Sides[k].Open = plantedSide(*part, side.Name, figure).Open
		}
	}
	return planted
}

func plantedSide(part trial.Part, name string, figure func(trial.Ref, int) (float64, bool)) trial.Side {
	return trial.Side{Name: name, Open: func(context.Context, *trial.Record) (trial.Turn, error) {
		turn := 0
		return func(context.Context, int) (trial.Figures, error) {
			figures := trial.Figures{}
			for _, s := range part.Series {
				if v, planted := figure(trial.Ref{Part: part.Name, Side: name, Series: s.Name}, turn); planted {
					figures[s.Name] = v
				}
			}
			turn++
			return figures, nil
		}, nil
	}}
}

// Ruling is a case of the table: what figures an experiment finds, and what it must make of them.
type Ruling struct {
	Claim, Name string
	Figures     Plant
	Want        claims.Verdict
	Why         string
	Bench       site.Bench
	StopAfter   int
	Fail        []Failing
}

// CheckRulings plays each case, and demands that the cases reach every verdict that the rules of an experiment can say,
// in the sizes of the cases: or an experiment would only pretend to ask.
func CheckRulings(t *testing.T, all []site.Experiment, rulings []Ruling) {
	t.Helper()
	byClaim := map[string]site.Experiment{}
	for _, e := range all {
		byClaim[e.Claim] = e
	}
	reached, possible := map[string]map[claims.Verdict]bool{}, map[string]map[claims.Verdict]bool{}
	for _, e := range all {
		reached[e.Claim], possible[e.Claim] = map[claims.Verdict]bool{}, map[claims.Verdict]bool{}
	}
	for _, c := range rulings {
		reached[c.Claim][c.Want] = true
		for _, word := range byClaim[c.Claim].Declare(c.Bench, &site.Site{}).Rules.Words() {
			possible[c.Claim][word] = true
		}
		t.Run(c.Claim+"_"+c.Name, func(t *testing.T) {
			f := Answered(t, c.Bench, byClaim[c.Claim], c.Figures, c.StopAfter, c.Fail...)
			if f.Verdict != c.Want || !strings.Contains(f.Measured, c.Why) || f.Partial != (c.StopAfter > 0) {
				t.Errorf("%s (%s), want %s (%s)", f.Verdict, f.Measured, c.Want, c.Why)
			}
		})
	}
	for _, e := range all {
		for _, verdict := range claims.Verdicts {
			if got, want := reached[e.Claim][verdict], possible[e.Claim][verdict]; got != want {
				t.Errorf("%s: the table has a case of %s: %v, the rules can say it: %v", e.Claim, verdict, got, want)
			}
		}
		if !e.Declare(site.Bench{}, &site.Site{}).Rules.Refutable() {
			t.Errorf("%s cannot be refuted in any situation", e.Claim)
		}
	}
}

package trial_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

var speed = []trial.Series{{Name: "speed", Unit: "1/s"}}

// side gives the same figure in every turn, and notes what happens to it.
func side(name string, figure float64, happened *[]string) trial.Side {
	return trial.Side{Name: name, Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
		*happened = append(*happened, "open "+name)
		r.Close(func() { *happened = append(*happened, "close "+name) })
		return func(context.Context, int) (trial.Figures, error) {
			*happened = append(*happened, name)
			return trial.Figures{"speed": figure}, nil
		}, nil
	}}
}

func twoSides(happened *[]string) trial.Trial {
	faster := trial.Ratio{Of: trial.At("new", "speed"), To: trial.At("old", "speed")}
	return trial.Trial{
		Text: "old and new",
		Parts: []trial.Part{{Sides: []trial.Side{side("old", 10, happened), side("new", 30, happened)}, Rounds: 4,
			Turn: time.Second, Between: time.Second, Series: speed}},
		Rules: trial.Rules{Direction: []trial.Criterion{trial.Bar(faster, 2)}},
		Measured: []trial.Phrase{trial.Say("new is %s of %s", faster,
			trial.Spread{Of: trial.At("old", "speed"), Format: "%.0f"})},
	}
}

func TestPlay(t *testing.T) {
	t.Run("TakesTurnsAndAnswers", func(t *testing.T) {
		var happened []string
		f, err := twoSides(&happened).Play(t.Context(), trial.Options{
			Conditions: []claims.Condition{{Name: "machine", Text: "small"}}})
		if err != nil || f.Verdict != claims.Confirmed || f.Measured != "new is ×3 (3 to 3) of 10 (10 to 10)" {
			t.Errorf("%+v, %v", f, err)
		}
		if len(f.Figures) != 2 || f.Figures[0].Name != "new: speed" || len(f.Figures[0].Values) != 4 {
			t.Errorf("figures %+v, want two of four values", f.Figures)
		}
		if len(f.Conditions) != 2 || f.Conditions[1].Name != "judged by" {
			t.Errorf("conditions %+v, want two, the second how it is judged", f.Conditions)
		}
		if !slices.Equal(happened[:2], []string{"open old", "open new"}) ||
			!slices.Equal(happened[10:], []string{"close new", "close old"}) {
			t.Errorf("happened %q, want opened in order and closed in reverse", happened)
		}
	})
	t.Run("TellsHowFarItIs", func(t *testing.T) {
		var happened []string
		var shares []float64
		two := twoSides(&happened)
		_, err := two.Play(t.Context(), trial.Options{Step: func(share float64, _ time.Duration, _ string) {
			shares = append(shares, share)
		}})
		if err != nil || !slices.IsSorted(shares) || shares[len(shares)-1] != 7.0/8 {
			t.Errorf("shares %v, error %v: want them rising to 7/8", shares, err)
		}
	})
	t.Run("ClosesWhatWasOpenedWhenASideFails", func(t *testing.T) {
		var happened []string
		broken := twoSides(&happened)
		broken.Parts[0].Sides[1].Open = func(context.Context, *trial.Record) (trial.Turn, error) {
			return nil, errors.New("no room")
		}
		if _, err := broken.Play(t.Context(), trial.Options{}); err == nil || err.Error() != "new: no room" ||
			!slices.Equal(happened, []string{"open old", "close old"}) {
			t.Errorf("%v, %q", err, happened)
		}
	})
}

func TestPlay_WhenItIsStopped(t *testing.T) {
	for name, c := range map[string]struct {
		after    int // turns
		finds    bool
		unjudged bool
		want     claims.Verdict
	}{
		"BeforeEverySideHadATurn": {after: 1},
		"AfterEverySideHadATurn":  {after: 2, finds: true, want: claims.Inconclusive},
		"InAnUnjudgedPart":        {after: 9, finds: true, unjudged: true, want: claims.Confirmed},
		"InASecondPart":           {after: 9, finds: true, want: claims.Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			var happened []string
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			two := twoSides(&happened)
			again := two.Parts[0]
			again.Name, again.Unjudged, again.Sides = "again", c.unjudged, slices.Clone(again.Sides)
			two.Parts = append(two.Parts, again)
			turns := 0
			for _, p := range two.Parts {
				for i := range p.Sides {
					p.Sides[i] = stopping(p.Sides[i], func() {
						if turns++; turns > c.after {
							stop()
						}
					})
				}
			}
			f, err := two.Play(ctx, trial.Options{})
			if (err == nil) != c.finds || f.Partial != c.finds || f.Verdict != c.want {
				t.Errorf("%+v, %v", f, err)
			}
		})
	}
}

func stopping(s trial.Side, turn func()) trial.Side {
	return trial.Side{Name: s.Name, Open: func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
		play, err := s.Open(ctx, r)
		return func(ctx context.Context, n int) (trial.Figures, error) {
			turn()
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return play(ctx, n)
		}, err
	}}
}

func TestPlay_StoppedAtTheEndOfATurnKeepsItsFigures(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	one := twoSides(new([]string))
	for i, side := range one.Parts[0].Sides {
		one.Parts[0].Sides[i].Open = func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
			play, err := side.Open(ctx, r)
			return func(ctx context.Context, n int) (trial.Figures, error) {
				f, err := play(ctx, n)
				if n == 1 {
					stop()
				}
				return f, err
			}, err
		}
	}
	f, err := one.Play(ctx, trial.Options{})
	if err != nil || !f.Partial || len(f.Figures) < 2 || len(f.Figures[0].Values) != 1 ||
		len(f.Figures[1].Values) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestPlan_ComesFromTheTurns(t *testing.T) {
	two := twoSides(new([]string))
	two.Overhead = time.Minute
	if two.Plan() != "8 turns of 1s: old and new" || two.Takes() != time.Minute+16*time.Second {
		t.Errorf("%q, %v", two.Plan(), two.Takes())
	}
}

func TestPlay_WhatIsLeftComesFromTheTurnsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick := trial.Trial{Overhead: time.Hour, Parts: []trial.Part{{Rounds: 4, Turn: time.Minute, Series: speed,
			Sides: []trial.Side{{Name: "only", Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(context.Context, int) (trial.Figures, error) {
					time.Sleep(6 * time.Second)
					return trial.Figures{"speed": 1}, nil
				}, nil
			}}}}}}
		var shares []float64
		var lefts []time.Duration
		_, err := quick.Play(t.Context(), trial.Options{Step: func(share float64, left time.Duration, note string) {
			if note == "only" {
				shares, lefts = append(shares, share), append(lefts, left)
			}
		}})
		if err != nil || !slices.Equal(shares, []float64{0, 0.25, 0.5, 0.75}) || !slices.Equal(lefts,
			[]time.Duration{4 * time.Minute, 18 * time.Second, 12 * time.Second, 6 * time.Second}) {
			t.Errorf("shares %v, left %v, error %v: want quarters, and less each time", shares, lefts, err)
		}
	})
}

// judged plays planted figures and gives the answer.
func judged(t *testing.T, rules trial.Rules, planted map[string][]float64, fail ...string) (claims.Verdict, string) {
	t.Helper()
	f := finding(t, rules, planted, fail...)
	return f.Verdict, f.Measured
}

// finding of planted figures.
func finding(t *testing.T, rules trial.Rules, planted map[string][]float64, fail ...string) claims.Finding {
	t.Helper()
	// counted: how many turns a verdict takes has a table of its own
	tr := trial.Trial{Rules: rules, Parts: []trial.Part{{Rounds: 4, Series: speed, Counted: true}}}
	for name, figures := range planted {
		tr.Parts[0].Sides = append(tr.Parts[0].Sides, trial.Side{Name: name,
			Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
				played := 0
				return func(context.Context, int) (trial.Figures, error) {
					for _, check := range fail {
						r.Fail(check, check+" failed")
					}
					if played++; played > len(figures) {
						return nil, nil
					}
					return trial.Figures{"speed": figures[played-1]}, nil
				}, nil
			}})
	}
	f, err := tr.Play(t.Context(), trial.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRules(t *testing.T) {
	old, now := trial.At("old", "speed"), trial.At("new", "speed")
	faster := trial.Ratio{Of: now, To: old}
	ten := []float64{10, 10, 10, 10}
	for name, c := range map[string]struct {
		criterion trial.Criterion
		figures   []float64 // of the new side; the old one has 10
		want      claims.Verdict
		why       string
	}{
		"ClaimedAndMore": {trial.Bar(faster, 2), []float64{20, 21, 22, 23}, claims.Confirmed, ""},
		"ClaimedAndLess": {trial.Bar(faster, 2), []float64{11, 12, 13, 14}, claims.Refuted,
			"surely less than ×2"},
		"ClaimedAndAround": {trial.Bar(faster, 2), []float64{15, 19, 21, 25}, claims.Inconclusive,
			"not surely at least ×2"},
		"FewTurns":          {trial.Bar(faster, 2), []float64{20, 20, 20}, claims.Inconclusive, "too few turns"},
		"NoTurns":           {trial.Bar(faster, 2), nil, claims.Inconclusive, "too few turns"},
		"NoRatio":           {trial.Bar(faster, 2), []float64{0, 1, 1, 1}, claims.Inconclusive, "a ratio needs"},
		"SmallerAndSmaller": {trial.Smaller(faster), []float64{5, 6, 7, 8}, claims.Confirmed, ""},
		"SmallerAndLarger":  {trial.Smaller(faster), []float64{10, 11, 12, 13}, claims.Refuted, "surely at least ×1"},
		"SmallerAndAround": {trial.Smaller(faster), []float64{9, 9, 11, 11}, claims.Inconclusive,
			"not surely less than ×1"},
		"EveryTurn": {trial.Criterion{Of: trial.Every{Of: now}, Confirm: trial.AtMost(0)}, []float64{0, 0},
			claims.Confirmed, ""},
		"EveryTurnButOne": {trial.Criterion{Of: trial.Every{Of: now}, Confirm: trial.AtMost(0), Refute: trial.Above(0)},
			[]float64{0, 1}, claims.Inconclusive, "not at most 0 in every turn"},
		"SomeTurn": {trial.Criterion{Of: trial.Every{Of: now}, Confirm: trial.AtLeast(1), Refute: trial.SomeBelow(1)},
			[]float64{0.5, 1}, claims.Refuted, "less than 1 in some turn"},
		"Within": {trial.Criterion{Of: faster, Confirm: trial.Within(0.9, 1.1), Refute: trial.Outside(0.9, 1.1)},
			[]float64{10, 10, 10, 10.5}, claims.Confirmed, ""},
		"Outside": {trial.Criterion{Of: faster, Confirm: trial.Within(0.9, 1.1), Refute: trial.Outside(0.9, 1.1)},
			[]float64{12, 12, 12, 13}, claims.Refuted, "surely less than ×0.9 or surely more than ×1.1"},
		"AcrossABar": {trial.Criterion{Of: faster, Confirm: trial.Within(0.9, 1.1), Refute: trial.Outside(0.9, 1.1)},
			[]float64{10, 10, 12, 12}, claims.Inconclusive, "not surely at least ×0.9 and surely at most ×1.1"},
		"Gap": {trial.Criterion{Of: trial.Gap{Of: now, Times: 2, To: old}, Confirm: trial.Above(0)},
			[]float64{21, 22}, claims.Confirmed, ""},
		"NoGap": {trial.Criterion{Of: trial.Gap{Of: now, Times: 2, To: old}, Confirm: trial.Above(0),
			Refute: trial.AtMost(0)}, []float64{19, 20}, claims.Refuted, "at most 200 % of speed of old"},
		"Unless": {trial.Criterion{Of: trial.Every{Of: now}, Confirm: trial.Above(0), Unless: "nothing was counted"},
			[]float64{0}, claims.Inconclusive, "(nothing was counted)"},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := judged(t, trial.Rules{Direction: []trial.Criterion{c.criterion}},
				map[string][]float64{"old": ten, "new": c.figures})
			if got != c.want || !strings.Contains(why, c.why) || (why == "") != (c.want == claims.Confirmed) {
				t.Errorf("%s (%s), want %s (%s)", got, why, c.want, c.why)
			}
		})
	}
}

func TestRules_InOrder(t *testing.T) {
	now := trial.Every{Of: trial.At("new", "speed")}
	rules := trial.Rules{
		Checks: []trial.Check{{Name: "valid", Want: "every turn is valid"},
			{Name: "books", Want: "the books balance", Refuted: "the books are wrong"}},
		Requires: []trial.Criterion{{Of: trial.Turns{Of: now.Of}, Confirm: trial.AtLeast(2)}},
		Direction: []trial.Criterion{{Of: now, Confirm: trial.AtLeast(5), Refute: trial.Below(5)},
			{Of: trial.Known{As: "users", Value: 10}, Confirm: trial.AtLeast(1000)}},
	}
	for name, c := range map[string]struct {
		figures []float64
		fail    []string
		want    claims.Verdict
		why     string
	}{
		"TheFirstFailureDecides": {[]float64{1, 1}, []string{"valid", "books"}, claims.Inconclusive,
			"turn 1 of 4: valid failed"},
		"AFailureThatRefutes": {[]float64{9, 9}, []string{"books", "valid"}, claims.Refuted,
			"turn 1 of 4: books failed"},
		"WhatIsRequired": {[]float64{1}, nil, claims.Inconclusive,
			"turns with speed of new: 1 is not at least 2"},
		"ARefutation":   {[]float64{1, 1}, nil, claims.Refuted, "less than 5 in every turn"},
		"WhatIsLacking": {[]float64{9, 9}, nil, claims.Inconclusive, "users: 10 is not at least 1,000"},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := judged(t, rules, map[string][]float64{"new": c.figures}, c.fail...)
			if got != c.want || !strings.Contains(why, c.why) {
				t.Errorf("%s (%s), want %s (%s)", got, why, c.want, c.why)
			}
		})
	}
	const want = "the effect shows when every turn is valid, and the books balance, and speed of new at least 5 in " +
		"every turn, and users at least 1,000; all of that confirms the claim; refuted when the books are wrong, or " +
		"speed of new less than 5 in every turn; otherwise inconclusive; no verdict without turns with speed of new " +
		"at " +
		"least 2"
	if got := rules.Text(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A comparison whose turns were all ignored says that it has no figures, not that a figure is 0.
func TestText_WithoutFigures(t *testing.T) {
	of := func(side string) trial.Ref { return trial.Ref{Side: side, Series: "speed"} }
	for name, value := range map[string]trial.Value{
		"Ratio": trial.Ratio{Of: of("a"), To: of("b")},
		"Last":  trial.Last{Of: of("a"), Format: "%.1f"},
	} {
		if got := value.Text(&trial.Measurements{}); got != "(not measured)" {
			t.Errorf("%s of no figures: %q", name, got)
		}
	}
}

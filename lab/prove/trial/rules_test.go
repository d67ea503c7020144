package trial_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

// The three questions: an effect that the report gives as ×1.5, in a band of ×1.4 to ×1.6, on a machine of its size.
func effect(size float64) trial.Rules {
	speed := trial.Ratio{Of: trial.At("new", "speed"), To: trial.At("old", "speed")}
	return trial.Rules{Situation: []trial.Condition{
		{Of: trial.Known{As: "users", Value: size}, Report: "1,000", Met: trial.AtLeast(1000)},
	}}.Times(speed, 1.4, 1.6)
}

func TestRules_ThreeQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		users   float64
		figures []float64 // of the new side; the old one has 10
		want    claims.Verdict
		answers claims.Answers
		why     string
	}{
		"AsClaimed": {1000, []float64{15, 15, 15.1, 15.1}, claims.Confirmed,
			claims.Answers{Direction: claims.InClaimedDirection, Size: claims.AsClaimed}, ""},
		"Smaller": {1000, []float64{12, 12, 12.1, 12.1}, claims.InDirection,
			claims.Answers{Direction: claims.InClaimedDirection, Size: claims.LessThanClaimed},
			"surely less than ×1.4"},
		"Larger": {1000, []float64{20, 20, 21, 21}, claims.InDirection,
			claims.Answers{Direction: claims.InClaimedDirection, Size: claims.MoreThanClaimed},
			"surely more than ×1.6"},
		"AcrossTheBand": {1000, []float64{13, 15, 15, 17}, claims.InDirection,
			claims.Answers{Direction: claims.InClaimedDirection, Size: claims.OpenSize}, "is not surely at least ×1.4"},
		"SmallScale": {10, []float64{15, 15, 15.1, 15.1}, claims.SmallScale,
			claims.Answers{Direction: claims.InClaimedDirection, Size: claims.AsClaimed},
			"users: 10, the report's 1,000"},
		"SmallScaleAndLarger": {10, []float64{20, 20, 21, 21}, claims.SmallScale,
			claims.Answers{Direction: claims.InClaimedDirection, Size: claims.MoreThanClaimed},
			"surely more than ×1.6"},
		"NoEffect": {1000, []float64{9.9, 10, 10, 10.1}, claims.Refuted,
			claims.Answers{Direction: claims.AgainstClaim, Size: claims.OpenSize}, "surely less than ×1.09"},
		"TheOtherWay": {1000, []float64{5, 5, 6, 6}, claims.Refuted,
			claims.Answers{Direction: claims.AgainstClaim, Size: claims.OpenSize}, "surely less than"},
		"TheOtherWayAtSmallScale": {10, []float64{5, 5, 6, 6}, claims.Inconclusive,
			claims.Answers{Direction: claims.AgainstClaim, Size: claims.OpenSize},
			"a smaller situation refutes nothing"},
		"PerhapsNone": {1000, []float64{9, 15, 9, 15}, claims.Inconclusive,
			claims.Answers{Direction: claims.OpenDirection, Size: claims.OpenSize}, "is not surely more than ×1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := finding(t, effect(c.users), map[string][]float64{"old": {10, 10, 10, 10}, "new": c.figures})
			if f.Verdict != c.want || f.Answers.Direction != c.answers.Direction || f.Answers.Size != c.answers.Size ||
				!strings.Contains(f.Measured, c.why) {
				t.Errorf("%s %+v (%s), want %s %+v (%s)", f.Verdict, f.Answers, f.Measured, c.want, c.answers, c.why)
			}
			want := claims.Met{Name: "users", Report: "1,000", Here: map[bool]string{true: "1,000",
				false: "10"}[c.users ==
				1000], Met: c.users == 1000}
			if !slices.Equal(f.Answers.Situation, []claims.Met{want}) {
				t.Errorf("situation %+v, want %+v", f.Answers.Situation, want)
			}
		})
	}
}

// An effect that shrinks has its band mirrored: farther below is larger.
func TestRules_EffectsThatShrink(t *testing.T) {
	less := trial.Rules{}.Times(trial.Ratio{Of: trial.At("new", "speed"), To: trial.At("old", "speed")}, 0.9, 0.98)
	for want, figures := range map[string][]float64{
		"confirmed":             {9.4, 9.5, 9.5, 9.6},
		"in direction, larger":  {5, 5, 6, 6},
		"in direction, smaller": {9.9, 9.9, 9.9, 9.9},
		"refuted":               {11, 11, 12, 12},
	} {
		f := finding(t, less, map[string][]float64{"old": {10, 10, 10, 10}, "new": figures})
		if got := f.Verdict.Words(f.Answers); got != want {
			t.Errorf("%v: %s, want %s (%s)", figures, got, want, f.Measured)
		}
	}
}

// A counterexample is one at any scale.
func TestRules_CounterexamplesRefuteAnywhere(t *testing.T) {
	rules := trial.Rules{Situation: []trial.Condition{trial.Absent("disks", "ten", "one")},
		Direction: []trial.Criterion{{Of: trial.Every{Of: trial.At("new", "speed")}, Confirm: trial.AtMost(0),
			Refute: trial.Above(0), Anywhere: true}}}
	for want, figures := range map[claims.Verdict][]float64{claims.Refuted: {1, 1, 1, 1},
		claims.SmallScale: {0, 0, 0, 0}} {
		if f := finding(t, rules, map[string][]float64{"new": figures}); f.Verdict != want {
			t.Errorf("%v: %s, want %s", figures, f.Verdict, want)
		}
	}
	if words := rules.Words(); !slices.Equal(words, []claims.Verdict{claims.Inconclusive, claims.Refuted,
		claims.SmallScale}) {
		t.Errorf("%q", words)
	}
}

// The text is that of the rules which judge, and says what a known condition leaves of them.
func TestRules_TextSaysWhatJudges(t *testing.T) {
	const want = "the effect shows when speed of new against old surely more than ×1; it has the claimed size when " +
		"speed " +
		"of new against old surely at least ×1.4 and surely at most ×1.6, else the verdict is in direction; it is " +
		"the " +
		"report's situation with users at least 1,000 (report: 1,000), else the verdict is small scale; "
	for users, rest := range map[float64]string{
		1000: "all of that confirms the claim; refuted when speed of new against old surely less than ×1.09; " +
			"otherwise " +
			"inconclusive",
		10: "not confirmed here whatever the figures are: users: 10, the report's 1,000; nothing refutes it here; " +
			"otherwise inconclusive",
	} {
		if got := effect(users).Text(); got != want+rest {
			t.Errorf("%s\nwant %s", got, want+rest)
		}
	}
	open := trial.Rules{}.Effect(trial.Known{As: "operations", Value: 3}, 0, 2, math.Inf(1)).Text()
	if !strings.Contains(open, "claimed size when operations at least 2,") ||
		!strings.Contains(open, "refuted when operations less than 0.5") {
		t.Error(open)
	}
}

// What a measured condition is, is measured.
func TestRules_MeasuredSituation(t *testing.T) {
	rules := trial.Rules{Direction: []trial.Criterion{{Of: trial.Every{Of: trial.At("new", "speed")},
		Confirm: trial.Above(0)}}, Situation: []trial.Condition{{Of: trial.Every{Of: trial.At("old", "speed"),
		As:   "load",
		Unit: "%"}, Met: trial.AtMost(80)}}}
	for want, old := range map[claims.Verdict][]float64{claims.Confirmed: {10, 20, 30, 40},
		claims.SmallScale: {90, 20, 30, 40}} {
		f := finding(t, rules, map[string][]float64{"old": old, "new": {1, 1, 1, 1}})
		if f.Verdict != want || !strings.HasPrefix(f.Answers.Situation[0].Here, "3") &&
			!strings.HasPrefix(f.Answers.Situation[0].Here, "25") {
			t.Errorf("%v: %s %+v", old, f.Verdict, f.Answers)
		}
	}
}

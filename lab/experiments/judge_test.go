package experiments

import (
	"strings"
	"testing"
	"time"

	"plimsoll/lab/claims"
	"plimsoll/lab/result"
)

// good is a repetition as C01 wants it: 30,000 users for a minute.
func good() repetition {
	apdex := 0.95
	return repetition{
		Result: &result.Result{
			Valid: true, DurationS: 60, OpsPerS: 24.9, Apdex: &apdex, Audit: result.Audit{Done: true, Clean: true},
		},
		plain: 0.94, counted: 1494,
	}
}

func with(change func(*repetition)) repetition {
	r := good()
	change(&r)
	return r
}

func TestC01_Judge(t *testing.T) {
	low := func(r *repetition) { v := 0.8499; r.Apdex = &v }
	full := Bench{Users: claimedUsers, Duration: time.Minute}
	for _, c := range []struct {
		name    string
		bench   Bench
		done    []repetition
		partial bool
		want    claims.Verdict
		why     string
	}{
		{"AllWell", full, []repetition{good(), good(), good()}, false, claims.Confirmed, ""},
		{"AllBelow", full, []repetition{with(low), with(low), with(low)}, false, claims.Refuted, "below 0.85 in every"},
		{"SomeBelow", full, []repetition{good(), with(low), good()}, false, claims.Inconclusive, "below 0.85 in 1 of 3"},
		{"PlainScoreBelow", full, []repetition{with(func(r *repetition) { r.plain = 0.84 }), good(), good()}, false, claims.Inconclusive, "below 0.85 in 1 of 3"},
		{"WrongBooks", full, []repetition{good(), with(func(r *repetition) { r.Audit.Clean = false; r.Valid = false; r.Apdex = nil }), good()}, false, claims.Refuted, "repetition 2 of 3: wrong books"},
		{"NotAudited", full, []repetition{with(func(r *repetition) { r.Audit = result.Audit{} }), good(), good()}, false, claims.Inconclusive, "repetition 1 of 3: not valid"},
		{"NotValid", full, []repetition{good(), good(), with(func(r *repetition) { r.Valid = false; r.InvalidReasons = []string{"the generator lagged"} })}, false, claims.Inconclusive, "the generator lagged"},
		{"RecountDiffers", full, []repetition{good(), with(func(r *repetition) { r.different = []string{"5 reported, 6 recounted"} }), good()}, false, claims.Inconclusive, "the recount differs: 5 reported"},
		{"TooSlow", full, []repetition{with(func(r *repetition) { r.OpsPerS = 20 }), with(func(r *repetition) { r.OpsPerS = 20 }), with(func(r *repetition) { r.OpsPerS = 20 })}, false, claims.Inconclusive, "not within chance"},
		{"RateWithinChance", full, []repetition{with(func(r *repetition) { r.OpsPerS = 24.0 }), good(), good()}, false, claims.Confirmed, ""},
		{"Stopped", full, []repetition{good(), good()}, true, claims.Inconclusive, "stopped before"},
		{"FewerUsers", Bench{Users: 3000, Duration: time.Minute}, []repetition{good(), good(), good()}, false, claims.Inconclusive, "fewer users"},
		{"FewerRepetitions", full, []repetition{good()}, false, claims.Inconclusive, "fewer than 3 repetitions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			verdict, why := ThirtyThousandUsers{}.judge(c.bench, c.done, c.partial)
			if verdict != c.want || !strings.Contains(why, c.why) {
				t.Errorf("%s (%s), want %s (%s)", verdict, why, c.want, c.why)
			}
		})
	}
}

// λ = 24.6/s over 180 s: 24.6 − 1.96·√(24.6/180) = 23.876.
func TestC01_RateLimitIsThePoissonOne(t *testing.T) {
	_, least := c01Rate(Bench{Users: claimedUsers}, []repetition{good(), good(), good()})
	if least < 23.875 || least > 23.877 {
		t.Errorf("limit %v", least)
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		figures []float64
		want    string
	}{
		{nil, "nothing"},
		{[]float64{0.9}, "0.90"},
		{[]float64{3, 1, 2}, "2.00 (1.00 to 3.00)"},
		{[]float64{1, 2}, "1.50 (1.00 to 2.00)"},
	} {
		if got := spread(c.figures, "%.2f"); got != c.want {
			t.Errorf("%v: %s, want %s", c.figures, got, c.want)
		}
	}
}

func TestRegistry_EveryExperimentAnswersItsOwnKnownClaim(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		if _, err := claims.Find(e.Claim()); err != nil || seen[e.Claim()] {
			t.Errorf("%s: doubled or unknown (%v)", e.Claim(), err)
		}
		seen[e.Claim()] = true
		if p := e.Plan(Bench{}); p.Text == "" || p.Takes <= 0 {
			t.Errorf("%s: plan %+v", e.Claim(), p)
		}
		if found, ok := For(e.Claim()); !ok || found.Claim() != e.Claim() {
			t.Errorf("%s is not found", e.Claim())
		}
	}
	if _, ok := For("C02"); ok && !seen["C02"] {
		t.Error("found what is not registered")
	}
}

func TestC01_PlanGrowsWithWhatIsAskedFor(t *testing.T) {
	e := ThirtyThousandUsers{}
	short := e.Plan(Bench{Duration: 10 * time.Second, Repetitions: 1, Users: 1000}).Takes
	if long := e.Plan(Bench{}).Takes; long < 3*time.Minute || long < 2*short {
		t.Errorf("%s and %s", long, short)
	}
}

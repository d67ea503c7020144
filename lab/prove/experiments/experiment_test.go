package experiments

import (
	"math"
	"testing"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

func TestRegistry_EveryExperimentAnswersItsOwnKnownClaim(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		if _, err := claims.Find(e.Claim()); err != nil || seen[e.Claim()] {
			t.Errorf("%s: doubled or unknown (%v)", e.Claim(), err)
		}
		seen[e.Claim()] = true
		if p := e.Plan(Bench{}); p.Text == "" || p.Takes <= 0 || p.Rules == "" {
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
	e, _ := For("C01")
	short := e.Plan(Bench{Duration: 10 * time.Second, Repetitions: 1, Users: 1000}).Takes
	if long := e.Plan(Bench{}).Takes; long < 3*time.Minute || long < 2*short {
		t.Errorf("%s and %s", long, short)
	}
}

// λ = 24.6/s over 180 s: the least that is within chance is 24.6 − 1.96·√(24.6/180) = 23.876.
func TestC01_RateLimitIsThePoissonOne(t *testing.T) {
	for rate, within := range map[float64]bool{23.875: false, 23.877: true} {
		e, _ := For("C01")
		f := answered(t, Bench{}, e, c01Plant(0.95, rate), 0)
		if got := f.Verdict == claims.Confirmed; got != within {
			t.Errorf("%v operations/s: %s, %s", rate, f.Verdict, f.Measured)
		}
	}
	if math.Abs(c01ClaimedRate(claimedUsers/2)-claimedRate/2) > 1e-9 {
		t.Error("half of the users are not to make half of the rate")
	}
}

func TestLength(t *testing.T) {
	for d, want := range map[time.Duration]string{20 * time.Minute: "20m", 10 * time.Hour: "10h",
		90 * time.Second: "1m30s"} {
		if got := trial.Length(d); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

package scale

import (
	"math"
	"testing"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
)

func TestC01_PlanGrowsWithWhatIsAskedFor(t *testing.T) {
	e := Experiments()[0]
	short := e.Plan(site.Bench{Duration: 10 * time.Second, Repetitions: 1, Users: 1000}).Takes
	if long := e.Plan(site.Bench{}).Takes; long < 3*time.Minute || long < 2*short {
		t.Errorf("%s and %s", long, short)
	}
}

// λ = 24.6/s over 240 s: the least that is within chance is 24.6 − 1.96·√(24.6/240) = 23.9725.
func TestC01_RateLimitIsThePoissonOne(t *testing.T) {
	for rate, within := range map[float64]bool{23.971: false, 23.974: true} {
		e := Experiments()[0]
		f := sitetest.Answered(t, site.Bench{}, e, c01Plant(0.95, rate), 0)
		if got := f.Verdict == claims.Confirmed; got != within {
			t.Errorf("%v operations/s: %s, %s", rate, f.Verdict, f.Measured)
		}
	}
	if math.Abs(c01ClaimedRate(claimedUsers/2)-claimedRate/2) > 1e-9 {
		t.Error("half of the users are not to make half of the rate")
	}
}

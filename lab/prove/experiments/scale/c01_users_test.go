package scale

import (
	"math"
	"testing"
	"time"

	"plimsoll/ground/host/machine"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
	"plimsoll/lab/run/result"
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
		if got := f.Verdict == claims.SmallScale; got != within {
			t.Errorf("%v operations/s: %s, %s", rate, f.Verdict, f.Measured)
		}
	}
	if math.Abs(c01ClaimedRate(claimedUsers/2)-claimedRate/2) > 1e-9 {
		t.Error("half of the users are not to make half of the rate")
	}
}

// Half of two cores at ten operations a second is a tenth of a core-second for each.
func TestC01_WeightOfAnOperation(t *testing.T) {
	database, workers := 0.3, 0.2
	two := machine.Machine{Facts: machine.Facts{Cores: 2}}
	r := &result.Result{OpsPerS: 10, Conditions: result.Conditions{Machine: two,
		CPU: result.CPU{Database: &database, Workers: &workers}}}
	if w := operationWeight(r); math.Abs(w-0.1) > 1e-9 {
		t.Errorf("%v core-seconds", w)
	}
	r.Conditions.CPU.Workers = nil
	if w := operationWeight(r); w != 0 {
		t.Errorf("%v core-seconds without those of workers on another machine", w)
	}
}

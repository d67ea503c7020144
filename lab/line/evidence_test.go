package line

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

// answers of a simulated run: each of the operations satisfies with a chance, as the run's counts and score.
func answers(random *rand.Rand, users, operations int, chance float64) *result.Result {
	r := &result.Result{Users: users, Valid: true, Totals: result.Totals{Ops: int64(operations)}}
	var c apdex.Counts
	for range operations {
		if random.Float64() < chance {
			c.Satisfied++
		} else {
			c.Frustrated++
		}
	}
	r.OK, r.Errors = c.Satisfied, c.Frustrated
	score, _ := c.Score()
	interval := c.Interval()
	r.Apdex, r.Interval = &score, &interval
	r.Operations = []result.Operation{{ID: "work", TargetMS: 500, Priority: 1, Totals: r.Totals, Counts: c,
		HistogramT: apdex.Histogram{c.Satisfied}}}
	if r.Ops < run.OpsMin {
		r.Valid, r.InvalidCauses, r.InvalidReasons = false, []result.Cause{result.ByFewness}, []string{"too few"}
	}
	if r.OK == 0 && r.Ops > 0 {
		r.Valid, r.InvalidCauses = false, append(r.InvalidCauses, result.BySystem)
		r.InvalidReasons = append(r.InvalidReasons, "no operation got a valid answer")
	}
	return r
}

// searchRuns searches a system whose runs are given by their users and how often their length was doubled.
func searchRuns(b Bounds, target float64, do func(users, longer int) *result.Result) *Line {
	l := &Line{Plan: Plan{Bounds: b, Target: target}}
	for len(l.Trials) < 300 {
		purpose, users, longer := b.Next(l.Trials)
		if users == 0 {
			break
		}
		t := trialOf(do(users, longer), target)
		t.Users, t.Purpose, t.Longer, t.Again = users, purpose, longer, voidRepeats(l.Trials)
		t.decide()
		l.Trials = append(l.Trials, t)
	}
	l.conclude(0)
	return l
}

// One operation that failed is no evidence that nobody can be served.
func TestOneFailedOperationIsNoLine(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	l := searchRuns(usual, 0.85, func(users, _ int) *result.Result { return answers(random, users, 1, 0) })
	if !l.Complete || strings.Contains(l.Statement(), "not even") || !strings.Contains(l.Statement(), "not known") {
		t.Errorf("%s, from %d trials; the first %s: %s", l.Statement(), len(l.Trials), l.Trials[0].Outcome,
			l.Trials[0].Why)
	}
}

// A server that answers nobody is found out, however few operations it takes for that.
func TestNobodyIsServedIsSaidWithEvidence(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	l := searchRuns(usual, 0.85, func(users, _ int) *result.Result { return answers(random, users, 40, 0) })
	tried := 0
	for _, one := range l.Trials {
		if one.Users == 1 && one.Outcome == Fails {
			tried++
		}
	}
	if !l.Complete || !strings.Contains(l.Statement(), "not even 1 user ") || tried < 2 {
		t.Errorf("%s; one user failed %d times", l.Statement(), tried)
	}
}

// A mishap in any trial of a search of a system that carries 1,234 does not decide where its line is.
func TestOneFailureDoesNotDecideASearch(t *testing.T) {
	for mishap := range 12 {
		log, trials := play(usual, 100, func(n, _, trial int) Outcome {
			if trial == mishap {
				return Fails
			}
			return upTo(1234)(n, 0, 0)
		})
		if low, high := usual.bracket(trials); low < 1150 || low > 1234 || high < 1235 || high > 1300 {
			t.Errorf("trial %d fails by mishap: [%d, %d)\n%s", mishap+1, low, high, log)
		}
	}
}

// A run whose score lies below the target while its interval does not has not failed.
func TestAnUndecidedRunIsMadeLonger(t *testing.T) {
	score, interval := 0.84, apdex.Interval{Low: 0.79, High: 0.88}
	r := &result.Result{Valid: true, Apdex: &score, Interval: &interval, Totals: result.Totals{Ops: 250, OK: 250}}
	got := trialOf(r, 0.85)
	if got.Outcome != "undecided" || !strings.Contains(got.Why, "0.790 to 0.880") {
		t.Errorf("%s: %s", got.Outcome, got.Why)
	}
	var lengths []int
	_, trials := play(usual, 60, func(n, longer, _ int) Outcome {
		if n == 200 && longer < 2 {
			return "undecided"
		}
		return upTo(450)(n, 0, 0)
	})
	for _, one := range trials {
		lengths = append(lengths, one.Longer)
	}
	if want := "[0 0 1 2 0"; !strings.HasPrefix(fmt.Sprint(lengths), want) {
		t.Errorf("doubled %v times, want %s …: only this number of users needs longer runs", lengths, want)
	}
}

// The share that a system satisfies falls with its users: known is where it reaches the target, and how many operations
// a trial has. Whatever it takes to decide a trial, the interval must hold the line.
func TestIntervalCoversTheLineOfRunsThatAreCounted(t *testing.T) {
	const searches, target = 60, 0.85
	random := rand.New(rand.NewPCG(23, 29))
	for _, c := range []struct {
		name       string
		operations int
		steep      float64 // how fast the logit of the share falls with ln users
	}{{"FewOperations", 200, 6}, {"ManyOperations", 5000, 6}, {"SlowlyWorse", 500, 2}} {
		t.Run(c.name, func(t *testing.T) {
			covered, bracketed, off, made := 0.0, 0.0, 0.0, 0
			for range searches {
				line := 800 * math.Exp(random.Float64())
				l := searchRuns(usual, target, func(users, longer int) *result.Result {
					logit := math.Log(target/(1-target)) - c.steep*math.Log(float64(users)/line)
					return answers(random, users, c.operations<<longer, 1/(1+math.Exp(-logit)))
				})
				if !l.Complete || l.Answer == nil || l.Answer.Below == nil {
					t.Fatalf("%s after %d trials", l.Statement(), len(l.Trials))
				}
				i := l.Answer.Interval
				if *i.Low <= line && line <= *i.High {
					covered += 1.0 / searches
				}
				if low, high := l.Answer.Users, *l.Answer.Below; float64(low) <= line && line <= float64(high) {
					bracketed += 1.0 / searches
				}
				off += math.Log(math.Sqrt(*i.Low**i.High)/line) / searches
				made += len(l.Trials)
			}
			t.Logf("interval covers %.3f, the bracket %.3f; its middle is off by %+.1f %%; %d trials each", covered,
				bracketed, 100*off, made/searches)
			if covered < 0.9 {
				t.Errorf("the interval covers the line in %.3f of the searches", covered)
			}
		})
	}
}

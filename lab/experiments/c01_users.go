package experiments

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"plimsoll/lab/claims"
	"plimsoll/lab/result"
	"plimsoll/lab/rig"
	"plimsoll/lab/run"
	"plimsoll/lab/tally"
	"plimsoll/lab/users"
)

// What report A gives for claim C01.
const (
	claimedUsers  = 30_000
	claimedThink  = 20 * time.Minute
	claimedRate   = 24.6 // operations per second of all users
	claimedApdex  = 0.85
	claimedLength = 10 * time.Hour
)

// Defaults of the experiment and what a repetition costs beside the measured time:
// logging in everybody, ramp, drain, audit.
const (
	c01Duration    = 60 * time.Second
	c01Repetitions = 3
	c01Ramp        = 5 * time.Second
	c01LoginRate   = 3000 // users per second, a cautious estimate for two cores
	c01Overhead    = 10 * time.Second
)

// ThirtyThousandUsers is the experiment behind C01: as many users with the think time
// of the report, some repetitions, each audited and recounted from its raw operations.
type ThirtyThousandUsers struct{}

// Claim implements Experiment.
func (ThirtyThousandUsers) Claim() string { return "C01" }

// Plan implements Experiment.
func (e ThirtyThousandUsers) Plan(b Bench) Plan {
	b = e.defaults(b)
	return Plan{
		fmt.Sprintf("%d x %s with %s users who think %s between operations", b.Repetitions, length(b.Duration), thousands(int64(b.Users)), length(claimedThink)),
		time.Duration(b.Repetitions) * e.oneTakes(b),
	}
}

func (ThirtyThousandUsers) defaults(b Bench) Bench {
	if b.Duration == 0 {
		b.Duration = c01Duration
	}
	if b.Repetitions == 0 {
		b.Repetitions = c01Repetitions
	}
	if b.Users == 0 {
		b.Users = claimedUsers
	}
	return b
}

func (ThirtyThousandUsers) oneTakes(b Bench) time.Duration {
	return b.Duration + c01Ramp + c01Overhead + time.Duration(b.Users)*time.Second/c01LoginRate
}

// repetition is one run with its recount.
type repetition struct {
	*result.Result
	different []string // from the recount
	plain     float64  // (NS + NT/2)/N over everything, recounted
	counted   int64
}

// Run implements Experiment.
func (e ThirtyThousandUsers) Run(ctx context.Context, b Bench) (f claims.Finding, err error) {
	b = e.defaults(b)
	rig, err := b.rig(ctx)
	if err != nil {
		return f, err
	}
	defer func() {
		if down := rig.Close(); err == nil {
			err = down
		}
	}()
	var done []repetition
	for k := range b.Repetitions {
		rep, err := e.repeat(ctx, b, rig, k)
		switch {
		case ctx.Err() != nil && len(done) > 0:
			return e.finding(b, done, true), nil
		case ctx.Err() != nil:
			return f, ctx.Err()
		case err != nil:
			return f, err
		}
		done = append(done, rep)
		b.say("%sApdex %s, %.1f operations/s, recount %s", nth(k, b.Repetitions), score(rep.Apdex), rep.OpsPerS, recountText(rep))
	}
	return e.finding(b, done, false), nil
}

func (e ThirtyThousandUsers) repeat(ctx context.Context, b Bench, rig *rig.Rig, k int) (repetition, error) {
	var rows []raw
	o, err := b.load(ctx, rig, "claim C01, "+strings.TrimSuffix(nth(k, b.Repetitions), ": "))
	if err != nil {
		return repetition{}, err
	}
	o.Users, o.Duration, o.Ramp, o.Seed = b.Users, b.Duration, c01Ramp, uint64(k+1)
	o.Think = users.Think{Mean: claimedThink}
	o.Progress = b.repetitions(k, b.Repetitions, e.oneTakes(b))
	o.Ended = func(operation string, s tally.Sample) { rows = append(rows, rawOf(operation, s)) }
	r, err := run.Run(ctx, o)
	if err != nil {
		return repetition{}, err
	}
	if r.Interrupted {
		return repetition{}, context.Canceled
	}
	counts, err := recount(ctx, o.DSN, rows, o.Ramp, o.Ramp+o.Duration)
	if err != nil {
		return repetition{}, err
	}
	all := counts[""]
	return repetition{r, differences(r, counts), all.plain, all.satisfied + all.tolerating + all.frustrated}, nil
}

func (e ThirtyThousandUsers) finding(b Bench, done []repetition, partial bool) claims.Finding {
	var scores, plain, rates []float64
	var counted int64
	for _, rep := range done {
		if rep.Apdex != nil {
			scores = append(scores, *rep.Apdex)
		}
		plain, rates = append(plain, rep.plain), append(rates, rep.OpsPerS)
		counted += rep.counted
	}
	verdict, why := e.judge(b, done, partial)
	measured := fmt.Sprintf("Apdex %s, %s operations/s with %s users, %d x %s; %s operations recounted %s; books %s",
		spread(scores, "%.3f"), spread(rates, "%.1f"), thousands(int64(b.Users)), len(done), length(b.Duration), thousands(counted), together(done), books(done))
	measured = because(measured, why)
	return claims.Finding{
		Verdict: verdict, Measured: measured, Partial: partial,
		Figures: []claims.Figure{
			{Name: "apdex", Values: scores}, {Name: "apdex, all operations alike", Values: plain},
			{Name: "operations", Unit: "1/s", Values: rates},
		},
		Conditions: c01Conditions(b, done[0].Result, done),
	}
}

// judge: confirmed when every one of at least three repetitions is valid, audited clean, recounted identically
// and at or above 0.85, at the report's rate or within chance of it, with all its users.
func (e ThirtyThousandUsers) judge(b Bench, done []repetition, partial bool) (claims.Verdict, string) {
	below := 0
	for k, rep := range done {
		switch {
		case len(rep.different) > 0:
			return claims.Inconclusive, "the recount differs: " + rep.different[0]
		case rep.Audit.Done && !rep.Audit.Clean:
			return claims.Refuted, fmt.Sprintf("%swrong books, it scores nothing", nth(k, len(done)))
		case !rep.Valid || !rep.Audit.Done || rep.Apdex == nil:
			return claims.Inconclusive, nth(k, len(done)) + "not valid: " + strings.Join(rep.InvalidReasons, ", ")
		case math.Min(*rep.Apdex, rep.plain) < claimedApdex:
			below++
		}
	}
	if below == len(done) {
		return claims.Refuted, "below 0.85 in every repetition"
	}
	if below > 0 {
		return claims.Inconclusive, fmt.Sprintf("below 0.85 in %d of %d repetitions", below, len(done))
	}
	if rate, least := c01Rate(b, done); rate < least {
		return claims.Inconclusive, fmt.Sprintf("%.1f operations/s, which is not within chance of the report's %.1f", rate, claimedRate*share(b))
	}
	switch {
	case partial:
		return claims.Inconclusive, "stopped before all repetitions were made"
	case b.Users < claimedUsers:
		return claims.Inconclusive, "fewer users than claimed"
	case len(done) < c01Repetitions:
		return claims.Inconclusive, fmt.Sprintf("fewer than %d repetitions", c01Repetitions)
	}
	return claims.Confirmed, ""
}

func share(b Bench) float64 { return float64(b.Users) / claimedUsers }

// c01Rate is the rate over all repetitions and the least that is within chance of the
// report's. Many users who act independently and rarely make a Poisson stream, so the
// count n over the time t varies by √n: the limit is λ − 1.96·√(λ/t).
func c01Rate(b Bench, done []repetition) (rate, least float64) {
	const normalAt975 = 1.96
	var answered, seconds float64
	for _, rep := range done {
		answered += rep.OpsPerS * rep.DurationS
		seconds += rep.DurationS
	}
	claimed := claimedRate * share(b)
	return answered / seconds, claimed - normalAt975*math.Sqrt(claimed/seconds)
}

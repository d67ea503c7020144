package scale

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

// Figures that report A gives for claim C01.
const (
	claimedUsers  = 30_000
	claimedThink  = 20 * time.Minute
	claimedRate   = 24.6 // operations per second of all users
	claimedApdex  = 0.85
	claimedLength = 10 * time.Hour
)

// Defaults of the experiment, and the time a repetition takes besides the measurement: login, ramp, drain, audit.
const (
	c01Duration    = 60 * time.Second
	c01Repetitions = 4
	c01Ramp        = 5 * time.Second
	c01LoginRate   = 3000 // users per second, a cautious estimate for two cores
	c01Overhead    = 10 * time.Second
)

// Figures of C01. Those from recountedCount on are not printed.
const (
	apdexScore     = "apdex"
	plainScore     = "apdex, all operations weighted equally"
	lowerScore     = "lower of the two scores"
	recountedCount = "operations recounted"
	measuredTime   = "seconds measured"
	differentCount = "differences of the recount"
	booksState     = "books" // one of the following
)

// States of the books after a repetition.
const (
	booksClean = iota
	booksWrong
	booksNotAudited
)

// Checks of C01.
const (
	checkRecount = "recount"
	checkBooks   = "books"
	checkValid   = "valid"
)

// thirtyThousandUsers is the experiment behind C01: the report's users with its think time, several repetitions, each
// audited and recounted from its single operations.
func thirtyThousandUsers(b site.Bench, s *site.Site) trial.Trial {
	count := claimedUsers
	if b.Users != 0 {
		count = b.Users
	}
	load := usersLoad{bench: b, site: s, users: count, duration: b.Turn(c01Duration),
		repetitions: b.Rounds(c01Repetitions)}
	part := trial.Part{Rounds: load.repetitions, Turn: load.duration,
		Between: c01Ramp + c01Overhead + time.Duration(count)*time.Second/c01LoginRate,
		Series: []trial.Series{{Name: apdexScore}, {Name: plainScore}, {Name: site.OperationRate, Unit: "1/s"},
			{Name: lowerScore, Hidden: true}, {Name: recountedCount, Hidden: true}, {Name: measuredTime, Hidden: true},
			{Name: differentCount, Hidden: true}, {Name: booksState, Hidden: true}},
		Sides: []trial.Side{{Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
			return func(ctx context.Context, n int) (trial.Figures, error) { return load.repeat(ctx, r, n) }, nil
		}}},
	}
	part.Measured = []trial.Phrase{
		trial.Say("Apdex %s, %s operations/s with %s users, %s x %s",
			trial.Spread{Of: trial.At("", apdexScore), Format: "%.3f"},
			trial.Spread{Of: trial.At("", site.OperationRate), Format: "%.1f"}, human.Thousands(count),
			trial.Turns{Of: trial.At("", site.OperationRate)}, human.Duration(load.duration)),
		trial.Say("%s operations recounted %s", trial.Words(recountedTotal), trial.Words(recountedAlike)),
		trial.Say("books %s", trial.Words(booksFound)),
	}
	return trial.Trial{
		Text: fmt.Sprintf("%s users who think %s between operations", human.Thousands(count),
			human.Duration(claimedThink)),
		Parts: []trial.Part{part},
		Rules: trial.Rules{
			Checks: []trial.Check{
				{Name: checkRecount, Want: "every repetition is recounted identically"},
				{Name: checkBooks, Want: "its books balance", Refuted: "the books are wrong after a repetition"},
				{Name: checkValid, Want: "it is valid and audited"},
			},
			Criteria: []trial.Criterion{
				{Of: trial.Every{Of: trial.At("", lowerScore), As: "the lower of the weighted and the unweighted " +
					"Apdex"},
					Confirm: trial.AtLeast(claimedApdex), Refute: trial.Below(claimedApdex)},
				{Of: trial.Computed{As: fmt.Sprintf(
					"operations/s over all repetitions minus the report's %.1f, in standard errors",
					c01ClaimedRate(count)), Formula: rateDeviation(count), Format: "%.2f"},
					Confirm: trial.AtLeast(-normalAt975)},
				{Of: trial.Known{As: "users", Value: float64(count)}, Confirm: trial.AtLeast(claimedUsers)},
			},
		},
	}
}

// usersLoad is the load of C01.
type usersLoad struct {
	bench       site.Bench
	site        *site.Site
	users       int
	duration    time.Duration
	repetitions int
	done        []*result.Result
}

func (l *usersLoad) repeat(ctx context.Context, r *trial.Record, n int) (trial.Figures, error) {
	repetition := fmt.Sprintf("repetition %d of %d", n%l.repetitions+1, l.repetitions)
	var rows []raw
	o, err := l.bench.Load(ctx, l.site.Rig, "claim C01, "+repetition)
	if err != nil {
		return nil, err
	}
	o.Users = l.users
	o.Duration = l.duration
	o.Ramp = c01Ramp
	o.Seed = uint64(n + 1)
	o.Think = &users.Think{Mean: claimedThink}
	o.Progress = func(p run.Progress) { r.Within(p.Share, progressNote(repetition, p)) }
	o.Ended = func(operation string, s tally.Sample) { rows = append(rows, rawOf(operation, s)) }
	result, err := run.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	if result.Interrupted {
		return nil, context.Canceled
	}
	counts, err := recount(ctx, o.DSN, rows, o.Ramp, o.Ramp+o.Duration)
	if err != nil {
		return nil, err
	}
	l.done = append(l.done, result)
	for _, c := range l.conditions() {
		r.Condition(c.Name, c.Text)
	}
	different := differences(result, counts)
	checkRepetition(r, result, different)
	r.Say("%s: Apdex %s, %.1f operations/s, recount %s", repetition, score(result.Apdex), result.OpsPerS,
		recountText(different))
	return repetitionFigures(result, counts[""], different), nil
}

func progressNote(repetition string, p run.Progress) string {
	note := repetition + ": " + string(p.Phase)
	if p.Scored {
		note += ", Apdex " + apdex.Text(p.Apdex)
	}
	return note
}

// checkRepetition returns the first problem of a repetition.
func checkRepetition(r *trial.Record, result *result.Result, different []string) {
	switch {
	case len(different) > 0:
		r.Fail(checkRecount, "the recount differs: "+different[0])
	case result.Audit.Done && !result.Audit.Clean:
		r.Fail(checkBooks, "wrong books: no score")
	case result.OnlyDisturbed() && result.Audit.Done:
		r.Void(strings.Join(result.InvalidReasons, ", "))
	case !result.Valid || !result.Audit.Done || result.Apdex == nil:
		r.Fail(checkValid, "not valid: "+strings.Join(result.InvalidReasons, ", "))
	}
}

func repetitionFigures(r *result.Result, all recounted, different []string) trial.Figures {
	f := trial.Figures{
		plainScore: all.plain, site.OperationRate: r.OpsPerS, measuredTime: r.DurationS,
		recountedCount: float64(all.satisfied + all.tolerating + all.frustrated),
		differentCount: float64(len(different)), booksState: booksClean,
	}
	if r.Apdex != nil {
		f[apdexScore], f[lowerScore] = *r.Apdex, math.Min(*r.Apdex, all.plain)
	}
	switch {
	case !r.Audit.Done:
		f[booksState] = booksNotAudited
	case !r.Audit.Clean:
		f[booksState] = booksWrong
	}
	return f
}

func c01ClaimedRate(count int) float64 { return claimedRate * float64(count) / claimedUsers }

const normalAt975 = 1.96

// rateDeviation is how far the rate over all repetitions is from the report's, in standard deviations. Many users who
// act rarely and independently are a Poisson process, so the count n over the time t varies by √n: (n/t − λ) / √(λ/t),
// which is within chance from −1.96 on.
func rateDeviation(count int) func(*trial.Measurements) float64 {
	return func(m *trial.Measurements) float64 {
		claimed := c01ClaimedRate(count)
		var answered, seconds float64
		times := m.Figures(trial.At("", measuredTime))
		for k, rate := range m.Figures(trial.At("", site.OperationRate)) {
			answered += rate * times[k]
			seconds += times[k]
		}
		return (answered/seconds - claimed) / math.Sqrt(claimed/seconds)
	}
}

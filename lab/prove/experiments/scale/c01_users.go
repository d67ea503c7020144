package scale

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"plimsoll/erp/fill"
	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/system"
)

// Figures that report A gives for claim C01.
const (
	claimedUsers  = 30_000
	claimedThink  = 20 * time.Minute
	claimedRate   = 24.6 // operations per second of all users
	claimedApdex  = 0.85
	claimedLength = 10 * time.Hour
	// claimedCores are those of the database and of four working servers, without the central one; how busy they were
	// is not given, so that claimedWeight is the most that an operation took of them, in seconds of a core.
	claimedCores  = 96 + 4*16
	claimedWeight = claimedCores / claimedRate
	// lightest is a tenth of that, from which on an operation is one of such a load: servers bought for it are rarely
	// less busy than a tenth.
	lightest = 0.65
)

// Defaults of the experiment, and the time a repetition takes besides the measurement: login, ramp, drain, audit.
const (
	c01Duration    = 60 * time.Second
	c01Repetitions = 4
	c01Ramp        = 5 * time.Second
	c01LoginRate   = 3000 // users per second, a cautious estimate for two cores
	c01Overhead    = 10 * time.Second
	// c01Full is one repetition with --full, and the least load in one go that stands for the report's ten hours; four
	// repetitions are ten hours.
	c01Full = 150 * time.Minute
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
	beyondFourT    = "beyond 4T"
	scaleOfBase    = "scale of the base"
	weight         = "core-seconds of an operation"
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
	length := c01Duration
	if b.Full {
		length = c01Full
	}
	load := usersLoad{bench: b, site: s, users: count, duration: b.Turn(length),
		repetitions: b.Rounds(c01Repetitions)}
	part := trial.Part{Rounds: load.repetitions, Turn: load.duration,
		Between: c01Ramp + c01Overhead + time.Duration(count)*time.Second/c01LoginRate,
		Series: []trial.Series{{Name: apdexScore}, {Name: plainScore}, {Name: site.OperationRate, Unit: "1/s"},
			{Name: lowerScore, Hidden: true}, {Name: recountedCount, Hidden: true}, {Name: measuredTime, Hidden: true},
			{Name: differentCount, Hidden: true}, {Name: booksState, Hidden: true}, {Name: beyondFourT, Unit: "%"},
			{Name: scaleOfBase, Hidden: true}, trial.BusySeries, {Name: weight, Unit: "s"}},
		Sides: []trial.Side{{Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
			return func(ctx context.Context, n int) (trial.Figures, error) { return load.repeat(ctx, r, n) }, nil
		}}},
	}
	part.Measured = []trial.Phrase{
		trial.Say("Apdex %s, %s operations/s with %s users, %s x %s",
			trial.Spread{Of: trial.At("", apdexScore), Format: "%.3f"},
			trial.Spread{Of: trial.At("", site.OperationRate), Format: "%.1f"}, human.Thousands(count),
			trial.Turns{Of: trial.At("", site.OperationRate)}, human.Duration(load.duration)),
		trial.Say("%s %% of the operations beyond 4T or failed, processors busy %s %%",
			trial.Spread{Of: trial.At("", beyondFourT), Format: "%.2f"},
			trial.Spread{Of: trial.At("", trial.Busy), Format: "%.0f"}),
		trial.Say("an operation takes %s core-seconds of database and workers, the report's at most %.1f, "+
			"×%s as much",
			trial.Spread{Of: trial.At("", weight), Format: "%.4f"}, claimedWeight,
			trial.Median{Of: trial.At("", weight), Format: "%.0f", Map: func(w float64) float64 {
				return claimedWeight / w
			}}),
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
			Direction: []trial.Criterion{
				{Of: trial.Every{Of: trial.At("", lowerScore), As: "the lower of the weighted and the unweighted " +
					"Apdex"},
					Confirm: trial.AtLeast(claimedApdex), Refute: trial.Below(claimedApdex), Anywhere: true},
				{Of: trial.Computed{As: fmt.Sprintf(
					"operations/s over all repetitions minus the report's %.1f, in standard errors",
					c01ClaimedRate(count)), Formula: rateDeviation(count), Format: "%.2f"},
					Confirm: trial.AtLeast(-normalAt975)},
			},
			Situation: []trial.Condition{
				{Of: trial.Known{As: "users", Value: float64(count)}, Report: human.Thousands(claimedUsers),
					Met: trial.AtLeast(claimedUsers)},
				site.Lasting(load.duration, c01Full, human.Duration(claimedLength)),
				{Of: trial.Every{Of: trial.At("", scaleOfBase), As: scaleOfBase}, Report: "1, about 1 TB",
					Met: trial.AtLeast(site.WholeScale)},
				{Of: trial.Every{Of: trial.At("", weight), As: weight}, Report: fmt.Sprintf("%.1f at most: %d cores "+
					"for %.1f/s, how busy is not given", claimedWeight, claimedCores, claimedRate),
					Met: trial.AtLeast(lightest)},
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
	base, err := system.Look(ctx, o.DSN)
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
	f := repetitionFigures(result, counts[""], different)
	f[scaleOfBase] = float64(base.Documents) / float64(fill.ReportedTotal())
	return f, nil
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
	if f[recountedCount] > 0 {
		f[beyondFourT] = 100 * float64(all.frustrated) / f[recountedCount]
	}
	if r.Apdex != nil {
		f[apdexScore], f[lowerScore] = *r.Apdex, math.Min(*r.Apdex, all.plain)
	}
	if w := operationWeight(r); w > 0 {
		f[weight] = w
	}
	switch {
	case !r.Audit.Done:
		f[booksState] = booksNotAudited
	case !r.Audit.Clean:
		f[booksState] = booksWrong
	}
	return f
}

// operationWeight is how many seconds of a core database and workers spend on an operation; 0: unknown.
func operationWeight(r *result.Result) float64 {
	used := r.Conditions.CPU
	if used.Database == nil || used.Workers == nil || r.OpsPerS == 0 {
		return 0
	}
	return (*used.Database + *used.Workers) * float64(r.Conditions.Machine.Cores) / r.OpsPerS
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

package scale

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"plimsoll/erp/operations"
	"plimsoll/ground/host/machine"
	"plimsoll/ground/human"
	"plimsoll/lab/load/users"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/run"
	"plimsoll/lab/run/agents"
	"plimsoll/lab/run/result"
)

// Figures that report A gives for claim C03.
const (
	c03Machines        = 32
	c03VirtualMachines = 6   // per machine
	c03Each            = 160 // sessions per virtual machine
	c03Claimed         = c03Machines * c03VirtualMachines * c03Each
)

const (
	c03Agents   = 4
	c03Workers  = 2 // the report has four, each on 16 cores
	c03Duration = 15 * time.Second
	c03Rounds   = 4
	c03Ramp     = 4 * time.Second
	c03Overhead = 8 * time.Second // workers, agents, drain, audit
	// c03Elsewhere is the share of operations that only one side may have made in the steady state: a user's second
	// operation follows an answer, whose latency varies.
	c03Elsewhere = 0.02
	// c03Margin is the difference between scores that still counts as equal.
	c03Margin = 0.01
)

// Figures of C03 besides the rate.
const (
	sessionBytes = "memory per session"
	sessionCPU   = "processor per session"
	sendingLag   = "lag p99"
)

// Sides of C03.
const oneProcess = "one process"

var someAgents = fmt.Sprintf("%d agents", c03Agents)

// checkSessions: the agents together have all sessions.
const checkSessions = "sessions"

// loadFromAgents is the experiment behind C03: the same sessions with the same seeds, in one process and shared out to
// agents.
func loadFromAgents(b site.Bench, s *site.Site) trial.Trial {
	load := agentsLoad{bench: b, site: s, users: c03Users(b), duration: b.Turn(c03Duration)}
	part := trial.Part{Rounds: b.Rounds(c03Rounds), Turn: load.duration,
		Between: c03Ramp + c03Overhead + time.Duration(load.users)*time.Second/c01LoginRate,
		Sides:   []trial.Side{load.side(oneProcess), load.side(someAgents)},
		Series: []trial.Series{{Name: apdexScore}, {Name: site.OperationRate, Unit: "1/s"}, {Name: sessionBytes,
			Unit: "B"},
			{Name: sessionCPU, Unit: "µs/s"}, {Name: sendingLag, Unit: "ms"}}}
	for _, op := range operations.All() {
		part.Series = append(part.Series, trial.Series{Name: countOf(op.ID), Hidden: true})
	}
	scores := trial.Ratio{Of: trial.At(someAgents, apdexScore), To: trial.At(oneProcess, apdexScore)}
	part.Measured = load.measured(scores)
	return trial.Trial{
		Text: fmt.Sprintf("%s sessions in one process, and distributed to %d agents", human.Thousands(load.users),
			c03Agents),
		Parts: []trial.Part{part},
		Rules: trial.Rules{
			Checks: []trial.Check{{Name: checkValid, Want: "every turn is valid"},
				{Name: checkSessions, Want: "the agents have all sessions"},
				{Name: checkRecount, Want: "every turn is recounted identically"}},
			Requires: []trial.Criterion{{Of: scores, Confirm: trial.Measured()}},
			Direction: []trial.Criterion{
				{Of: trial.Computed{As: "operations made by only one side, in %", Formula: aloneShare,
					Format: "%.2g"}, Confirm: trial.AtMost(100 * c03Elsewhere),
					Refute: trial.Above(100 * c03Elsewhere), Anywhere: true},
				{Of: scores, Confirm: trial.Within(1-c03Margin, 1+c03Margin), Refute: trial.Outside(1-c03Margin,
					1+c03Margin), Anywhere: true},
			},
			Situation: []trial.Condition{
				{Of: trial.Known{As: "sessions", Value: float64(load.users)}, Report: human.Thousands(c03Claimed),
					Met: trial.AtLeast(c03Claimed)},
				trial.Absent("machines that make the load", fmt.Sprint(c03Machines), "this one, which has the "+
					"database, too"),
			},
		},
		Conditions: load.conditions(),
	}
}

func c03Users(b site.Bench) int {
	if b.Users != 0 {
		return b.Users
	}
	return c03Claimed
}

// agentsLoad is the load of C03.
type agentsLoad struct {
	bench    site.Bench
	site     *site.Site
	users    int
	duration time.Duration
}

// think keeps the report's rate with fewer sessions, so that every size judges as many operations.
func (l agentsLoad) think() time.Duration {
	return max(time.Second, time.Duration(float64(claimedThink)*float64(l.users)/c03Claimed)).Round(time.Second)
}

func (l agentsLoad) side(name string) trial.Side {
	return trial.Side{Name: name, Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
		return func(ctx context.Context, n int) (trial.Figures, error) {
			o, err := l.bench.Load(ctx, l.site.Rig, fmt.Sprintf("claim C03, %s, turn %d", name, n+1))
			if err != nil {
				return nil, err
			}
			o.Seed = l.seed(n)
			return l.once(ctx, r, o, name == someAgents)
		}, nil
	}}
}

// seed is the same for both turns of a round, also where one of them is made again: it has the number of the turn plus
// that of all turns.
func (l agentsLoad) seed(n int) uint64 { return uint64(n%(2*l.bench.Rounds(c03Rounds))/2 + 1) }

// once makes one turn.
func (l agentsLoad) once(ctx context.Context, r *trial.Record, o run.Options, dealt bool) (trial.Figures, error) {
	result, again, err := l.play(ctx, o, dealt)
	if err != nil {
		return nil, err
	}
	l.check(r, result, dealt, again)
	l.found(r, result)
	return agentFigures(result), nil
}

// play the load in this process, or dealt to agents.
func (l agentsLoad) play(ctx context.Context, o run.Options, dealt bool) (*result.Result, *recounting, error) {
	o.Workers = c03Workers
	o.Users, o.Duration, o.Ramp, o.Think = l.users, l.duration, c03Ramp, &users.Think{Mean: l.think()}
	if dealt {
		fleet, err := agents.Open(ctx, agents.Options{
			Agents: c03Agents, Local: l.bench.Agent, Listen: "127.0.0.1:0", Access: agents.Access{Token: rand.Text()},
			Software: l.bench.Software, Wait: agents.WaitDefault, Say: func(string, ...any) {},
		})
		if err != nil {
			return nil, nil, err
		}
		defer fleet.Dismiss()
		o.Generator = fleet
	}
	again := newRecounting()
	o.Snapshot = again.take
	result, err := run.Run(ctx, o)
	if err == nil && result.Interrupted {
		err = context.Canceled
	}
	return result, again, err
}

// check returns the first problem of a turn.
func (l agentsLoad) check(r *trial.Record, result *result.Result, dealt bool, again *recounting) {
	switch {
	case result.OnlyDisturbed():
		r.Void(strings.Join(result.InvalidReasons, ", "))
	case !result.Valid:
		r.Fail(checkValid, "not valid: "+strings.Join(result.InvalidReasons, ", "))
	}
	if dealt {
		if wrong := l.wrongShares(result); wrong != "" {
			r.Fail(checkSessions, wrong)
		}
	}
	for _, different := range again.differences(result) {
		r.Fail(checkRecount, different)
	}
}

// wrongShares says how the agents' sessions are not all sessions; empty: they are.
func (l agentsLoad) wrongShares(r *result.Result) string {
	sum := 0
	for _, a := range r.Generator.Agents {
		sum += a.Users
	}
	if sum == l.users && len(r.Generator.Agents) == c03Agents {
		return ""
	}
	return fmt.Sprintf("%d agents had %d sessions of %d", len(r.Generator.Agents), sum, l.users)
}

// found are the conditions that a run reports.
func (agentsLoad) found(r *trial.Record, result *result.Result) {
	c := result.Conditions
	r.Condition("engine", site.EngineText(c.Engine))
	r.Condition("base", cmp.Or(c.Scale, site.Unavailable))
	r.Condition("durability", site.SettingsText(c.Engine.Settings, "fsync", "synchronous_commit"))
}

func countOf(operation string) string { return "count of " + operation }

func agentFigures(r *result.Result) trial.Figures {
	f := trial.Figures{site.OperationRate: r.OpsPerS, sendingLag: r.Generator.LagMSP99}
	if r.Apdex != nil {
		f[apdexScore] = *r.Apdex
	}
	if bytes := r.Generator.UsersBytes; bytes != nil {
		f[sessionBytes] = *bytes
	}
	cpu, cores := 0.0, float64(r.Conditions.Machine.Cores)
	for _, a := range r.Generator.Agents {
		if a.CPUShare != nil {
			cpu += *a.CPUShare
		}
	}
	if share := r.Generator.CPUShare; len(r.Generator.Agents) == 0 && share != nil {
		cpu = *share
	}
	f[sessionCPU] = 1e6 * cpu * cores / float64(r.Users)
	for _, op := range r.Operations {
		f[countOf(op.ID)] = float64(op.Ops)
	}
	return f
}

func (l agentsLoad) measured(scores trial.Ratio) []trial.Phrase {
	both := func(series, format string) []any {
		return []any{trial.Spread{Of: trial.At(oneProcess, series), Format: format},
			trial.Spread{Of: trial.At(someAgents, series), Format: format}}
	}
	times := trial.Words(func(m *trial.Measurements) string {
		i := scores.Interval(m)
		return fmt.Sprintf("×%.3f (%.3f to %.3f)", i.Middle, i.Low, i.High)
	})
	alone := trial.Words(func(m *trial.Measurements) string {
		alone, all := operationsApart(m)
		return fmt.Sprintf("of %s operations %d were made by only one of the two sides", human.Thousands(all), alone)
	})
	return []trial.Phrase{
		trial.Say("%s sessions in one process and in %d agents: Apdex %s and %s, %s", append(append(
			[]any{human.Thousands(l.users), c03Agents}, both(apdexScore, "%.3f")...), times)...),
		trial.Say("%s", alone),
		trial.Say("a session costs the generator %s and %s B, %s and %s µs/s of a processor",
			append(both(sessionBytes, "%.0f"), both(sessionCPU, "%.2f")...)...),
		trial.Say("one process has the sessions of %s of the report's virtual machines",
			human.Thousands(l.users/c03Each)),
	}
}

// operationsApart counts the operations of both sides, and those that only one of two turns of a round has.
func operationsApart(m *trial.Measurements) (alone, all int) {
	for _, op := range operations.All() {
		one, other := m.Figures(trial.At(oneProcess, countOf(op.ID))), m.Figures(trial.At(someAgents, countOf(op.ID)))
		for k := range min(len(one), len(other)) {
			a, b := int(one[k]), int(other[k])
			alone, all = alone+max(a-b, b-a), all+a+b
		}
	}
	return alone, all
}

// aloneShare of the operations, in percent.
func aloneShare(m *trial.Measurements) float64 {
	alone, all := operationsApart(m)
	return 100 * float64(alone) / float64(max(1, all))
}

func (l agentsLoad) conditions() []claims.Condition {
	here, _ := machine.Describe("/")
	return []claims.Condition{
		{Name: "machine", Text: fmt.Sprintf("%d cores of %s for database, workers and generators together (report: "+
			"%d machines for the load alone)", here.Cores, here.CPU, c03Machines)},
		{Name: "load", Text: fmt.Sprintf("%s sessions on %d workers (report: %s in %d virtual machines, on four "+
			"servers); a think time "+
			"of %s gives the report's rate of operations; the two turns of a round have the same random seed",
			human.Thousands(l.users), c03Workers,
			human.Thousands(c03Claimed),
			c03Machines*c03VirtualMachines, human.Duration(l.think()))},
		{Name: "recount", Text: "every result is computed again from the latencies that the agents sent for each " +
			"second: Apdex zones, histogram in units of T, p50, p95, p99 and maximum must be identical"},
	}
}

package experiments

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"plimsoll/lab/agents"
	"plimsoll/lab/claims"
	"plimsoll/lab/machine"
	"plimsoll/lab/ratio"
	"plimsoll/lab/result"
	"plimsoll/lab/rig"
	"plimsoll/lab/run"
	"plimsoll/lab/users"
)

// What report A gives for claim C03.
const (
	c03Machines        = 32
	c03VirtualMachines = 6   // on each
	c03Each            = 160 // sessions of a virtual machine
	c03Claimed         = c03Machines * c03VirtualMachines * c03Each
)

const (
	c03Sessions = c03Claimed / 4
	c03Agents   = 4
	c03Duration = 15 * time.Second
	c03Rounds   = 4
	c03Ramp     = 4 * time.Second
	c03Overhead = 8 * time.Second // workers, agents, drain, audit
	// c03Elsewhere is the share of operations that one side alone may have made in the steady state: who acts twice
	// in it does so after an answer, which takes as long as it takes.
	c03Elsewhere = 0.02
	// c03Margin is how far scores may be apart and still be called equal.
	c03Margin = 0.01
)

// Names of the figures.
const (
	c03Score = "apdex"
	c03Bytes = "memory per session"
	c03CPU   = "processor per session"
	c03Lag   = "lag p99"
)

var c03Units = map[string]string{c03Score: "", "operations": "1/s", c03Bytes: "B", c03CPU: "µs/s", c03Lag: "ms"}

// LoadFromAgents is the experiment behind C03: the same sessions of the same seeds in one process, and dealt to agents.
type LoadFromAgents struct{}

// Claim implements Experiment.
func (LoadFromAgents) Claim() string { return "C03" }

func (LoadFromAgents) defaults(b Bench) Bench {
	if b.Users == 0 {
		b.Users = c03Sessions
		if b.Full {
			b.Users = c03Claimed
		}
	}
	b.Duration, b.Repetitions = b.turn(c03Duration), b.rounds(c03Rounds)
	return b
}

// think keeps the rate of the report with fewer sessions, so that every size judges as many operations.
func (LoadFromAgents) think(b Bench) time.Duration {
	return max(time.Second, time.Duration(float64(claimedThink)*float64(b.Users)/c03Claimed)).Round(time.Second)
}

func (LoadFromAgents) oneTakes(b Bench) time.Duration {
	return b.Duration + c03Ramp + c03Overhead + time.Duration(b.Users)*time.Second/c01LoginRate
}

// Plan implements Experiment.
func (e LoadFromAgents) Plan(b Bench) Plan {
	b = e.defaults(b)
	return Plan{
		fmt.Sprintf("%d turns of %s: %s sessions in one process, and in %d agents", 2*b.Repetitions, length(b.Duration), thousands(int64(b.Users)), c03Agents),
		time.Duration(2*b.Repetitions) * e.oneTakes(b),
	}
}

// c03Made is what was found besides figures.
type c03Made struct {
	wrong   []string            // that makes a turn no proof
	judged  [2][]map[string]int // operations of each turn, by side
	results [2][]*result.Result
}

// Run implements Experiment.
func (e LoadFromAgents) Run(ctx context.Context, b Bench) (f claims.Finding, err error) {
	b = e.defaults(b)
	r, err := b.rig(ctx)
	if err != nil {
		return f, err
	}
	defer func() {
		if down := r.Close(); err == nil {
			err = down
		}
	}()
	return e.measure(ctx, b, r)
}

func (e LoadFromAgents) measure(ctx context.Context, b Bench, r *rig.Rig) (claims.Finding, error) {
	var found c03Made
	s := sides{names: []string{"one process", fmt.Sprintf("%d agents", c03Agents)}, turn: e.oneTakes(b), rounds: b.Repetitions}
	s.run = func(ctx context.Context, side, turn int) (figures, error) {
		o, err := b.load(ctx, r, fmt.Sprintf("claim C03, %s, turn %d", s.names[side], turn+1))
		if err != nil {
			return nil, err
		}
		o.Seed = uint64(turn/2 + 1) // the two turns of a round have one
		return e.once(ctx, b, o, side, &found)
	}
	made, partial, err := s.measure(ctx, b)
	if err != nil {
		return claims.Finding{}, err
	}
	return e.finding(b, s, made, partial, found), nil
}

// once makes one turn.
func (e LoadFromAgents) once(ctx context.Context, b Bench, o run.Options, side int, found *c03Made) (figures, error) {
	o.Users, o.Duration, o.Ramp, o.Think = b.Users, b.Duration, c03Ramp, users.Think{Mean: e.think(b)}
	if side == 1 {
		fleet, err := agents.Open(ctx, agents.Options{
			Agents: c03Agents, Local: b.Agent, Listen: "127.0.0.1:0", Access: agents.Access{Token: rand.Text()}, Software: b.Software,
			Wait: agents.WaitDefault, Say: func(string, ...any) {},
		})
		if err != nil {
			return nil, err
		}
		defer fleet.Dismiss()
		o.Generator = fleet
	}
	again := newRecounting()
	o.Snapshot = again.take
	r, err := run.Run(ctx, o)
	switch {
	case err != nil:
		return nil, err
	case r.Interrupted:
		return nil, context.Canceled
	}
	found.wrong = append(found.wrong, e.wrong(b, r, side, again)...)
	found.judged[side] = append(found.judged[side], judgedOf(r))
	found.results[side] = append(found.results[side], r)
	return c03Figures(r), nil
}

// wrong is what speaks against a turn.
func (LoadFromAgents) wrong(b Bench, r *result.Result, side int, s *recounting) (all []string) {
	if !r.Valid {
		all = append(all, "not valid: "+strings.Join(r.InvalidReasons, ", "))
	}
	if side == 1 {
		sum := 0
		for _, a := range r.Generator.Agents {
			sum += a.Users
		}
		if sum != b.Users || len(r.Generator.Agents) != c03Agents {
			all = append(all, fmt.Sprintf("%d agents had %d sessions of %d", len(r.Generator.Agents), sum, b.Users))
		}
	}
	return append(all, s.differences(r)...)
}

func judgedOf(r *result.Result) map[string]int {
	counts := map[string]int{}
	for _, op := range r.Operations {
		counts[op.ID] = int(op.Ops)
	}
	return counts
}

func c03Figures(r *result.Result) figures {
	f := figures{"operations": r.OpsPerS, c03Lag: r.Generator.LagMSP99}
	if r.Apdex != nil {
		f[c03Score] = *r.Apdex
	}
	if bytes := r.Generator.UsersBytes; bytes != nil {
		f[c03Bytes] = *bytes
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
	f[c03CPU] = 1e6 * cpu * cores / float64(r.Users)
	return f
}

func (e LoadFromAgents) finding(b Bench, s sides, made []series, partial bool, found c03Made) claims.Finding {
	scores := against(made[0], made[1], c03Score)
	alone, all := apart(found.judged)
	verdict, why := e.judge(b, scores, float64(alone)/float64(max(1, all)), found.wrong, partial)
	measured := fmt.Sprintf("%s sessions in one process and in %d agents: Apdex %s and %s, ×%.3f (%.3f to %.3f); of %s operations %d were made by one side alone",
		thousands(int64(b.Users)), c03Agents, spread(made[0][c03Score], "%.3f"), spread(made[1][c03Score], "%.3f"), scores.Ratio, scores.Low, scores.High, thousands(int64(all)), alone)
	measured += fmt.Sprintf("; a session costs the generator %s and %s B, %s and %s µs/s of a processor; one process does what %s virtual machines did",
		spread(made[0][c03Bytes], "%.0f"), spread(made[1][c03Bytes], "%.0f"), spread(made[0][c03CPU], "%.2f"), spread(made[1][c03CPU], "%.2f"), thousands(int64(b.Users/c03Each)))
	return claims.Finding{Verdict: verdict, Measured: because(measured, why), Partial: partial, Figures: s.listed(made, c03Units), Conditions: e.conditions(b, found)}
}

// apart counts the operations of both sides, and those that one of two turns of a round has and the other has not.
func apart(judged [2][]map[string]int) (alone, all int) {
	for k := range min(len(judged[0]), len(judged[1])) {
		for id, one := range judged[0][k] {
			other := judged[1][k][id]
			alone, all = alone+max(one-other, other-one), all+one+other
		}
	}
	return alone, all
}

func (LoadFromAgents) conditions(b Bench, found c03Made) []claims.Condition {
	here, _ := machine.Describe("/")
	all := []claims.Condition{
		{Name: "machine", Text: fmt.Sprintf("%d cores of %s for database, worker and generators together (report: %d machines for the load alone)", here.Cores, here.CPU, c03Machines)},
		{Name: "load", Text: fmt.Sprintf("%s sessions (report: %s in %d virtual machines), think time %s, which keeps the rate of the report; the two turns of a round have the same seed",
			thousands(int64(b.Users)), thousands(c03Claimed), c03Machines*c03VirtualMachines, length(LoadFromAgents{}.think(b)))},
		{Name: "recount", Text: "every result is counted once more from the latencies of its seconds, as the agents sent them: zones, units of T, p50, p95, p99 and max must be identical"},
		{Name: "judged by", Text: fmt.Sprintf("confirmed with all sessions of the report when every turn is valid and recounted identically, agents have all sessions, at most %.0f %% of the operations are one side's alone, and scores are within %.2f of each other", 100*c03Elsewhere, c03Margin)},
	}
	if results := found.results[0]; len(results) > 0 {
		c := results[0].Conditions
		all = append(all, claims.Condition{Name: "engine", Text: engineText(c.Engine)}, claims.Condition{Name: "base", Text: orUnknown(c.Scale)},
			claims.Condition{Name: "durability", Text: settingsText(c.Engine.Settings, "fsync", "synchronous_commit")})
	}
	return all
}

// judge: the same load, however many processes make it.
func (LoadFromAgents) judge(b Bench, scores ratio.Ratio, alone float64, wrong []string, partial bool) (claims.Verdict, string) {
	switch {
	case len(wrong) > 0:
		return claims.Inconclusive, wrong[0]
	case partial || !scores.Sure():
		return claims.Inconclusive, "too few turns"
	case alone > c03Elsewhere:
		return claims.Refuted, fmt.Sprintf("%.1f %% of the operations are one side's alone: not the same load", 100*alone)
	case scores.Low > 1+c03Margin || scores.High < 1-c03Margin:
		return claims.Refuted, "the scores differ"
	case scores.Low < 1-c03Margin || scores.High > 1+c03Margin:
		return claims.Inconclusive, "the scores are not surely within a hundredth of each other"
	case b.Users < c03Claimed:
		return claims.Inconclusive, fmt.Sprintf("fewer sessions than claimed: --full takes %s", thousands(c03Claimed))
	}
	return claims.Confirmed, ""
}

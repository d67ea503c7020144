package run

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"plimsoll/lab/apdex"
	"plimsoll/lab/dirs"
	"plimsoll/lab/machine"
	"plimsoll/lab/own"
	"plimsoll/lab/result"
	"plimsoll/lab/scenario"
	"plimsoll/lab/tally"
	"plimsoll/lab/users"
)

// result puts together what is known.
func (r *running) result() *result.Result {
	all := r.begun()
	r.measured(all, time.Now())
	return all
}

// begun is what is known of the run when users go to work.
func (r *running) begun() *result.Result {
	return &result.Result{
		Schema: result.Schema, ID: r.id, Title: r.Title, Started: r.began.UTC().Truncate(time.Millisecond), Users: r.Users,
		Audit: r.unaudited(), Conditions: r.conditions(),
	}
}

func (r *running) unaudited() result.Audit {
	return result.Audit{None: r.Scenario.Application == scenario.NoERP, Findings: []result.Finding{}}
}

// measured adds what was counted until the run was finished.
func (r *running) measured(all *result.Result, finished time.Time) {
	all.Finished, all.Interrupted, all.DurationS = finished.UTC().Truncate(time.Millisecond), r.stoppedByHand, r.tally.Steady().Seconds()
	all.Totals, all.Band, all.Operations = totals(r.tally.Outcomes()), apdex.NoSample, r.perOperation()
	all.Cost, all.Memory, all.Generator, all.Audit = r.cost(), r.memory(), r.generated(), r.audit
	all.Conditions.CPU, all.Events, all.Series = r.processors(), r.events(), r.series()
	if all.DurationS > 0 {
		all.OpsPerS = float64(r.tally.Answered) / all.DurationS
	}
	r.judge(all)
	r.score(all)
}

// score gives nothing to a run whose books are wrong.
func (r *running) score(all *result.Result) {
	score, interval, ok := r.tally.Apdex()
	if !ok || r.audit.Done && !r.audit.Clean {
		return
	}
	all.Apdex, all.Interval, all.Band = &score, &interval, apdex.BandOf(score)
}

func totals(sum [4]int64) result.Totals {
	return result.Totals{
		Ops: total(sum[:]), OK: sum[tally.OK], Refused: sum[tally.Refused],
		Errors: sum[tally.Failed], Overload: sum[tally.Overload],
	}
}

func (r *running) perOperation() []result.Operation {
	weights := shares(r.operations)
	all := make([]result.Operation, len(r.operations))
	for i, op := range r.operations {
		counted := r.tally.Operations[i]
		all[i] = result.Operation{
			ID: op.ID, Title: op.Title, TargetMS: milliseconds(op.Target), Priority: op.Priority, Weight: weights[op.ID],
			Totals: totals(counted.Outcomes), Counts: counted.Apdex, Band: apdex.NoSample,
			Latency: latency(counted.Latency), HistogramT: counted.Units, ErrorTexts: errorTexts(counted.Errors),
		}
		if score, ok := counted.Apdex.Score(); ok {
			interval := counted.Apdex.Interval()
			all[i].Apdex, all[i].Interval, all[i].Band = &score, &interval, apdex.BandOf(score)
		}
	}
	return all
}

func latency(times *tally.Times) (l result.Latency) {
	for p, to := range map[float64]**float64{50: &l.P50, 95: &l.P95, 99: &l.P99, 100: &l.Max} {
		if d, ok := times.Percentile(p); ok {
			ms := milliseconds(d)
			*to = &ms
		}
	}
	return l
}

func errorTexts(counts map[string]int64) (all []result.ErrorText) {
	for text, n := range counts {
		all = append(all, result.ErrorText{Text: text, Count: n})
	}
	slices.SortFunc(all, func(a, b result.ErrorText) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
	})
	return all
}

func (r *running) generated() result.Generator {
	p50, _ := r.tally.Lag.Percentile(50)
	p99, _ := r.tally.Lag.Percentile(99)
	return result.Generator{
		CPUShare: r.generatorShare(), LagMSP50: milliseconds(p50), LagMSP99: milliseconds(p99),
		LagMSMax: milliseconds(r.tally.Lag.Max()), UsersBytes: r.made.UsersBytes, InFlight: r.tally.InFlight, Backlog: r.tally.Backlog,
		Agents: r.made.Agents,
	}
}

// generatorShare is that of the machine whose generators are the busiest; this process is one of them.
func (r *running) generatorShare() *float64 {
	own := r.cpu(generatorCPU)
	if own == nil || len(r.made.Agents) == 0 {
		return own
	}
	machines := map[string]float64{machine.Boot(): *own}
	for _, a := range r.made.Agents {
		if a.CPUShare == nil {
			return nil
		}
		machines[a.Boot] += *a.CPUShare
	}
	most := slices.Max(slices.Collect(maps.Values(machines)))
	return &most
}

func (r *running) cpu(which int) *float64 { return r.meter.share(which, r.tally.From, r.tally.To) }

func (r *running) conditions() result.Conditions {
	here, err := machine.Describe(dirs.State())
	if err != nil { // there is no state directory yet
		here, _ = machine.Describe("/") // what cannot be read is empty: no reason to have no result
	}
	crowded := roles(r.crowd.Roles, r.Arrivals != nil)
	return result.Conditions{
		Machine: here,
		Engine:  r.engine(),
		Workers: r.crew.conditions(),
		Load: result.Load{
			Model: r.model(), Arrivals: r.arrivals(), Scenario: r.scenario(), Roles: crowded, Day: day(r.crowd.Pace),
			Think: meanThink(crowded),
			RampS: r.Ramp.Seconds(), DurationS: r.Duration.Seconds(), TimeoutS: r.Timeout.Seconds(), LagLimitS: r.LagLimit.Seconds(),
			Seed: r.Seed, Mix: shares(r.operations), Changes: changes(r.changes),
		},
		Scale: r.Scale, Profile: r.Profile, Shape: r.toldBefore.shape(), Software: r.Software,
	}
}

func (r *running) processors() result.CPU {
	return result.CPU{
		Generator: r.generatorShare(), Workers: r.cpu(workersCPU), Database: r.cpu(databaseCPU),
		Machine: r.cpu(machineCPU), Steal: r.cpu(stealCPU),
	}
}

// engine is empty when the run knows no database.
func (r *running) engine() result.Engine {
	if r.before == nil {
		return result.Engine{Settings: map[string]string{}}
	}
	return result.Engine{
		Version: r.before.Version, Flavour: r.before.Flavour, Patchset: r.before.Patchset,
		Local: r.before.Postmaster != 0, Settings: r.before.Settings,
	}
}

func (r *running) scenario() *result.Scenario {
	s := r.Scenario
	shown := &result.Scenario{Name: s.Name, Digest: s.Digest(), Title: s.Title, Application: string(s.Application), Refused: s.Refused, Backdated: s.Backdated}
	if own.NeedsDatabase(s.Own, s.Actions()) {
		shown.Protocol, shown.Connections = string(s.Own.Mode), s.Own.Connections
	}
	return shown
}

func (r *running) model() string {
	if r.Arrivals != nil {
		return "open"
	}
	return "closed"
}

func (r *running) arrivals() *result.Arrivals {
	if r.Arrivals == nil {
		return nil
	}
	return &result.Arrivals{Spacing: string(r.Arrivals.Spacing), RatePerS: r.Arrivals.Rate}
}

func day(p users.Pace) (all [][2]float64) {
	for _, point := range p {
		all = append(all, [2]float64{point.At, point.Level})
	}
	return all
}

func (r *running) events() []result.Event {
	all := append([]result.Event{}, r.made.Events...)
	for _, d := range r.crew.dead() {
		all = append(all, result.Event{AtS: d.at.Sub(r.rampBegan).Seconds(), Text: d.text})
	}
	all = append(all, r.meter.clocks.events...)
	before := users.Load{Users: r.Users}
	for _, c := range r.changes {
		all = append(all, result.Event{AtS: c.At.Seconds(), Text: changeText(before, c)})
		before = c.Load
	}
	if r.restarted() {
		all = append(all, result.Event{AtS: r.after.Started.Sub(r.rampBegan).Seconds(), Text: "the database server was started again"})
	}
	if r.recovered() {
		all = append(all, result.Event{AtS: r.after.Cleared.Sub(r.rampBegan).Seconds(), Text: "the database server recovered from a crash"})
	}
	for _, url := range r.toldAfter.begunAnew(r.toldBefore) {
		all = append(all, result.Event{AtS: r.toldAfter[url].Started.Sub(r.rampBegan).Seconds(), Text: "the application server " + url + " was started again"})
	}
	slices.SortFunc(all, func(a, b result.Event) int { return cmp.Compare(a.AtS, b.AtS) })
	return all
}

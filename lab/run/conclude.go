package run

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/host/neighbours"
	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/request"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
)

// begun is what is known of the run when users start work.
func (r *record) begun() *result.Result {
	return &result.Result{
		Schema: result.Schema, ID: r.id, Title: r.Title, Started: r.began.UTC().Truncate(time.Millisecond),
		Users: r.Users,
		Audit: r.unaudited(), Conditions: r.conditions(), Gates: r.plannedGates(),
	}
}

func (r *record) unaudited() result.Audit {
	return result.Audit{None: r.Scenario.Application == scenario.NoERP, Findings: []result.Finding{}}
}

// measured adds what was counted until the end.
func (r *record) measured(all *result.Result, finished time.Time) {
	all.Finished = finished.UTC().Truncate(time.Millisecond)
	all.Interrupted = r.stoppedByUser
	all.DurationS = r.made.Tally.Steady().Seconds()
	all.Totals, all.Band, all.Operations = totals(r.made.Tally.Outcomes()), apdex.NoSample, r.perOperation(r.made.Tally)
	for _, op := range all.Operations {
		all.Resent += op.Resent
		all.Retried, all.Retries = all.Retried+op.Retried, all.Retries+op.Retries
	}
	all.RefusedShare = all.Refusals()
	all.Cost = r.cost()
	all.Memory, all.Footprints = r.memory(), r.footprints()
	all.Disturbance = r.disturbance()
	all.Generator = r.generated()
	all.Audit, all.AuditBefore, all.Reconciliation = r.audit, r.auditedBefore, r.reconciliation
	all.Conditions.CPU, all.Events, all.Series = r.processors(), r.events(), r.series()
	if all.DurationS > 0 {
		all.OpsPerS = float64(r.made.Tally.Answered) / all.DurationS
		perS := float64(r.made.Tally.Finished) / all.DurationS
		all.AllPerS = &perS
		addStandstills(all, r.made.Tally)
	}
	addIntervals(all, r.made.Tally)
	all.Stages = r.stages()
	addShortages(all)
	addHeadroom(all)
	r.judge(all)
	r.score(all)
	r.judgeGates(all)
	r.diagnose(all)
	all.Operations = withoutUnused(all.Operations)
}

// score is empty if the books are wrong.
func (r *record) score(all *result.Result) {
	score, _, ok := r.made.Tally.Apdex()
	if !ok || r.audit.Done && !r.audit.Clean {
		return
	}
	interval, basis := r.made.Tally.ApdexInterval()
	if basis != nil {
		all.IntervalBasis = r.intervalBasis(basis)
	}
	all.Apdex, all.Interval, all.Band = &score, &interval, apdex.BandOf(score)
}

func totals(sum [4]int64) result.Totals {
	return result.Totals{
		Ops: total(sum[:]), OK: sum[tally.OK], Refused: sum[tally.Refused],
		Errors: sum[tally.Failed], Overload: sum[tally.Overload],
	}
}

func (r *record) perOperation(counts *tally.Tally) []result.Operation {
	weights := shares(r.crowd.Operations)
	all := make([]result.Operation, len(r.crowd.Operations))
	for i, op := range r.crowd.Operations {
		counted := counts.Operations[i]
		all[i] = result.Operation{
			ID: op.ID, Title: op.Title, TargetMS: human.MS(op.Target), Priority: op.Priority,
			Weight: weights[op.ID], Least: int64(op.Least),
			Totals: totals(counted.Outcomes), Counts: counted.Apdex, Band: apdex.NoSample,
			Latency: latency(counted.Latency), HistogramT: counted.Units,
			ErrorTexts: errorTexts(r.withDatabaseHints(counted.Errors)),
		}
		if counted.N() > 0 {
			all[i].LatencyAll = latencyAll(counted)
			all[i].LatencyRepeated = all[i].LatencyAll
			n := float64(counted.N())
			all[i].OwnWait = &result.OwnWait{MeanMS: human.MS(counted.GeneratorWait.Sum) / n,
				MaxMS:      human.MS(counted.GeneratorWait.Max),
				PoolMeanMS: human.MS(counted.GeneratorWait.Pool) / n}
		}
		all[i].RefusedShare, all[i].RefusedExpected = all[i].Refusals(), op.Refused
		all[i].Resent, all[i].Instead = counted.Resent, counted.Instead
		all[i].Retried, all[i].Retries = counted.Retried.Operations, counted.Retried.Times
		if score, ok := counted.Apdex.Score(); ok {
			interval := counts.ApdexIntervalOf(i)
			all[i].Apdex, all[i].Interval, all[i].Band = &score, &interval, apdex.BandOf(score)
		}
	}
	return all
}

// addStandstills adds standstills as events.
func addStandstills(all *result.Result, counts *tally.Tally) {
	var still time.Duration
	for _, s := range counts.Standstills() {
		still += s.To - s.From
		all.Standstills = append(all.Standstills, result.Standstill{FromS: s.From.Seconds(), ToS: s.To.Seconds()})
		all.Events = append(all.Events, result.Event{AtS: s.From.Seconds(), Text: fmt.Sprintf(
			"no valid answer from %.1f to %.1f s", s.From.Seconds(), s.To.Seconds())})
	}
	slices.SortStableFunc(all.Events, func(a, b result.Event) int { return cmp.Compare(a.AtS, b.AtS) })
	share := 1 - still.Seconds()/all.DurationS
	all.Availability = &share
}

// latencyAll counts failures as the longest.
func latencyAll(o *tally.Operation) *result.Latency {
	failed := o.N() - o.Latency.N()
	l := &result.Latency{}
	for p, to := range map[float64]**float64{50: &l.P50, 95: &l.P95, 99: &l.P99, 100: &l.Max} {
		if d, ok := o.Latency.PercentileWith(failed, p); ok {
			ms := human.MS(d)
			*to = &ms
		}
	}
	return l
}

func latency(times *tally.Times) (l result.Latency) {
	if times.N() > 0 {
		mean, deviation := times.Mean()
		meanMS, deviationMS := human.MS(mean), human.MS(deviation)
		l.Mean, l.StdDev = &meanMS, &deviationMS
	}
	for p, to := range map[float64]**float64{50: &l.P50, 95: &l.P95, 99: &l.P99, 100: &l.Max} {
		if d, ok := times.Percentile(p); ok {
			ms := human.MS(d)
			*to = &ms
		}
	}
	return l
}

// sqlState finds the SQLSTATE in error texts of PostgreSQL's drivers and of the workers' answers.
var sqlState = regexp.MustCompile(`\(SQLSTATE ([0-9A-Z]{5})\)`)

func errorTexts(counts map[string]int64) (all []result.ErrorText) {
	for text, n := range counts {
		e := result.ErrorText{Text: text, Count: n}
		if found := sqlState.FindStringSubmatch(text); found != nil {
			e.SQLState = found[1]
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b result.ErrorText) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
	})
	return all
}

func (r *record) generated() result.Generator {
	p50, _ := r.made.Tally.Lag.Percentile(50)
	p99, _ := r.made.Tally.Lag.Percentile(99)
	return result.Generator{
		CPUShare: r.generatorShare(), LagMSP50: human.MS(p50), LagMSP99: human.MS(p99),
		LagMSMax: human.MS(r.made.Tally.Lag.Max()), UsersBytes: perUser(r.made.Live),
		InFlight: r.made.Tally.InFlight,
		Backlog:  r.made.Tally.Backlog,
		Agents:   r.made.Agents,
	}
}

func perUser(f *result.Footprint) *float64 {
	if f == nil {
		return nil
	}
	return f.PerUser
}

// generatorShare is the share of the machine whose generators are the busiest; this process is one of them.
func (r *record) generatorShare() *float64 {
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

// cpu is a share of the processors in the steady state; nil if that is too short.
func (r *record) cpu(which int) *float64 {
	from, to := r.made.Tally.From, r.made.Tally.To
	if r.meters.covers(from, to) < neighbours.Shortest {
		return nil
	}
	return r.meters.share(which, from, to)
}

func (r *record) conditions() result.Conditions {
	crowded := roles(r.crowd.Roles, r.Arrivals != nil)
	return result.Conditions{
		Machine: r.machine,
		Engine:  r.engine(),
		Workers: r.workers,
		Load: result.Load{
			Model: r.model(), Arrivals: r.arrivals(), Scenario: r.scenario(), Profile: r.profile(), Roles: crowded,
			Day:   day(r.crowd.Pace),
			Think: meanThink(crowded),
			RampS: r.Ramp.Seconds(), DurationS: r.Duration.Seconds(), TimeoutS: r.Timeout.Seconds(),
			LagLimitS: r.LagLimit.Seconds(),
			Seed:      r.Seed, Mix: shares(r.crowd.Operations), Changes: changes(r.changes),
		},
		Scale: r.Scale, Profile: r.Profile, Shape: r.profilesBefore.shape(), Software: r.Software,
	}
}

func (r *record) processors() result.CPU {
	return result.CPU{
		Generator: r.generatorShare(), Workers: r.cpu(workersCPU), Database: r.cpu(databaseCPU),
		Machine: r.cpu(machineCPU), Steal: r.cpu(stealCPU),
	}
}

// engine is empty if the run has no database.
func (r *record) engine() result.Engine {
	if r.before == nil {
		return result.Engine{Settings: map[string]string{}}
	}
	return result.Engine{
		Version: r.before.Version, Flavour: r.before.Flavour, Patchset: r.before.Patchset,
		Local: r.before.Postmaster != 0, Settings: r.before.Settings,
	}
}

func (r *record) scenario() *result.Scenario {
	s := r.Scenario
	shown := &result.Scenario{Name: s.Name, Digest: s.Digest(), Title: s.Title, Application: string(s.Application),
		Refused: s.Refused, Backdated: s.Backdated}
	if s.SpeaksSQL() {
		shown.Protocol, shown.Connections = string(s.Own.Mode), s.Own.SharedSessions()
		shown.Session = string(s.Own.Session)
	}
	if s.SpeaksHTTP() {
		h := s.Own.HTTP
		shown.HTTP = &result.HTTP{Version: string(cmp.Or(h.Version, request.VersionDefault)),
			Connections: string(cmp.Or(h.Connections, request.ConnectionsDefault))}
	}
	return shown
}

func (r *record) profile() *result.Profile {
	name, changes := r.Load.Profile()
	if name == "" {
		return nil
	}
	return &result.Profile{Name: name, Changes: changes}
}

func (r *record) model() string {
	if r.Arrivals != nil {
		return "open"
	}
	return "closed"
}

func (r *record) arrivals() *result.Arrivals {
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

func (r *record) events() []result.Event {
	all := append([]result.Event{}, r.made.Events...)
	for _, d := range r.workerExits {
		all = append(all, result.Event{AtS: d.at.Sub(r.rampBegan).Seconds(), Text: d.text})
	}
	all = append(all, r.meters.events...)
	for _, f := range r.made.Frozen {
		all = append(all, result.Event{AtS: f.At.Seconds(), Text: fmt.Sprintf("the generator stood still for %.1f s",
			f.For.Seconds())})
	}
	before := users.Load{Users: r.Users}
	for _, c := range r.changes {
		all = append(all, result.Event{AtS: c.At.Seconds(), Text: changeText(before, c)})
		before = c.Load
	}
	if r.restarted() {
		all = append(all, result.Event{AtS: r.after.Started.Sub(r.rampBegan).Seconds(),
			Text: "the database server was started again"})
	}
	if r.recovered() {
		all = append(all, result.Event{AtS: r.after.Cleared.Sub(r.rampBegan).Seconds(),
			Text: "the database server recovered from a crash"})
	}
	for _, url := range r.profilesAfter.restartedSince(r.profilesBefore) {
		all = append(all, result.Event{AtS: r.profilesAfter[url].Started.Sub(r.rampBegan).Seconds(),
			Text: "the application server " + url + " was started again"})
	}
	if r.Published != nil {
		all = append(all, r.Published()...)
	}
	slices.SortFunc(all, func(a, b result.Event) int { return cmp.Compare(a.AtS, b.AtS) })
	return all
}

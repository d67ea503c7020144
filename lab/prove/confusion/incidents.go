package confusion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/confusion/incident"
)

const (
	// incidentDuration of a diagnosis: with all around it a trial takes less than 25 s.
	incidentDuration = 11 * time.Second
	// baseline is how long the load is measured before anything is planted.
	baseline = 4 * time.Second
)

// Effect of a fault, against the same load before it.
type Effect struct {
	Fault  string  `json:"fault"`
	Kind   string  `json:"kind"` // time of a step, counter per step, or a figure that grows
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	// Factor is after over before; of a figure that grows, its share of the limit.
	Factor float64 `json:"factor"`
	Least  float64 `json:"least"`
}

// Took says whether the fault is planted.
func (e Effect) Took() bool { return e.Factor >= e.Least }

// String describes it.
func (e Effect) String() string {
	verdict := ""
	if !e.Took() {
		verdict = ": not planted"
	}
	if e.Kind == incident.Time {
		return fmt.Sprintf("%s: a step took %s before and takes %s, %.1f times, at least %.2g%s", e.Fault,
			human.Duration(seconds(e.Before)), human.Duration(seconds(e.After)), e.Factor, e.Least, verdict)
	}
	return fmt.Sprintf("%s: %s: %.3g before, %.3g now, %.1f times, at least %.2g%s", e.Fault, e.Kind, e.Before, e.After,
		e.Factor, e.Least, verdict)
}

// seconds as a person reads them.
func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(10 * time.Microsecond)
}

// look is what the applications and the counters of effects were at a moment.
type look struct {
	apps    map[string]metered
	figures []float64 // by fault
}

func (e *episode) look(ctx context.Context) look {
	l := look{apps: e.read()}
	for _, f := range e.faults {
		x := 0.0
		if f.Effect.SQL != "" {
			x, _ = postgres.Value[float64](ctx, e.owner(e.names.Database),
				"SELECT coalesce(("+f.Effect.SQL+"), 0)::float8")
		}
		l.figures = append(l.figures, x)
	}
	return l
}

// effects between the looks: at the begin and end of the baseline, and of the diagnosis.
func (e *episode) effects(looks [4]look) (all []Effect) {
	for i, f := range e.faults {
		one := Effect{Fault: f.Name, Kind: f.Effect.Kind, Least: f.Effect.Least}
		between := func(from, to int) float64 {
			before, after := looks[from].apps[f.Effect.App], looks[to].apps[f.Effect.App]
			if f.Effect.Kind == incident.Time {
				return after.perStep(before).Seconds()
			}
			return (looks[to].figures[i] - looks[from].figures[i]) / max(1, float64(after.steps-before.steps))
		}
		if f.Effect.Kind == incident.Reach {
			one.Before, one.After = looks[1].figures[i], looks[3].figures[i]
			one.Factor, one.Least = (one.After-one.Before)/f.Effect.Least, 1
		} else {
			one.Before, one.After = between(0, 1), between(2, 3)
			one.Factor = one.After / max(one.Before, 1e-9)
		}
		all = append(all, one)
	}
	return all
}

// untilPlanted starts load and applications, measures them, and plants the faults. The last look is yet to come.
func (e *episode) untilPlanted(ctx context.Context) (looks [4]look, err error) {
	for _, w := range e.load.Work {
		e.start(w)
	}
	for _, f := range e.faults {
		for _, w := range f.Work {
			e.start(w)
		}
	}
	sleep(ctx, settleFor)
	looks[0] = e.look(ctx)
	if len(e.faults) > 0 {
		sleep(ctx, baseline)
	}
	looks[1] = e.look(ctx)
	if err := e.plant(ctx); err != nil {
		return looks, err
	}
	e.settled(ctx)
	looks[2] = e.look(ctx)
	return looks, nil
}

// try one trial of incidents.
func (t *theatre) try(ctx context.Context, j job) (trial Trial, err error) {
	trial = Trial{Round: j.round, Plant: j.name, Set: SetNew, Hidden: j.unseen(), Seed: j.seed,
		Conditions: &j.conditions, Named: []Named{}, Notes: []Named{}, Missed: []string{}, Figures: []string{},
		Ledger: map[string]float64{}, Users: map[string]Pace{}}
	began := time.Now()
	defer func() { trial.TookS = time.Since(began).Seconds() }()
	for _, f := range j.faults {
		if !hasLibrary(t.cluster.Server(), f.Library) {
			trial.Void = fmt.Sprintf("not planted: %s has no %s", t, f.Library)
			return trial, nil
		}
	}
	e, err := t.open(ctx, j)
	if err != nil {
		return trial, err
	}
	defer func() { err = errors.Join(err, e.end()) }()
	if err := e.strangers(ctx); err != nil {
		return trial, err
	}
	looks, err := e.untilPlanted(ctx)
	if err != nil {
		return trial, err
	}
	watched := e.watch()
	d, err := diagnose.Run(ctx, diagnose.Options{DSN: e.watchDSN(), Duration: cmp.Or(t.Duration, incidentDuration),
		Rate: diagnose.RateDefault})
	looks[3] = e.look(ctx)
	taken := watched.End()
	if err != nil && ctx.Err() == nil {
		// a diagnosis that fails has named nothing: that is an answer, not a fault of the test
		trial.Failed, err = err.Error(), nil
	}
	if ctx.Err() != nil {
		return trial, ctx.Err()
	}
	for _, one := range []struct {
		to   *float64
		from *float64
	}{{&trial.Strangers, taken.Others}, {&trial.Stolen, taken.Steal}} {
		if one.from != nil {
			*one.to = *one.from
		}
	}
	e.record(&trial, looks)
	if d == nil {
		d = &diagnose.Diagnosis{}
	}
	trial.judgeIncidents(e.faults, d)
	return trial, nil
}

// record what the faults did, and how fast the users were.
func (e *episode) record(t *Trial, looks [4]look) {
	t.Effects = e.effects(looks)
	for _, one := range t.Effects {
		t.Figures = append(t.Figures, one.String())
		if !one.Took() && t.Void == "" {
			t.Void = "not planted: " + one.String()
		}
	}
	for app, now := range looks[3].apps {
		was := looks[2].apps[app]
		steps := now.steps - was.steps
		p := Pace{PerS: float64(steps) / now.at.Sub(was.at).Seconds(), Failed: now.failed - was.failed}
		if steps > 0 {
			p.MeanMS = 1000 * (now.busy - was.busy).Seconds() / float64(steps)
		}
		t.Users[app] = p
	}
}

// judgeIncidents counts what was named, what was called healthy though it was not, and advice that would harm.
func (t *Trial) judgeIncidents(faults []*incident.Played, d *diagnose.Diagnosis) {
	for _, line := range d.Ledger.Lines {
		t.Ledger[line.Class] = line.Share
	}
	best := make([]incident.Answer, len(faults))
	for _, f := range d.Findings {
		n := Named{Name: f.Name, Price: f.Price, Title: f.Title, Evidence: f.Evidence}
		all := strings.Join(slices.Concat([]string{f.Title, f.Who()}, f.Evidence, f.Statements, f.Next), "\n")
		answer := incident.NoAnswer
		for i, fault := range faults {
			is := fault.Judge(f.Name, f.Title, all)
			if f.Level != diagnose.Problem && !fault.NoteAnswers() {
				continue
			}
			best[i], answer = max(best[i], is), max(answer, is)
		}
		n.Verdict = verdicts[answer]
		if f.Level != diagnose.Problem {
			if answer == incident.NoAnswer {
				n.Verdict = ""
			}
			t.Notes = append(t.Notes, n)
			continue
		}
		if n.Verdict == Wrong && t.madeByMachine(f.Name) {
			n.Verdict = Machine
		}
		t.Named = append(t.Named, n)
	}
	for i, fault := range faults {
		switch best[i] {
		case incident.Right:
		case incident.HalfRight:
			t.Halves = append(t.Halves, fault.Name)
		default:
			t.Missed = append(t.Missed, fault.Name)
		}
	}
	t.judgeStatements(faults, d)
}

var verdicts = map[incident.Answer]Verdict{incident.NoAnswer: Wrong, incident.True: True, incident.HalfRight: Half,
	incident.Right: Right}

// judgeStatements of a diagnosis that are no findings.
func (t *Trial) judgeStatements(faults []*incident.Played, d *diagnose.Diagnosis) {
	denied := slices.Clone(d.Healthy)
	var advice []string
	for _, f := range d.Findings {
		if f.Level == diagnose.Problem {
			denied = append(denied, f.Excluded...)
		}
		advice = append(advice, f.Next...)
	}
	for _, c := range d.Contradictions {
		if c.Verdict == diagnose.Contradicts {
			denied, advice = append(denied, c.Excluded), append(advice, c.Next)
		}
	}
	for _, text := range denied {
		if slices.ContainsFunc(faults, func(f *incident.Played) bool { return f.False(text) }) {
			t.False = append(t.False, text)
		}
	}
	for _, text := range advice {
		if incident.HarmsAnywhere(text) ||
			slices.ContainsFunc(faults, func(f *incident.Played) bool { return f.Harms(text) }) {
			t.Harmful = append(t.Harmful, text)
		}
	}
}

package confusion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/installation"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/confusion/incident"
	"plimsoll/test/patience"
	"plimsoll/test/thorough"
)

// stageFor opens a server of an engine for the time of a test.
func stageFor(t *testing.T, engine string) *theatre {
	t.Helper()
	o := Options{Clusters: cluster.Open(clustertest.State(t)), Spec: clustertest.Spec(), Seed: SeedDefault}
	if o.Spec.Engine == engine {
		o.Spec = clustertest.Copied(o.Spec)
	}
	s, err := openTheatre(patience.Context(t), o, engine)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// played is how long each fault's work runs in a test: long enough that every statement of it has been sent.
const played = 600 * time.Millisecond

// TestIncidents_CanBePlantedAndRemoved plays every fault and every load for a moment on each engine that is here: its
// SQL runs, before it is planted and after, and nothing of it is left.
func TestIncidents_CanBePlantedAndRemoved(t *testing.T) {
	engines := []string{clustertest.Engine()}
	if server, err := installation.Find(t.Context(), installation.System); err == nil && server.Major() < 18 {
		engines = append(engines, installation.System)
	}
	for _, engine := range engines {
		t.Run("engine "+engine, func(t *testing.T) {
			s := stageFor(t, engine)
			d := drawer{Options: s.Options, engines: map[string]installation.Server{engine: s.cluster.Server()}}
			for n, f := range incident.All() {
				if !thorough.Asked() && n%12 != 0 {
					continue
				}
				t.Run(f.Name, func(t *testing.T) { s.plays(t, d.draw(1, f.Name, []*incident.Fault{f}, nil)) })
			}
			for n, load := range incident.Loads() {
				if !thorough.Asked() && n%6 != 0 {
					continue
				}
				t.Run(load.Name, func(t *testing.T) { s.plays(t, d.draw(1, healthyLoad(load), nil, load)) })
			}
			s.nothingLeft(t)
		})
	}
}

// plays a trial without the diagnosis.
func (s *theatre) plays(t *testing.T, j job) {
	for _, f := range j.faults {
		if !hasLibrary(s.cluster.Server(), f.Library) {
			t.Skipf("NOT TESTED: no %s", f.Library)
		}
	}
	ctx := patience.Context(t)
	e, err := s.open(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.end(); err != nil {
			t.Error(err)
		}
	}()
	for _, p := range append(slices.Clone(e.faults), e.load) {
		for _, w := range p.Work {
			e.start(w)
		}
	}
	sleep(ctx, played)
	e.works(t, "before", true)
	if err := e.plant(ctx); err != nil {
		t.Fatal(err)
	}
	sleep(ctx, played)
	for _, m := range e.meters { // the plant ended connections in the middle of steps
		m.mu.Lock()
		m.err = nil
		m.mu.Unlock()
	}
	sleep(ctx, played)
	e.works(t, "after", false)
	for i, f := range e.faults {
		if f.Effect.SQL == "" {
			continue
		}
		if _, err := postgres.Value[*float64](ctx, e.owner(e.names.Database), "SELECT ("+f.Effect.SQL+
			")::float8"); err != nil {
			t.Errorf("effect %d: %v", i, err)
		}
	}
}

// works checks that every application does steps, or has one under way, without errors.
func (e *episode) works(t *testing.T, when string, mustEnd bool) {
	t.Helper()
	for app, m := range e.meters {
		for range 100 {
			m.mu.Lock()
			steps, failed, waiting, err := m.steps, m.failed, len(m.since), m.err
			m.mu.Unlock()
			if err != nil {
				t.Errorf("%s: %s failed %d of %d: %v", when, app, failed, steps, err)
				break
			}
			if steps > 0 || !mustEnd && waiting > 0 {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// nothingLeft of what was planted.
func (s *theatre) nothingLeft(t *testing.T) {
	t.Helper()
	for what, sql := range map[string]string{
		"databases": "SELECT count(*) FROM pg_database WHERE datname NOT IN ('postgres', 'template0', 'template1', '" +
			shop + "')",
		"roles":    "SELECT count(*) FROM pg_roles WHERE rolname !~ '^pg_' AND rolname <> '" + cluster.Superuser + "'",
		"prepared": "SELECT count(*) FROM pg_prepared_xacts",
		"slots":    "SELECT count(*) FROM pg_replication_slots WHERE slot_name !~ '^replica_'",
		"settings": "SELECT count(*) FROM pg_file_settings WHERE sourcefile ~ 'postgresql.auto.conf'",
	} {
		if n, err := postgres.Value[int](t.Context(), s.owner(""), sql); err != nil || n > 0 {
			t.Errorf("%s that are left: %d, %v", what, n, err)
		}
	}
}

// TestBase: what names.go knows of the base is what base.sql makes; every relation gets another name.
func TestBase(t *testing.T) {
	s := stageFor(t, clustertest.Engine())
	names := incident.Draw(7)
	if err := postgres.Execute(t.Context(), s.owner(shop), names.Renames()...); err != nil {
		t.Fatal(err)
	}
	const known = `SELECT string_agg(name, ' ') FROM (
		SELECT relname AS name FROM pg_class c WHERE relnamespace = $1::text::regnamespace
		UNION ALL SELECT attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
		WHERE relnamespace = $1::text::regnamespace AND attnum > 0 AND relkind = 'r') x
		WHERE name !~ '^([bdfgklmnprstvz][aeiou]){3,4}$'`
	left, err := postgres.Value[*string](t.Context(), s.owner(shop), known, names.Schema)
	if err != nil || left != nil {
		t.Errorf("names that no trial changes: %v, %v", left, err)
	}
}

// TestTheatre plays one incident to its end: it takes effect, and is judged.
func TestTheatre(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*Conditions)
	}{
		{"direct", func(c *Conditions) {
			*c = Conditions{Engine: c.Engine, Load: c.Load, Kind: c.Kind,
				Statements: true}
		}},
		{"pooler", func(c *Conditions) { c.Standby, c.Pooler, c.Strangers = false, true, false }},
		{"standby", func(c *Conditions) { c.Standby, c.Pooler, c.Strangers = true, false, false }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "standby" && !thorough.Asked() {
				t.Skip("NOT TESTED: one of three ways is enough (make test-full)")
			}
			if c.name == "pooler" && poolerProgram() == "" {
				t.Skip("NOT TESTED: pgbouncer is not installed")
			}
			s := stageFor(t, clustertest.Engine())
			if _, err := s.cluster.Server().Program("pg_basebackup"); c.name == "standby" && err != nil {
				t.Skipf("NOT TESTED: %v", err)
			}
			s.Duration = 5 * time.Second
			d := drawer{Options: s.Options, engines: map[string]installation.Server{s.engine: s.cluster.Server()}}
			const name = "deep-offset"
			j := d.draw(1, name, []*incident.Fault{incident.Find(name)}, nil)
			c.set(&j.conditions)
			trial, err := s.try(patience.Context(t), j)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(trial.Line())
			if len(trial.Effects) != 1 || trial.Effects[0].Factor <= 0 || trial.Effects[0].Before <= 0 {
				t.Errorf("effects %+v, want one that was measured", trial.Effects)
			}
			if trial.Failed != "" || len(trial.Ledger) == 0 {
				t.Errorf("there is no diagnosis: %s", trial.Failed)
			}
			s.nothingLeft(t)
		})
	}
}

// TestJobs: a seed draws the same trials again, whatever else is asked for, and another seed others.
func TestJobs(t *testing.T) {
	of := func(o Options) (texts []string) {
		t.Helper()
		o.Spec = clustertest.Spec()
		all, err := o.jobs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range o.within(all) {
			texts = append(texts, fmt.Sprint(j.round, j.name, j.seed, j.conditions))
		}
		return texts
	}
	one := of(Options{Set: SetNew, Seed: 1, Rounds: 2})
	if !slices.Equal(one, of(Options{Set: SetNew, Seed: 1, Rounds: 2})) {
		t.Error("the same seed draws other trials")
	}
	if slices.Equal(one, of(Options{Set: SetNew, Seed: 2, Rounds: 2})) {
		t.Error("another seed draws the same trials")
	}
	if alone := of(Options{Only: []string{"deadlocks"}, Seed: 1}); !slices.Contains(one, alone[0]) {
		t.Errorf("alone it is another trial: %v", alone)
	}
	faults, pairs := len(incident.All()), 0
	for _, text := range one {
		if strings.Contains(text, "+") {
			pairs++
		}
	}
	if len(one) != 2*(8+faults)+pairs || pairs < faults/2 {
		t.Errorf("%d trials, %d pairs, of %d faults", len(one), pairs, faults)
	}
	few := of(Options{Set: SetAll, Seed: 1, Trials: 5})
	if len(few) != 5 {
		t.Errorf("%d trials, want 5", len(few))
	}
	if fit := of(Options{Set: SetNew, Seed: 1, Budget: 2 * time.Minute}); len(fit) != 5 {
		t.Errorf("%d trials in two minutes, want 5 of 23 s", len(fit))
	}
	old := Options{Set: SetOld, Spec: clustertest.Spec()}
	if all, err := old.jobs(t.Context()); err != nil || len(all) != len(plants()) {
		t.Errorf("%d trials of the old set, %v", len(all), err)
	}
}

// TestEffects: a fault that slowed nothing down is not planted, and one under which nothing ends is.
func TestEffects(t *testing.T) {
	now := time.Now()
	at := func(steps int64, busy time.Duration) metered { return metered{steps, 0, busy, now} }
	p, err := incident.Find("hot-row-counter").Play(incident.Draw(1))
	if err != nil {
		t.Fatal(err)
	}
	e := &episode{faults: []*incident.Played{p}}
	for name, c := range map[string]struct {
		after metered
		took  bool
	}{
		"slower": {at(150, 2500*time.Millisecond), true}, "the same": {at(200, 2*time.Second), false},
		"hangs": {at(100, 9*time.Second), true},
	} {
		l := [4]look{}
		for i, one := range []metered{at(0, 0), at(100, time.Second), at(100, time.Second), c.after} {
			l[i] = look{map[string]metered{p.Effect.App: one}, []float64{0}}
		}
		got := e.effects(l)
		if len(got) != 1 || got[0].Took() != c.took {
			t.Errorf("%s: %+v, want planted: %v", name, got, c.took)
		}
		if strings.Contains(got[0].String(), "not planted") == c.took {
			t.Errorf("%s: %s", name, got[0])
		}
	}
}

// TestScoreOfIncidents plants what a diagnosis says: each word of the report can be reached.
func TestScoreOfIncidents(t *testing.T) {
	play := func(name string) *incident.Played {
		p, err := incident.Find(name).Play(incident.Draw(1))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	cast, deadlock, slot := play("cast-on-column"), play("deadlocks"), play("slot-that-nobody-reads")
	pool := play("pool-too-small")
	orders := cast.About[0]
	finding := func(name, about string, level diagnose.Level) diagnose.Finding {
		return diagnose.Finding{Name: name, Title: name, Evidence: []string{about}, Level: level}
	}
	r := &Report{}
	for _, c := range []struct {
		plant  string
		faults []*incident.Played
		d      diagnose.Diagnosis
		void   string
		want   string // right, half, wrong, false, harmful
	}{
		{"cast-on-column", []*incident.Played{cast}, diagnose.Diagnosis{Findings: []diagnose.Finding{
			finding("cast-on-column", orders, diagnose.Problem)}}, "", "1 0 0 0 0"},
		{"cast-on-column", []*incident.Played{cast}, diagnose.Diagnosis{Findings: []diagnose.Finding{
			finding("missing-index", orders, diagnose.Problem)},
			Healthy: []string{"statements do not read whole tables", "the server did not stand still"}}, "",
			"0 1 0 1 0"},
		{"cast-on-column", []*incident.Played{cast}, diagnose.Diagnosis{Findings: []diagnose.Finding{
			{Name: "log-flush", Level: diagnose.Problem, Next: []string{"SET synchronous_commit = off"}}}}, "",
			"0 0 1 0 1"},
		{"cast-on-column", []*incident.Played{cast}, diagnose.Diagnosis{}, "not planted: no effect", "0 0 0 0 0"},
		{"deadlocks+cast-on-column", []*incident.Played{deadlock, cast}, diagnose.Diagnosis{
			Findings: []diagnose.Finding{finding("deadlocks", "", diagnose.Problem),
				finding("cast-on-column", orders, diagnose.Note)}}, "", "1 0 0 0 0"},
		{"slot-that-nobody-reads", []*incident.Played{slot}, diagnose.Diagnosis{Findings: []diagnose.Finding{
			finding("idle-slot", "", diagnose.Note), finding("a slot is idle", "", diagnose.Note)}}, "", "1 0 0 0 0"},
		{"pool-too-small", []*incident.Played{pool}, diagnose.Diagnosis{Findings: []diagnose.Finding{
			finding("pool-always-busy", "of role "+pool.Role, diagnose.Note)}}, "", "1 0 0 0 0"},
		{"pool-too-small", []*incident.Played{pool}, diagnose.Diagnosis{Findings: []diagnose.Finding{
			finding("pool-always-busy", "of another role", diagnose.Note)}}, "", "0 1 0 0 0"},
		{"healthy:short-mixed", nil, diagnose.Diagnosis{Findings: []diagnose.Finding{
			finding("log-flush", "", diagnose.Problem)}}, "", "0 0 1 0 0"},
		{"healthy:short-mixed", nil, diagnose.Diagnosis{}, "", "0 0 0 0 0"},
	} {
		trial := Trial{Plant: c.plant, Set: SetNew, Void: c.void, Ledger: map[string]float64{},
			Conditions: &Conditions{Engine: "vanilla", Load: "short-mixed", Kind: "short"}}
		trial.judgeIncidents(c.faults, &c.d)
		s := Score{}
		s.add(trial)
		if got := fmt.Sprint(s.Right, s.Half, s.Wrong, s.False, s.Harmful); got != c.want {
			t.Errorf("%s: %s, want %s: %s", c.plant, got, c.want, trial.Line())
		}
		r.add(trial)
	}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"new single", "new compound", "new healthy", "load short", "/missing-index 1",
		"0.475", "0.600"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
}

// TestStop: a test that is stopped leaves nothing, and the same command goes on.
func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openTheatre(ctx, Options{Clusters: cluster.Open(clustertest.State(t)), Spec: clustertest.Spec()},
		clustertest.Engine()); err == nil {
		t.Error("a stopped test opens a server")
	}
}

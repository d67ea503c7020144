package confusion

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/host/topology"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/diagnose"
	"plimsoll/test/leak"
	"plimsoll/test/thorough"
)

// leftByDriver is a goroutine that pgx 5.8 leaves behind when a connection is lost in the middle of a batch
// (jackc/pgx#2515), as the end of a load does.
const leftByDriver = "github.com/jackc/pgx/v5/pgconn/ctxwatch.(*ContextWatcher).Watch.func1"

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m), goleak.IgnoreAnyFunction(leftByDriver)) }

// TestRun plants, sees the effect, and judges what is named. What a busy machine lets the diagnosis name is for the
// whole test (make confusion); here the planted row must be among it.
func TestRun(t *testing.T) {
	o := Options{Clusters: cluster.Open(clustertest.State(t)), Spec: clustertest.Copied(clustertest.Spec()),
		Only: []string{"hot-row"}, Duration: 6 * time.Second} // a busy machine looks at locks now and then
	if thorough.Asked() {
		o.Only, o.Set, o.Duration = nil, SetOld, DurationDefault
	}
	report, err := Run(t.Context(), o)
	if err != nil {
		t.Fatalf("%v: %s", err, problem.HintOf(err))
	}
	for _, trial := range report.Trials {
		t.Log(trial.Line())
		if trial.Plant == "hot-row" && trial.Void == "" && len(trial.Missed) > 0 {
			t.Errorf("an idle client holds a row, and nothing names it")
		}
	}
	if trial := report.Trials[0]; len(trial.Figures) == 0 && trial.Plant != Healthy {
		t.Errorf("it does not say what the fault did: %+v", trial)
	}
}

// TestKept: trials that were made are not made again, and those of another program are not counted.
func TestKept(t *testing.T) {
	o := Options{Kept: filepath.Join(t.TempDir(), "kept"), Only: []string{Healthy, "hot-row"}, Rounds: 2, Software: "1",
		Spec: clustertest.Spec()}
	chosen, err := o.jobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	open := func() (*Report, *kept.File) {
		t.Helper()
		report := &Report{Rounds: o.Rounds, Trials: []Trial{}}
		k, err := o.openKept(t.Context(), chosen, report)
		if err != nil {
			t.Fatal(err)
		}
		return report, k
	}
	_, k := open()
	for _, one := range []Trial{{Round: 1, Plant: Healthy}, {Round: 1, Plant: "vacuum"}, {Round: 2, Plant: "hot-row"},
		{Round: 3, Plant: Healthy}, {Round: 2, Plant: "hot-row"}} {
		if err := k.Add(one); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	report, k := open()
	if len(report.Trials) != 2 || !report.has(1, Healthy) || !report.has(2, "hot-row") || report.has(1, "hot-row") {
		t.Errorf("trials %+v, want two: healthy, then hot-row", report.Trials)
	}
	if err := errors.Join(k.Add(Trial{}), k.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := o.openKept(t.Context(), chosen, &Report{Rounds: 2}); problem.ClassOf(err) != problem.Usage {
		t.Errorf("a line that is no trial: %v", err)
	}
	o.Seed++
	if _, err := o.openKept(t.Context(), chosen, &Report{Rounds: 2}); problem.ClassOf(err) != problem.Usage {
		t.Errorf("trials of another seed: %v", err)
	}
	o.Seed--
	o.Software = "2"
	if _, err := o.openKept(t.Context(), chosen, &Report{Rounds: 2}); problem.ClassOf(err) != problem.Usage {
		t.Errorf("trials of another program: %v", err)
	}
}

func TestPlants(t *testing.T) {
	hidden := 0
	for _, f := range faults {
		if f.hidden {
			hidden++
		}
		if len(f.answers) == 0 || f.does == "" || f.plant == nil {
			t.Errorf("%s does not describe itself", f.name)
		}
	}
	if 3*hidden < len(faults) {
		t.Errorf("%d of %d faults are hidden, want a third", hidden, len(faults))
	}
	if all := plants(); len(all) != 1+len(faults)+len(compounds) {
		t.Errorf("%d plants", len(all))
	}
	for _, wrong := range []string{"hot-row+earthquake", "hot-row+deadlocks", "deadlocks+random-keys",
		"deadlocks+guessed-numbers+hot-row-counter"} {
		o := Options{Only: []string{wrong}, Spec: clustertest.Spec()}
		if _, err := o.jobs(t.Context()); problem.ClassOf(err) != problem.Usage {
			t.Errorf("%s: %v, want a usage error", wrong, err)
		}
	}
}

func problems(names ...string) *diagnose.Diagnosis {
	d := &diagnose.Diagnosis{Findings: []diagnose.Finding{{Name: "standstill", Level: diagnose.Note}}}
	for _, name := range names {
		d.Findings = append(d.Findings, diagnose.Finding{Name: name, Level: diagnose.Problem})
	}
	return d
}

func TestScore(t *testing.T) {
	r := &Report{}
	for _, c := range []struct {
		plant     string
		strangers float64
		stolen    float64
		void      string
		named     []string
	}{
		{"hot-row", 0, 0, "", []string{"lock-held-by-idle-client"}},
		{"hot-row", 0, 0, "", []string{"log-flush"}},
		{"hot-row", 0, 0, "nobody waits", []string{"log-flush"}},
		{"hot-row", 0.5, 0, "", []string{"lock-held-by-idle-client", "log-flush"}},
		{"slow-flush", 0.5, 0, "", []string{"log-flush", "processors-taken-by-others"}},
		{"slow-flush", 0, 0, "", []string{"log-flush", "processors-taken-by-others"}},
		{"hot-row+slow-flush", 0, 0, "", []string{"lock-held-by-idle-client", "inner-locks"}},
		{Healthy, 0, 0, "", nil},
		{Healthy, 0, 0.11, "", []string{"steal"}},
		{Healthy, 0, 0.02, "", []string{"steal"}},
	} {
		p, err := parse(c.plant)
		if err != nil {
			t.Fatal(err)
		}
		trial := Trial{Plant: c.plant, Void: c.void, Strangers: c.strangers, Stolen: c.stolen}
		trial.judge(p, problems(c.named...))
		r.add(trial)
	}
	for _, want := range []Score{
		{Of: "single", Trials: 6, Void: 1, Causes: 5, Right: 4, Wrong: 2},
		{Of: "compound", Trials: 1, Causes: 2, Right: 1, Wrong: 1}, {Of: Healthy, Trials: 3, Wrong: 1},
	} {
		for _, got := range r.Scores {
			if got.Of != want.Of {
				continue
			}
			got.Halves = nil
			if got.Score != nil {
				if x := (float64(want.Right) - 0.1*float64(want.Wrong)) / float64(want.Causes); *got.Score != x {
					t.Errorf("%s: %.3f, want %.3f", want.Of, *got.Score, x)
				}
				got.Score = nil
			}
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
	}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"*lock-held-by-idle-client 1", "!log-flush 1", "~processors-taken-by-others",
		"0.760", "~steal 1, !steal 1"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the matrix lacks %q:\n%s", want, b.String())
		}
	}
}

func TestPlantTopology_IsWhatTheDiagnosisContradicts(t *testing.T) {
	root := t.TempDir()
	if err := PlantTopology(root); err != nil {
		t.Fatal(err)
	}
	shape, err := topology.Read(root)
	if err != nil || len(shape.Impossible()) == 0 {
		t.Fatalf("%+v is possible, %v", shape, err)
	}
	p, err := parse("topology-lies")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		verdict diagnose.Verdict
		missed  int
	}{{diagnose.Contradicts, 0}, {diagnose.Agrees, 1}} {
		var trial Trial
		trial.judge(p, &diagnose.Diagnosis{Contradictions: []diagnose.Contradiction{{Name: "topology",
			Verdict: c.verdict},
			{Name: "little's law", Verdict: diagnose.Contradicts}}})
		if len(trial.Missed) != c.missed || len(trial.Named) != 1-c.missed {
			t.Errorf("%s: %+v", c.verdict, trial)
		}
	}
}

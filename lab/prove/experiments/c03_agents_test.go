package experiments

import (
	"context"
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	"plimsoll/lab/load"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

func TestC03_SizesKeepTheRateOfTheReport(t *testing.T) {
	for _, b := range []Bench{{}, {Full: true}} {
		l := agentsLoad{users: c03Users(b)}
		if rate := float64(l.users) / l.think().Seconds(); rate < 25 || rate > 26 {
			t.Errorf("%d sessions: %.1f operations/s", l.users, rate)
		}
	}
	e, _ := For("C03")
	if takes := e.Plan(Bench{}).Takes; takes > 4*time.Minute {
		t.Errorf("takes %s", takes)
	}
}

// Real agents and a real worker: both sides are counted once more and come out the same; what is
// taken from a page is missed.
func TestC03_OneProcessAndAgentsMakeTheSameLoad(t *testing.T) {
	serve, dsn := program(t), filledDatabase(t)
	l := agentsLoad{users: 120, duration: 6 * time.Second, bench: Bench{Serve: serve,
		Agent: []string{serve[0], "agent", "--quiet"}, Software: versionOf(t, serve[0])}}
	part := trial.Part{Rounds: 1, InOrder: true, Series: []trial.Series{{Name: apdexScore}, {Name: operationRate},
		{Name: sessionCPU}}}
	for _, name := range []string{oneProcess, someAgents} {
		part.Sides = append(part.Sides, trial.Side{Name: name,
			Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, _ int) (trial.Figures, error) {
					o := run.Options{Load: load.Default(), DSN: dsn, Serve: serve,
						ServeEnv: []string{"PLIMSOLL_DSN=" + dsn}, Software: l.bench.Software, LagLimit: time.Minute}
					return l.once(ctx, r, o, name == someAgents)
				}, nil
			}})
	}
	alone := trial.Computed{Formula: aloneShare, Format: "%.1f"}
	rules := trial.Rules{Checks: []trial.Check{{Name: checkValid}, {Name: checkSessions}, {Name: checkRecount}},
		Criteria: []trial.Criterion{{Of: alone, Confirm: trial.AtMost(50)}}} // another load shares next to nothing
	f, err := trial.Trial{Parts: []trial.Part{part}, Rules: rules,
		Measured: []trial.Phrase{trial.Say("%s", trial.Words(func(m *trial.Made) string {
			if _, all := apart(m); all < 200 {
				t.Errorf("%d operations", all)
			}
			return alone.Text(m)
		}))}}.Play(t.Context(), trial.Options{})
	if err != nil || f.Verdict != claims.Confirmed {
		t.Fatalf("%s, %s, %v", f.Verdict, f.Measured, err)
	}
	for _, figure := range f.Figures {
		if len(figure.Values) != 1 || figure.Values[0] <= 0 {
			t.Errorf("%+v", figure)
		}
	}
}

// A result that is not what the recounting counted is found.
func TestRecounting_FindsAnEmptyOne(t *testing.T) {
	r := &result.Result{Operations: []result.Operation{{ID: "sale.post", Counts: apdex.Counts{Satisfied: 1}}}}
	if got := newRecounting().differences(r); len(got) == 0 {
		t.Error("an empty recount is called identical")
	}
}

func versionOf(t *testing.T, program string) string {
	t.Helper()
	text, err := exec.Command(program, "version", "--json").Output()
	var v struct{ Version string }
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil || v.Version == "" {
		t.Fatalf("%s, %v", text, err)
	}
	return v.Version
}

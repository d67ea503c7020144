package scale

import (
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/lab/load"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/users"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

func TestC03_SizesKeepTheRateOfTheReport(t *testing.T) {
	for _, b := range []site.Bench{{}, {Full: true}} {
		l := agentsLoad{users: c03Users(b)}
		if rate := float64(l.users) / l.think().Seconds(); rate < 25 || rate > 26 {
			t.Errorf("%d sessions: %.1f operations/s", l.users, rate)
		}
	}
	e := Experiments()[2]
	if takes := e.Plan(site.Bench{}).Takes; takes > 5*time.Minute {
		t.Errorf("takes %s", takes)
	}
}

// Real agents and a real worker make the load of one process, operation by operation, and every turn is counted once
// more. The operations arrive at a rate: how many users who think come to depends on the machine.
func TestC03_OneProcessAndAgentsMakeTheSameLoad(t *testing.T) {
	const rate = 60
	serve, dsn := sitetest.Program(t), sitetest.FilledDatabase(t)
	l := agentsLoad{users: 40, duration: 4 * time.Second, bench: site.Bench{Serve: serve,
		Agent: []string{serve[0], "agent", "--quiet"}, Software: versionOf(t, serve[0])}}
	o := run.Options{Load: load.Default(), DSN: dsn, Serve: serve, ServeEnv: []string{"PLIMSOLL_DSN=" + dsn},
		Software: l.bench.Software, LagLimit: time.Minute}
	o.Arrivals = &users.Arrivals{Spacing: users.Even, Rate: rate}
	var sides []map[string]int64
	for _, dealt := range []bool{false, true} {
		r, again, err := l.play(t.Context(), o, dealt)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := l.wrongShares(r); dealt && wrong != "" {
			t.Error(wrong)
		}
		if wrong := again.differences(r); len(wrong) > 0 {
			t.Errorf("the recount differs: %q", wrong)
		}
		for i, reason := range r.InvalidReasons {
			if r.InvalidCauses[i] != result.ByGenerator { // which a busy machine may be
				t.Error(reason)
			}
		}
		if f := agentFigures(r); f[site.OperationRate] <= 0 || f[sessionCPU] <= 0 {
			t.Errorf("figures %v, want a rate and the processor time of a session", f)
		}
		sides = append(sides, chosen(r))
	}
	if diff := cmp.Diff(sides[0], sides[1]); diff != "" {
		t.Error(diff)
	}
	all := int64(0)
	for _, n := range sides[0] {
		all += n
	}
	if want := int64(rate * l.duration / time.Second); all < want-1 || all > want+1 {
		t.Errorf("%d operations, not %d", all, want)
	}
}

// chosen is how often each operation was to be done, also where it had nothing to act on and another was done instead.
func chosen(r *result.Result) map[string]int64 {
	times := map[string]int64{}
	for _, op := range r.Operations {
		times[op.ID] += op.Ops
		for other, n := range op.Instead {
			times[op.ID] += n
			times[other] -= n
		}
	}
	return times
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

package self

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/prove/peers"
)

// Arrivals every 10 ms for 14 s, none answered between 4 and 9 s: the truth is what a list of their waits says.
func TestTruthIsThatOfEachArrival(t *testing.T) {
	load := generatorLoads[len(generatorLoads)-1]
	var waits []time.Duration
	for n := range load.due() {
		due := time.Duration(float64(n) / load.rate * float64(time.Second))
		answered := due + stallService
		if answered >= stallFrom && answered < stallTo {
			answered = stallTo
		}
		waits = append(waits, answered-due)
	}
	truth := load.truth()
	for _, c := range []struct {
		name    string
		p, want float64
	}{{"p50", 50, truth.P50}, {"p95", 95, truth.P95}, {"p99", 99, truth.P99}, {"max", 100, truth.Max}} {
		if got, between := percentile(waits, c.p), 2*1000/load.rate; got < c.want-between || got > c.want+between {
			t.Errorf("%s: %v ms by the list, %v ms by the formula", c.name, got, c.want)
		}
	}
}

// What ours must not do: lose a request, or hide a standstill. What the others report is not judged.
func TestGeneratorIsJudged(t *testing.T) {
	load := generatorLoads[len(generatorLoads)-1]
	truth := load.truth()
	hidden := truth
	hidden.P95, hidden.P99 = 0.5, 31
	for _, c := range []struct {
		name  string
		trial Trial
		want  Verdict
		named string
	}{
		{"True", Trial{Requests: load.due(), Report: &truth}, Right, ""},
		{"ARequestIsMissing", Trial{Requests: load.due() + 1, Report: &truth}, Wrong, "requests: "},
		{"TheStandstillIsHidden", Trial{Requests: load.due(), Report: &hidden}, Wrong, "p99: "},
		{"NoReport", Trial{Missing: "it stopped too early"}, Wrong, "it stopped too early"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := judge(outcome{figures: c.trial.judged(load)})
			if got != c.want || !strings.Contains(why, c.named) {
				t.Errorf("%s %q, want %s %q", got, why, c.want, c.named)
			}
		})
	}
}

// carried by a generator on a real server, without what is to be installed.
func carried(t *testing.T, tool func(*stage) peers.Tool, load generatorLoad) (trial Trial) {
	t.Helper()
	s, err := newStage(options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := trial.carry(t.Context(), s, tool(s), s.Program[0], load); err != nil {
		t.Fatal(err)
	}
	return trial
}

func TestOurOwnProgramCarriesALoad(t *testing.T) {
	load := generatorLoad{"short", "plain", 5, 0, 50, 2 * time.Second}
	trial := carried(t, (*stage).ours, load)
	if trial.Report == nil || trial.Requests == 0 || trial.Report.Answers != trial.Requests ||
		trial.Report.Max < trial.Report.P50 || trial.Report.P50 <= 0 {
		t.Errorf("%d requests were received; reported %+v %s", trial.Requests, trial.Report, trial.Missing)
	}
}

// A generator that ends at once has no costs; its trial says what it said.
func TestAGeneratorThatStopsIsShown(t *testing.T) {
	broken := func(*stage) peers.Tool {
		return peers.Tool{Name: "broken", Command: func(string, peers.Job) (*exec.Cmd, error) {
			return exec.CommandContext(context.Background(), "sh", "-c", "echo no such option >&2; exit 7"), nil
		}}
	}
	trial := carried(t, broken, generatorLoad{"users", "plain", 5, 0, 0, time.Second})
	const want = "it stopped too early: exit status 7: no such option"
	if trial.Missing != want || trial.PerS != nil || trial.Report != nil {
		t.Errorf("%+v, want %q", trial, want)
	}
}

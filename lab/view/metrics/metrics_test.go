package metrics

import (
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run"
)

func read(t *testing.T, l *Live) string {
	t.Helper()
	w := httptest.NewRecorder()
	l.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text, err := io.ReadAll(w.Body)
	if err != nil || w.Code != 200 {
		t.Fatal(w.Code, err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	if _, err := parser.TextToMetricFamilies(strings.NewReader(string(text))); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLabelsAreFewAndKnown: a label whose values grow with the load, such as a user or an error, would fill the memory
// of the reader; and no name of an operation in a scenario breaks a line.
func TestLabelsAreFewAndKnown(t *testing.T) {
	var live Live
	const odd = "say \"no\"\nor\\not"
	counted := tally.New([]time.Duration{time.Second}, []int{1}, 0, time.Minute)
	for user := range 50 {
		counted.Count(tally.Sample{User: user, Err: errors.New(fmt.Sprint("error ", user)), Outcome: tally.Failed})
	}
	page, err := counted.Tick(50, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	live.Take(run.Snapshot{Phase: run.Steady, Operations: []users.Operation{{ID: odd, Target: time.Second}}, Page: page,
		Tally: counted})
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(read(t, &live)))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]map[string]bool{}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if values[l.GetName()] == nil {
					values[l.GetName()] = map[string]bool{}
				}
				values[l.GetName()][l.GetValue()] = true
			}
		}
		if !strings.HasPrefix(name, "plimsoll_run_") || f.GetHelp() == "" {
			t.Errorf("%s: %q", name, f.GetHelp())
		}
	}
	if len(values) != 4 || len(values["zone"]) != 3 || len(values["operation"]) != 1 || !values["operation"][odd] ||
		len(values["outcome"]) != 4 || len(values["phase"]) != 1 {
		t.Errorf("values of labels %v, want one operation, 4 outcomes, 3 zones, one phase and no other label", values)
	}
}

func TestFiguresAreSumsOfTheSnapshots(t *testing.T) {
	var live Live
	if text := read(t, &live); strings.Contains(text, "plimsoll_run") {
		t.Errorf("before the run: %s", text)
	}
	operations := []users.Operation{{ID: "sale", Target: time.Second, Priority: 1},
		{ID: "list", Target: time.Second / 2, Priority: 2}}
	counted := tally.New([]time.Duration{time.Second, time.Second / 2}, []int{1, 2}, time.Second, time.Minute)
	for second, samples := range [][]tally.Sample{
		{{Operation: 0, Due: 0, Sent: 0, Done: 500 * time.Millisecond}},
		{
			{Operation: 0, Due: time.Second, Sent: time.Second + 7*time.Millisecond, Done: 2500 * time.Millisecond},
			{Operation: 1, Due: time.Second, Sent: time.Second, Done: 9 * time.Second, Outcome: tally.Refused},
			{Operation: 1, Due: time.Second, Sent: time.Second, Done: 2 * time.Second, Outcome: tally.Overload},
		},
	} {
		for _, s := range samples {
			counted.Count(s)
		}
		page, err := counted.Tick(40+second, 3, 2)
		if err != nil {
			t.Fatal(err)
		}
		live.Take(run.Snapshot{At: time.Duration(second+1) * time.Second, Phase: run.Steady, Operations: operations,
			Page: page, Tally: counted})
	}
	text := read(t, &live)
	for _, want := range []string{
		"plimsoll_run_users 41", "plimsoll_run_in_flight 3", "plimsoll_run_backlog 2", "plimsoll_run_lag_seconds 0.007",
		"plimsoll_run_elapsed_seconds 2",
		`plimsoll_run_phase{phase="steady"} 1`,
		`plimsoll_run_operations_total{operation="sale",outcome="ok"} 2`,
		`plimsoll_run_operations_total{operation="list",outcome="refused"} 1`,
		`plimsoll_run_operations_total{operation="list",outcome="overload"} 1`,
		`plimsoll_run_operations_total{operation="list",outcome="failed"} 0`,
		`plimsoll_run_latency_target_units_bucket{operation="sale",le="1"} 1`,
		`plimsoll_run_latency_target_units_bucket{operation="sale",le="2"} 2`,
		`plimsoll_run_latency_target_units_bucket{operation="list",le="4"} 0`,
		`plimsoll_run_latency_target_units_bucket{operation="list",le="+Inf"} 1`,
		`plimsoll_run_latency_target_units_sum{operation="sale"} 2`,
		`plimsoll_run_latency_seconds_bucket{operation="sale",le="0.25"} 0`,
		`plimsoll_run_latency_seconds_bucket{operation="sale",le="0.5"} 1`,
		`plimsoll_run_latency_seconds_bucket{operation="sale",le="2.5"} 2`,
		`plimsoll_run_latency_seconds_bucket{operation="list",le="5"} 0`,
		`plimsoll_run_latency_seconds_bucket{operation="list",le="10"} 1`,
		`plimsoll_run_latency_seconds_sum{operation="sale"} 2`,
		`plimsoll_run_apdex_total{operation="sale",zone="tolerating"} 1`,
		`plimsoll_run_apdex_total{operation="list",zone="frustrated"} 2`,
		`plimsoll_run_operation_apdex{operation="sale"} 0.5`, `plimsoll_run_operation_apdex{operation="list"} 0`,
		`plimsoll_run_target_seconds{operation="list"} 0.5`, "plimsoll_run_apdex 0.25",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

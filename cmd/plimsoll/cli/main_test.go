package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
	"plimsoll/lab/run/worker/workertest"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) {
	workertest.BecomeProgram(func() int { return Exec(Interruptible(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr) })
	for _, name := range settingsOf(os.Environ()) {
		os.Unsetenv(name) // a developer's own settings are no part of the tests
	}
	run.AuditInterruptedWithin, run.AuditPatience = patience.Max, 0
	clustertest.Main(m)
}

func settingsOf(environ []string) (names []string) {
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "PLIMSOLL_") && !strings.HasPrefix(name, "PLIMSOLL_TEST_") &&
			name != "PLIMSOLL_CACHE" {
			names = append(names, name)
		}
	}
	return names
}

// outcome of one command line.
type outcome struct {
	code           int
	stdout, stderr string
}

// plimsoll runs one command line.
func plimsoll(t *testing.T, args ...string) outcome {
	t.Helper()
	return plimsollWith(t, context.Background(), "", nil, args...)
}

func plimsollWith(t *testing.T, ctx context.Context, stdin string, stderr *watched, args ...string) outcome {
	t.Helper()
	var out bytes.Buffer
	if stderr == nil {
		stderr = &watched{}
	}
	code := Exec(ctx, args, strings.NewReader(stdin), &out, stderr)
	return outcome{code, out.String(), stderr.String()}
}

// watched is a stderr that calls seen once when text has been written to it.
type watched struct {
	text string
	seen func()
	mu   sync.Mutex
	all  strings.Builder
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all.Write(p)
	if w.seen != nil && strings.Contains(w.all.String(), w.text) {
		w.seen()
		w.seen = nil
	}
	return len(p), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}

// want checks the exit code and parts of stderr.
func (o outcome) want(t *testing.T, code int, stderr ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d\nstdout: %.2000s\nstderr: %s", o.code, code, o.stdout, o.stderr)
	}
	for _, part := range stderr {
		if !strings.Contains(o.stderr, part) {
			t.Errorf("stderr lacks %q:\n%s", part, o.stderr)
		}
	}
}

// wantRun checks the last run and its exit code: nothing speaks against it but a busy machine, which makes few
// operations and makes them late.
func (o outcome) wantRun(t *testing.T) {
	t.Helper()
	var r result.Result
	plimsoll(t, "report", "--json").decode(t, &r)
	want := ExitOK
	if !r.Valid {
		want = ExitThreshold
	}
	if o.want(t, want); len(resulttest.Against(&r)) > 0 {
		t.Errorf("not valid: %q", r.InvalidReasons)
	}
}

// decode reads stdout, which must be one JSON document.
func (o outcome) decode(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(o.stdout), into); err != nil {
		t.Fatalf("stdout is no JSON: %v\n%s\nstderr: %s", err, o.stdout, o.stderr)
	}
}

// freshState gives the test a state directory of its own that the server's ordinary
// user can reach, and no configuration.
func freshState(t *testing.T) string {
	t.Helper()
	dir := clustertest.State(t)
	t.Setenv("PLIMSOLL_STATE", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("PLIMSOLL_CONFIG", "")
	t.Setenv("PLIMSOLL_RUN_LAG_LIMIT", "1m") // other tests run at the same time
	for _, command := range []string{"RUN", "LINE", "COMPARE", "PROVE"} {
		t.Setenv("PLIMSOLL_"+command+"_DISTURBED_LIMIT", "1")
	}
	return dir
}

func TestExitCodes_AreTheContract(t *testing.T) {
	want := map[problem.Class]int{problem.Failure: 1, problem.Usage: 2, problem.Threshold: 3, problem.Environment: 4,
		problem.Interrupted: 130}
	for class, code := range want {
		if got, _ := exitOf(problem.New(class, context.DeadlineExceeded, "")); got != code {
			t.Errorf("class %d exits with %d, want %d", class, got, code)
		}
	}
	if got, _ := exitOf(nil); got != 0 {
		t.Errorf("success exits with %d", got)
	}
	if len(exitCodes) != len(want)+1 {
		t.Errorf("%d exit codes are described, want %d", len(exitCodes), len(want)+1)
	}
}

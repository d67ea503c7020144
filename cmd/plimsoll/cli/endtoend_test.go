package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/installation"
	"plimsoll/lab/load/scenario/scenariotest"
	"plimsoll/lab/run/result"
	"plimsoll/test/files"
	"plimsoll/test/patience"
)

// stand is a state directory with what the commands of one story create in it.
type stand struct {
	state string
	// Two clusters with different engines if both flavours are built, otherwise both with the system's.
	one, two         string
	upOne, upTwo     []string
	flavoursAreBuilt bool
}

func newStand(t *testing.T) *stand {
	t.Helper()
	s := &stand{state: freshState(t), one: "plimsoll", two: "vanilla"}
	ctx := context.Background()
	_, err1 := installation.Find(ctx, installation.Plimsoll)
	_, err2 := installation.Find(ctx, installation.Vanilla)
	s.flavoursAreBuilt = err1 == nil && err2 == nil
	if s.flavoursAreBuilt {
		s.upOne, s.upTwo = []string{"up", "--flavour", "plimsoll"}, []string{"up", "--flavour", "vanilla"}
	} else {
		if _, err := installation.Find(ctx, installation.System); err != nil {
			t.Skipf("SKIP: neither our engines nor an installed PostgreSQL: %v", err)
		}
		t.Log("our engines are not built: the story is told with the system's PostgreSQL")
		s.upOne, s.upTwo = []string{"up", s.one, "--engine", "system"}, []string{"up", s.two, "--engine", "system"}
	}
	t.Cleanup(func() { plimsoll(t, "down", "--all", "--immediate", "--force", "--quiet") })
	return s
}

// status of the clusters by name.
func (s *stand) status(t *testing.T) map[string]cluster.Status {
	t.Helper()
	var got struct {
		Clusters []struct {
			Name, State, Flavour string
			PID                  int
		}
	}
	plimsoll(t, "status", "--json").decode(t, &got)
	all := map[string]cluster.Status{}
	for _, c := range got.Clusters {
		all[c.Name] = cluster.Status{Name: c.Name, State: cluster.State(c.State), Flavour: c.Flavour, PID: c.PID}
	}
	return all
}

// interrupting runs a command and presses Ctrl-C when text has appeared on stderr.
func interrupting(t *testing.T, text string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	return plimsollWith(t, ctx, "", &watched{text: text, seen: cancel}, args...)
}

// The story of two clusters, as a user would go through it. Steps build on each other.
func TestEndToEnd(t *testing.T) {
	s := newStand(t)
	for _, step := range []struct {
		name string
		do   func(*testing.T)
	}{
		{"UpBothSideBySide", s.upBoth},
		{"KilledClusterComesBack", s.killed},
		{"PsqlSpeaksToTheServer", s.psql},
		{"FillStoppedKeepsWhatIsDone", s.fillStopped},
		{"FillOnce", s.fill},
		{"AuditFindsWrongBooks", s.audit},
		{"ServeUntilStopped", s.serve},
		{"ProfileByShape", s.profile},
		{"Run", s.run},
		{"ReportOfTheRun", s.report},
		{"RunByAgents", s.runByAgents},
		{"RunMissesItsTarget", s.runOverloaded},
		{"RunInterruptedKeepsWhatWasMeasured", s.runInterrupted},
		{"ProveInterruptedKeepsWhatWasMeasured", s.proveInterrupted},
		{"ProveShowsWhatWasMeasured", s.proveShows},
		{"LineOfOwnScripts", s.ownLine},
		{"LinesOfConfigurationsInTurns", s.lines},
		{"SecondInterruptStopsHard", s.hardStop},
		{"UpStoppedTakesItselfBack", s.upStopped},
		{"DestroyAsks", s.destroy},
		{"DownLeavesAClusterThatARunIsUsing", s.downOfOneInUse},
		{"NothingIsLeftRunning", s.nothingLeft},
	} {
		if !t.Run(step.name, step.do) {
			t.Fatalf("the story ends here: later steps build on %s", step.name)
		}
	}
}

func (s *stand) upBoth(t *testing.T) {
	plimsoll(t, s.upOne...).want(t, ExitOK)
	o := plimsoll(t, append(s.upTwo, "--json")...)
	o.want(t, ExitOK)
	var up struct{ Name, State, DSN string }
	o.decode(t, &up)
	if up.Name != s.two || up.State != "running" || !strings.Contains(up.DSN, "passfile=/") {
		t.Errorf("want the second cluster running, with a file for its password, got %+v", up)
	}
	all := s.status(t)
	if all[s.one].State != cluster.Running || all[s.two].State != cluster.Running || all[s.one].PID == all[s.two].PID {
		t.Errorf("want both clusters running as two processes, got %+v", all)
	}
	if s.flavoursAreBuilt && (all[s.one].Flavour != "plimsoll" || all[s.two].Flavour != "vanilla") {
		t.Errorf("want the flavours plimsoll and vanilla, got %+v", all)
	}
	plimsoll(t, "status").want(t, ExitOK)
	plimsoll(t, "down").want(t, ExitUsage, "which cluster? 2 run")
	plimsoll(t, s.upOne...).want(t, ExitOK) // runs already
	for _, command := range []string{"run", "line"} {
		plimsoll(t, command, "--cluster", s.one, "--engine", "/no/such/prefix").want(t, ExitUsage,
			"was created with engine", "hint: leave out --engine")
	}
}

func (s *stand) killed(t *testing.T) {
	before := s.status(t)[s.two].PID
	if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	plimsoll(t, s.upTwo...).want(t, ExitOK)
	after := s.status(t)[s.two]
	if after.State != cluster.Running || after.PID == before {
		t.Errorf("%+v after a kill of %d", after, before)
	}
}

func (s *stand) psql(t *testing.T) {
	o := plimsoll(t, "psql", s.two, "--", "-At", "-c", "SELECT 6*7")
	o.want(t, ExitOK)
	if strings.TrimSpace(o.stdout) != "42" {
		t.Errorf("answered %q", o.stdout)
	}
	plimsoll(t, "psql", s.two, "--", "-c", "SELECT nonsense").want(t, ExitFailure, "psql ended with")
}

func (s *stand) fillStopped(t *testing.T) {
	o := interrupting(t, "fill, documents", "fill", "--cluster", s.one, "--documents", "600000")
	o.want(t, ExitInterrupted, "finished parts are kept", "the same command continues")
	if t.Failed() {
		return // a base that is whole would be served until the test's time is over
	}
	plimsoll(t, "serve", "--cluster", s.one, "--listen", "127.0.0.1:0").want(t, ExitUsage,
		"an earlier fill did not finish", "--resume")
	plimsoll(t, "fill", "--cluster", s.one, "--documents", "100").want(t, ExitUsage, "an earlier fill did not finish",
		"600000 documents", "--discard")
	plimsoll(t, "fill", "--cluster", s.one, "--size", "900TB").want(t, ExitEnvironment, "the disk is too small",
		"--size ")
	plimsoll(t, "fill", "--cluster", s.one, "--check").want(t, ExitUsage, "an earlier fill did not finish")
	plimsoll(t, "audit", "--cluster", s.one).want(t, ExitUsage, "an earlier fill did not finish")
}

func (s *stand) fill(t *testing.T) {
	// For each organisation every run first makes a hundred documents for its operations to act on.
	args := []string{"fill", "--cluster", s.one, "--documents", "500", "--items", "200", "--organisations", "1",
		"--json"}
	o := plimsoll(t, append(args, "--discard")...)
	o.want(t, ExitOK)
	var filled struct {
		Filled                 bool
		Documents, Items, Rows int
	}
	o.decode(t, &filled)
	if !filled.Filled || filled.Items != 200 || filled.Documents < 500 || filled.Rows < 1000 {
		t.Errorf("want a small filled base, got %+v", filled)
	}
	plimsoll(t, args...).want(t, ExitUsage, "not empty", "--if-empty")
	o = plimsoll(t, append(args, "--if-empty")...)
	o.want(t, ExitOK)
	o.decode(t, &filled)
	if filled.Filled {
		t.Error("filled twice")
	}
	plimsoll(t, "fill", "--cluster", s.one, "--check").want(t, ExitOK)
	plimsoll(t, "fill", "--cluster", s.one, "--resume").want(t, ExitUsage, "not empty")
}

func (s *stand) audit(t *testing.T) {
	o := plimsoll(t, "audit", "--cluster", s.one)
	o.want(t, ExitOK)
	if !strings.Contains(o.stdout, "audit: clean") || strings.Count(o.stdout, "\n") != 1 {
		t.Errorf("want a clean audit in one line, got %s", o.stdout)
	}
	o = plimsoll(t, "audit", "--cluster", s.one, "--details")
	if o.want(t, ExitOK); !strings.Contains(o.stdout, "not derivable") {
		t.Errorf("want what cannot be derived, got %s", o.stdout)
	}
	o = plimsoll(t, "audit", "--cluster", s.one, "--digest")
	printed := regexp.MustCompile(`(?m)^digest: ([0-9a-f]{64})$`).FindStringSubmatch(o.stdout)
	if printed == nil || !strings.Contains(o.stdout, "doc_goods_sale") {
		t.Fatalf("want the digest of the books and of each table, got %s", o.stdout)
	}
	books := printed[1]
	cook := func(by string) {
		plimsoll(t, "psql", s.one, "--", "-qc", "UPDATE acc_stock_totals SET quantity = quantity + "+by).want(t, ExitOK)
	}
	cook("1")
	o = plimsoll(t, "audit", "--cluster", s.one, "--digest", "--json")
	o.want(t, ExitThreshold, "the books are wrong")
	var report struct {
		Violations int
		Books      struct{ Digest string }
	}
	o.decode(t, &report)
	if report.Violations == 0 {
		t.Errorf("want violations, got %s", o.stdout)
	}
	if len(report.Books.Digest) != 64 || report.Books.Digest == books {
		t.Errorf("digest %s of other totals, of the right ones %s", report.Books.Digest, books)
	}
	cook("-1")
	o = plimsoll(t, "audit", "--cluster", s.one, "--digest", "--json")
	o.want(t, ExitOK)
	if o.decode(t, &report); report.Books.Digest != books {
		t.Errorf("digest %s, it was %s with the same books", report.Books.Digest, books)
	}
	o = plimsoll(t, "audit", "--cluster", s.one, "--since-clean", "--list")
	o.want(t, ExitOK)
	if !regexp.MustCompile(`(?m)^goods_sale\.ledger +unchanged +- +0 `).MatchString(o.stdout) ||
		!strings.Contains(o.stdout, "over unchanged tables") {
		t.Errorf("want an unchanged invariant on no rows, got %s", o.stdout)
	}
}

func (s *stand) profile(t *testing.T) {
	type operation struct {
		ID    string
		Sides []struct {
			Shape, Server string
			RoundTrips    float64 `json:"round_trips"`
		}
	}
	var p struct {
		Rounds     int
		Operations []operation
	}
	o := plimsoll(t, "profile", "--cluster", s.one, "--rounds", "1", "--json")
	o.want(t, ExitOK)
	o.decode(t, &p)
	at := max(0, slices.IndexFunc(p.Operations, func(o operation) bool { return o.ID == "goods_sale.post" }))
	if sale := p.Operations[at]; p.Rounds != 1 || len(sale.Sides) != 3 || sale.Sides[0].Shape != "classic" ||
		sale.Sides[0].RoundTrips < 60 || sale.Sides[1].RoundTrips > 20 || sale.Sides[2].RoundTrips > 3 {
		t.Errorf("want three sides with fewer and fewer round trips, got %s", o.stdout)
	}
	plimsoll(t, "audit", "--cluster", s.one).want(t, ExitOK)
}

func (s *stand) serve(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, in := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- Exec(ctx, []string{"serve", "--cluster", s.one, "--listen", "127.0.0.1:0", "--json"}, nil, in,
			io.Discard)
	}()
	var first struct{ Listening string }
	if err := json.NewDecoder(out).Decode(&first); err != nil ||
		!strings.HasPrefix(first.Listening, "http://127.0.0.1:") {
		t.Fatalf("%+v %v", first, err)
	}
	address := strings.TrimPrefix(first.Listening, "http://")
	plimsoll(t, "serve", "--cluster", s.one, "--listen", address).want(t, ExitEnvironment, "address already in use",
		"--listen")
	cancel()
	if code := <-ended; code != ExitOK {
		t.Errorf("exit code %d after a stop that was asked for", code)
	}
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Error("still listens")
	}
}

func (s *stand) run(t *testing.T) {
	html, operations := filepath.Join(s.state, "run.html"), filepath.Join(s.state, "run.parquet")
	o := plimsoll(t, "run", "--cluster", s.one, "--users", "90", "--duration", "3s", "--ramp", "1s", "--think", "3s",
		"--json", "--html", html, "--samples", operations)
	o.wantRun(t)
	plimsoll(t, "recompute", operations, "--against", "latest").want(t, ExitOK, "all figures match run")
	var r result.Result
	o.decode(t, &r)
	if r.Valid != (o.code == ExitOK) || r.Users != 90 || r.Ops == 0 || r.OpsPerS <= 0 || r.Apdex == nil ||
		!r.Audit.Clean || r.Generator.CPUShare == nil {
		t.Errorf("%.3000s", o.stdout)
	}
	if r.Conditions.Scale == "" || r.Conditions.Profile != "tuned" {
		t.Errorf("base %q, profile %q", r.Conditions.Scale, r.Conditions.Profile)
	}
	var raw map[string]any
	o.decode(t, &raw)
	for _, name := range []string{"valid", "invalid_reasons", "users", "ops", "ops_per_s", "apdex", "band",
		"operations", "generator", "audit", "conditions", "series"} {
		if _, ok := raw[name]; !ok {
			t.Errorf("the JSON has no %s", name)
		}
	}
	if text, err := os.ReadFile(html); err != nil || !bytes.Contains(text, []byte("</html>")) {
		t.Errorf("report: %v", err)
	}
}

func (s *stand) report(t *testing.T) {
	o := plimsoll(t, "report")
	o.want(t, ExitOK)
	if !strings.Contains(o.stdout, "goods_sale.post") || !strings.Contains(o.stdout, "report: ") {
		t.Errorf("want the table of operations and the path of the report, got %s", o.stdout)
	}
	asJSON := plimsoll(t, "report", "--json")
	file := files.Write(t, s.state, "result.json", asJSON.stdout)
	again := plimsoll(t, "report", file, "--json")
	if again.stdout != asJSON.stdout {
		t.Error("the report of a file differs from that of the run")
	}
	var list struct{ Runs []result.Result }
	plimsoll(t, "runs", "--json").decode(t, &list)
	if len(list.Runs) != 1 {
		t.Errorf("%d runs", len(list.Runs))
	}
	plimsoll(t, "runs").want(t, ExitOK)
	plimsoll(t, "report", list.Runs[0].ID[:8]).want(t, ExitOK)
	plimsoll(t, "report", "nosuch").want(t, ExitUsage)
	plimsoll(t, "report", "/no/such.json").want(t, ExitUsage)
}

func (s *stand) runByAgents(t *testing.T) {
	var told atomic.Int64
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if message, err := io.ReadAll(r.Body); err == nil &&
			bytes.Contains(message, []byte("plimsoll_run_operations_total")) {
			told.Add(1)
		}
	}))
	defer collector.Close()
	o := plimsoll(t, "run", "--cluster", s.one, "--users", "90", "--duration", "3s", "--ramp", "1s", "--think", "3s",
		"--lag-limit", "1m", "--json",
		"--agents", "local:3", "--agents-listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--otlp", collector.URL)
	o.wantRun(t)
	if told.Load() == 0 {
		t.Error("the collector was told nothing")
	}
	var r result.Result
	o.decode(t, &r)
	if r.Users != 90 || r.Ops == 0 || len(r.Generator.Agents) != 3 || r.Generator.Agents[2].Users != 30 {
		t.Errorf("%.3000s", o.stdout)
	}
	if o := plimsoll(t, "report"); !strings.Contains(o.stdout, "agents") || !strings.Contains(o.stdout, "3@") {
		t.Errorf("the report names no agents:\n%s", o.stdout)
	}
}

// A timeout far below what any posting takes: every operation fails, the score is 0.
func (s *stand) runOverloaded(t *testing.T) {
	o := plimsoll(t, "run", "--cluster", s.one, "--users", "60", "--duration", "2s", "--ramp", "0s", "--think", "1s",
		"--timeout", "1ms", "--target", "0.99")
	o.want(t, ExitThreshold)
	if !strings.Contains(o.stdout, "report: ") {
		t.Errorf("no table:\n%s", o.stdout)
	}
}

// endless is a scenario for a run that a test ends. What the whole mix will lack in ten minutes is made before such a
// run begins: thousands of documents.
func endless(t *testing.T, users int) (path string) {
	t.Helper()
	var weights []string
	for _, op := range scenariotest.Endless().Operations {
		weights = append(weights, fmt.Sprintf("%q = %v", op.ID, op.Weight))
	}
	return files.Write(t, t.TempDir(), "endless.toml", fmt.Sprintf("[roles.clerk]\nusers = %d\nweights = { %s }\n"+
		"think = { mean = \"1s\" }\n", users, strings.Join(weights, ", ")))
}

func (s *stand) runInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		patience.Holds(func() bool { return ctx.Err() != nil || s.journalled() > 2 }) // then there are operations
	}()
	o := plimsollWith(t, ctx, "", nil, "run", "--cluster", s.one, "--scenario", endless(t, 50), "--duration", "10m",
		"--ramp", "0s", "--json")
	cancel()
	o.want(t, ExitInterrupted, "what was measured is kept as run")
	var r result.Result
	o.decode(t, &r)
	if !r.Interrupted || r.Valid || r.Ops == 0 || !r.Audit.Done {
		t.Errorf("interrupted %v, valid %v, %d operations, audited %v", r.Interrupted, r.Valid, r.Ops, r.Audit.Done)
	}
	s.noChildren(t)
}

func (s *stand) proveInterrupted(t *testing.T) {
	o := interrupting(t, "repetition 1 of 4: Apdex", "prove", "C01", "--cluster", s.one, "--users", "500",
		"--duration", "2s", "--json")
	o.want(t, ExitInterrupted, "C01: 4 turns of 2s: 500 users",
		"\n  the effect shows when every repetition", "\n  otherwise inconclusive\n",
		"what was measured is kept")
	c := claimOf(t, o, "C01")
	if !c.Partial || c.Verdict != "inconclusive" || c.Measured == nil {
		t.Errorf("want a partial, inconclusive result, got %+v", c)
	}
	s.noChildren(t)
}

func (s *stand) proveShows(t *testing.T) {
	c := claimOf(t, plimsoll(t, "prove", "--json"), "C01")
	if c.Measured == nil || len(c.Conditions) == 0 || c.At == nil || c.TakesS <= 0 || c.OfOther != "" ||
		c.Machine == nil {
		t.Errorf("want the result with its conditions, got %+v", c)
	}
	o := plimsoll(t, "prove")
	if !strings.Contains(o.stdout, "stopped early") || !strings.Contains(o.stdout, "1 inconclusive") ||
		!strings.Contains(o.stdout, "takes     about ") {
		t.Errorf("want a list with one claim stopped early and inconclusive, got %s", o.stdout)
	}
}

func claimOf(t *testing.T, o outcome, id string) claimView {
	t.Helper()
	var got struct{ Claims []claimView }
	o.decode(t, &got)
	for _, c := range got.Claims {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no %s in %s", id, o.stdout)
	return claimView{}
}

// The program itself, in its own process group, gets two interrupts while it runs a load on a cluster that it started:
// the cluster and the worker must end with it.
func (s *stand) hardStop(t *testing.T) {
	plimsoll(t, "down", s.two).want(t, ExitOK)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "run", "--cluster", s.two, "--scenario", endless(t, 100), "--duration", "10m", "--ramp",
		"0s")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr := &watched{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !patience.Holds(func() bool { return s.journalled() >= 2 }) {
		t.Error("the run writes no journal")
	}
	// Both arrive at once, however busy the machine is. Two of a kind might be merged into one.
	for _, each := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCONT} {
		_ = syscall.Kill(-cmd.Process.Pid, each)
	}
	err = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != ExitInterrupted {
		t.Errorf("exit code %d (%v)\n%s", code, err, stderr)
	}
	o := plimsoll(t, "report", "--json") // of it, and not of the run before
	o.want(t, ExitOK, "did not end properly")
	var r result.Result
	if o.decode(t, &r); r.Users != 100 || r.Valid || len(r.Series.T) == 0 ||
		!strings.Contains(strings.Join(r.InvalidReasons, " "), "the process of the run died") {
		t.Errorf("%.2000s", o.stdout)
	}
	plimsoll(t, s.upTwo...).want(t, ExitOK) // waits for the server's end, should it still be on its way
}

// journalled is how many seconds of the run under way are in its journal.
func (s *stand) journalled() (seconds int) {
	all, _ := filepath.Glob(filepath.Join(s.state, "runs", "*", "pages.json.gz"))
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			continue
		}
		var line json.RawMessage
		lines := 0
		for decoder := json.NewDecoder(z); decoder.Decode(&line) == nil; {
			lines++
		}
		seconds = max(seconds, lines-1) // the first says what the run is
	}
	return seconds
}

func (s *stand) upStopped(t *testing.T) {
	o := interrupting(t, "creating cluster", "up", "third", "--engine", "system")
	if o.code == ExitEnvironment {
		t.Skipf("SKIP: no system PostgreSQL: %s", o.stderr)
	}
	o.want(t, ExitInterrupted)
	if c, found := s.status(t)["third"]; found && c.State != cluster.Stopped {
		t.Errorf("want no such cluster, or a stopped one, got %+v", c)
	}
}

func (s *stand) destroy(t *testing.T) {
	plimsoll(t, "destroy", s.two, "--yes").want(t, ExitEnvironment, "is running", "plimsoll down "+s.two)
	plimsoll(t, "down", s.two).want(t, ExitOK)
	answer := func(text string) outcome {
		return plimsollWith(t, context.Background(), text, nil, "destroy", s.two)
	}
	answer("").want(t, ExitUsage, "was not destroyed")
	answer("y\n").want(t, ExitUsage, "was not destroyed")
	answer(s.two+"\n").want(t, ExitOK)
	if _, found := s.status(t)[s.two]; found {
		t.Error("still there")
	}
	foreign := filepath.Join(s.state, "clusters", "foreign")
	if err := os.Mkdir(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	if o := plimsoll(t, "destroy", "foreign", "--yes"); o.code == ExitOK {
		t.Error("destroyed a folder that is not ours")
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("touched a folder that is not ours: %v", err)
	}
}

func (s *stand) nothingLeft(t *testing.T) {
	plimsoll(t, "down", "--all").want(t, ExitOK)
	s.noChildren(t)
	for pid, line := range processes(t) {
		if strings.Contains(line, s.state) {
			t.Errorf("process %d is left: %s", pid, line)
		}
	}
}

// noChildren fails when this process still has a child.
func (s *stand) noChildren(t *testing.T) {
	t.Helper()
	for pid, line := range processes(t) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if fields[1] == strconv.Itoa(os.Getpid()) && strings.Contains(line, "serve") {
			t.Errorf("worker %d is left: %s", pid, line)
		}
	}
}

// processes are the command lines of all, by pid.
func processes(t *testing.T) map[int]string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skipf("SKIP: no /proc: %v", err)
	}
	all := map[int]string{}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
			all[pid] = strings.ReplaceAll(string(line), "\x00", " ")
		}
	}
	return all
}

// On an empty machine, the main command creates what it needs and leaves only data behind.
func TestRun_OnAnEmptyMachineMakesWhatItNeedsAndStopsIt(t *testing.T) {
	s := newStand(t)
	args := []string{"run", "--users", "60", "--duration", "2s", "--ramp", "0s", "--think", "1s"}
	if !s.flavoursAreBuilt {
		args = append(args, "--engine", "system")
	}
	o := plimsoll(t, args...)
	o.wantRun(t)
	for _, line := range []string{"creating cluster", "it is stopped again at the end", "filled a base of"} {
		if !strings.Contains(o.stderr, line) {
			t.Errorf("stderr lacks %q:\n%s", line, o.stderr)
		}
	}
	if !strings.Contains(o.stdout, "audit: clean") || !strings.Contains(o.stdout, "report: ") {
		t.Errorf("want a clean audit and the path of the report, got %s", o.stdout)
	}
	for name, c := range s.status(t) {
		if c.State != cluster.Stopped {
			t.Errorf("%s is %s", name, c.State)
		}
	}
	again := plimsoll(t, args...)
	again.wantRun(t)
	if strings.Contains(again.stderr, "creating cluster") || strings.Contains(again.stderr, "filled a base") {
		t.Errorf("made again what was there:\n%s", again.stderr)
	}
	s.keepsRunsPrivate(t)
}

// keepsRunsPrivate checks results, reports and workers' logs.
func (s *stand) keepsRunsPrivate(t *testing.T) {
	files := 0
	err := filepath.WalkDir(filepath.Join(s.state, "runs"), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		files++
		return err
	})
	if err != nil || files < 4 {
		t.Errorf("%d files of runs, %v", files, err)
	}
}

// bounds of a search with short trials. More users than a valid run needs operations: each acts once within the second,
// however busy the machine is.
var bounds = []string{"--from", "150", "--most", "150", "--think", "300ms", "--duration", "1s", "--ramp", "0s",
	"--confirmations", "1", "--lag-limit", "1m"}

// ownLine searches with a custom script, on a copy of the database.
func (s *stand) ownLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.toml")
	const text = "application = \"none\"\n[operations.count]\ntarget = \"30s\"\nsql = \"SELECT count(*) FROM " +
		"cat_users; SELECT pg_sleep(0.01)\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"line", "--cluster", s.one, "--scenario", path}, bounds...)
	stopped := interrupting(t, "trial 1, coarse", args...)
	stopped.want(t, ExitInterrupted, "hint: the same command with --resume continues")
	o := plimsoll(t, append(args, "--resume", "--json")...)
	o.want(t, ExitOK)
	var l struct {
		Schema   string
		Complete bool
		Answer   struct{ Users, Confirmed int }
		Trials   []struct{ Run string }
		Plan     struct{ Reset string }
	}
	o.decode(t, &l)
	// The result depends on the machine, which may be busy.
	if l.Schema != "plimsoll.line/1" || !l.Complete || l.Answer.Users < 1 || l.Answer.Users > 150 ||
		l.Answer.Confirmed != 1 || len(l.Trials) < 2 || l.Plan.Reset != "template" {
		t.Errorf("want a complete search with an answer of 1 to 150 users, got %+v", l)
	}
	plimsoll(t, append(args, "--resume")...).want(t, ExitUsage, "there is no stopped search with these settings")
	plimsoll(t, "report", l.Trials[0].Run).want(t, ExitOK)
	plimsoll(t, "run", "--scenario", path, "--cluster", s.one, "--users", "30", "--think", "100ms", "--duration",
		"1s", "--ramp", "0s").wantRun(t)
	plimsoll(t, "run", "--scenario", path, "--dsn", "host=/nowhere dbname=x").want(t, ExitEnvironment)
	c, err := cluster.Open("").Find(s.one)
	if err != nil {
		t.Fatal(err)
	}
	load, err := c.TakeForLoad(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = load.Remove() }()
	for _, other := range [][]string{{"--scenario", path}, {"--url", "http://127.0.0.1:1"}} {
		plimsoll(t, append([]string{"run", "--cluster", s.one}, other...)...).want(t, ExitEnvironment, "in use by load",
			"hint: wait until that run has finished")
	}
}

// lines of both clusters in turns, then of shapes of the ERP.
func (s *stand) lines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.toml")
	const text = "application = \"none\"\n[operations.sleep]\ntarget = \"30s\"\nsql = \"SELECT pg_sleep(0.01)\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"line", "--configurations", s.one + "," + s.two, "--scenario", path}, bounds...)
	stopped := interrupting(t, s.two+", trial 1, coarse", args...)
	stopped.want(t, ExitInterrupted, "hint: the same command with --resume continues")
	html := filepath.Join(s.state, "lines.html")
	o := plimsoll(t, append(args, "--resume", "--json", "--html", html)...)
	o.want(t, ExitThreshold, "no system failed at") // so there is no ratio
	var c struct {
		Schema   string
		Complete bool
		Lines    []struct {
			Ratio *struct{ Users float64 }
			Line  struct {
				Plan   struct{ Configuration string }
				Answer struct{ Users int }
			}
		}
	}
	o.decode(t, &c)
	if c.Schema != "plimsoll.lines/1" || !c.Complete || len(c.Lines) != 2 ||
		c.Lines[0].Line.Plan.Configuration != s.one || c.Lines[1].Line.Answer.Users < 1 ||
		c.Lines[0].Ratio != nil || c.Lines[1].Ratio != nil {
		t.Errorf("want two complete lines without a ratio, got %+v", c)
	}
	if page, err := os.ReadFile(html); err != nil || !bytes.Contains(page, []byte("</html>")) {
		t.Errorf("report: %v", err)
	}
	plimsoll(t, append(args[:3:3], append(bounds, "--configurations", s.one+"+lean", "--scenario", path)...)...).want(t,
		ExitUsage, "the scenario has no ERP")
	erp := func(configurations string) []string { // its operations are dear: half as many are still enough
		return append(append([]string{"line", "--configurations", configurations}, bounds...), "--think", "600ms")
	}
	plimsoll(t, "fill", "--cluster", s.two, "--documents", "50", "--items", "20").want(t, ExitOK)
	plimsoll(t, erp(s.one+"+classic,"+s.two+"+lean")...).want(t, ExitUsage,
		"the bases of "+s.one+" and "+s.two+" differ")
	stopped = interrupting(t, s.one+"+lean, trial 1", erp(s.one+"+classic,"+s.one+"+lean")...)
	stopped.want(t, ExitInterrupted, "2 configurations in turns")
}

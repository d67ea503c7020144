package run

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/fill"
	"plimsoll/erp/fill/filltest"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/load"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/scenario/scenariotest"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
	"plimsoll/lab/run/store"
	"plimsoll/lab/run/worker"
	"plimsoll/lab/run/worker/workertest"
	"plimsoll/test/loopback"
	"plimsoll/test/patience"
)

// base is a small filled ERP and the options of a short run on it.
func base(t testing.TB) Options {
	t.Helper()
	return shortRun(filltest.Copy(t, "small", smallBase))
}

// smallBase has one organisation: for each, a run first makes a hundred documents for its operations to act on.
var smallBase = fill.Options{Items: 200, Counterparties: 100, Organisations: 1, Documents: 300}

// filled is base in an empty database of its own.
func filled(t testing.TB, dsn cluster.DSN) Options {
	t.Helper()
	filltest.Fill(t, dsn.Secret(), smallBase)
	return shortRun(dsn.Secret())
}

func shortRun(dsn string) Options {
	l := load.Default()
	l.Users, l.Think = 80, &users.Think{Mean: 2 * time.Second}
	l.Ramp, l.Duration, l.Drain = time.Second, 3*time.Second, time.Minute
	return Options{
		Load:     l,
		LagLimit: time.Minute, // other tests run at the same time
		DSN:      dsn, Serve: workertest.Command(), ServeEnv: []string{"PLIMSOLL_DSN=" + dsn},
		Profile: "test", Software: "test",
		// Where it is filled it is tested; an audit costs more than the whole load.
		AuditedBefore: &result.Audit{Done: true, Clean: true},
	}
}

// endedByHand lets a run continue until the test ends it, when the expected event has happened, however busy the
// machine is.
func endedByHand(t *testing.T, o *Options) (end func()) {
	control := &LoadControl{}
	o.Control = control
	endless(o)
	return func() {
		if err := control.End(); err != nil {
			t.Error(err)
		}
	}
}

// endless is a run that is ended before its time.
func endless(o *Options) { o.Duration, o.Scenario = time.Hour, scenariotest.Endless() }

// page stands for the report, which is tested at home.
func page(w io.Writer, r *result.Result) error {
	_, err := io.WriteString(w, r.ID)
	return err
}

func mustRun(t testing.TB, ctx context.Context, o Options) *result.Result {
	t.Helper()
	r, err := Run(ctx, o)
	if err != nil {
		t.Fatalf("%v\nhint: %s", err, problem.HintOf(err))
	}
	return r
}

func TestRun(t *testing.T) {
	o := base(t)
	o.AuditedBefore, o.Duration = nil, 5*time.Second
	o.Store = store.Open(t.TempDir()).WithPage(page)
	var phases []Phase
	o.Progress = func(p Progress) {
		if len(phases) == 0 || phases[len(phases)-1] != p.Phase {
			phases = append(phases, p.Phase)
		}
	}
	r := mustRun(t, t.Context(), o)
	t.Run("IsValidWithCleanBooks", func(t *testing.T) {
		if len(resulttest.Against(r)) > 0 || !r.Audit.Clean || r.Audit.Checks == 0 || r.AuditBefore == nil ||
			!r.AuditBefore.Clean || r.AuditBefore.Checks != r.Audit.Checks {
			t.Errorf("reasons %q, audit before %+v, and after %+v", r.InvalidReasons, r.AuditBefore, r.Audit)
		}
	})
	t.Run("IsReconciledWithTheDatabase", func(t *testing.T) {
		rec := r.Reconciliation
		if rec == nil || !rec.Done || len(rec.Rows) < 10 {
			t.Fatalf("want a reconciliation of ten rows or more, got %+v", rec)
		}
		var acknowledged int64
		for _, row := range rec.Rows {
			acknowledged += row.Acknowledged
			if row.Found != row.Acknowledged || row.Unknown != 0 {
				t.Errorf("want found = acknowledged, got %+v", row)
			}
		}
		posted := int64(0) // and acknowledged, in the steady state only
		for _, op := range r.Operations {
			if strings.HasSuffix(op.ID, ".post") {
				posted += op.OK
			}
		}
		if acknowledged < posted || posted == 0 {
			t.Errorf("%d were acknowledged, %d posted", acknowledged, posted)
		}
	})
	t.Run("SaysWhereTheTimeWent", func(t *testing.T) { theLedgerAddsUp(t, r) })
	t.Run("CountsAddUp", func(t *testing.T) {
		var sum result.Totals
		for _, op := range r.Operations {
			sum.Ops += op.Ops
			sum.OK += op.OK
			sum.Refused += op.Refused
			sum.Errors += op.Errors
			sum.Overload += op.Overload
			if op.Ops != op.OK+op.Refused+op.Errors+op.Overload || op.Ops != op.Counts.N() {
				t.Errorf("want outcomes that add up, got %+v", op)
			}
		}
		if sum != r.Totals || r.Ops == 0 {
			t.Errorf("operations %+v, in all %+v", sum, r.Totals)
		}
	})
	t.Run("ScoresAndHasNoErrors", func(t *testing.T) {
		if r.Apdex == nil || r.Errors != 0 {
			t.Errorf("Apdex %v, %d errors: %+v", r.Apdex, r.Errors, r.Operations)
		}
	})
	t.Run("TellsProcessorsApart", func(t *testing.T) {
		c := r.Conditions.CPU
		if c.Generator == nil || c.Workers == nil || c.Database == nil || *c.Workers <= 0 || *c.Database <= 0 {
			t.Errorf("want shares of all three, got %+v", c)
		}
	})
	t.Run("TellsMemoryApart", func(t *testing.T) {
		for holder, column := range map[string][]*float64{"generator": r.Series.MemoryGenerator,
			"workers": r.Series.MemoryWorkers, "database": r.Series.MemoryDatabase} {
			if len(column) != len(r.Series.T) {
				t.Errorf("%s: %d moments of %d", holder, len(column), len(r.Series.T))
			}
			for i, bytes := range column {
				if bytes == nil || *bytes < 1<<20 {
					t.Errorf("%s, moment %d: %v", holder, i, bytes)
				}
			}
		}
		if len(r.Memory) != 0 {
			t.Errorf("a trend in five seconds: %+v", r.Memory)
		}
	})
	t.Run("KnowsItsConditions", func(t *testing.T) {
		e := r.Conditions.Engine
		if e.Version == "" || e.Settings["fsync"] != "off" || !e.Local || r.Conditions.Load.Think.MeanS != 2 {
			t.Errorf("want engine and think time, got %+v", r.Conditions)
		}
	})
	t.Run("KnowsWhatItsRequestsCost", func(t *testing.T) {
		i := slices.IndexFunc(r.Cost.Requests, func(q result.Request) bool { return q.ID == "goods_sale.create" })
		if c := r.Cost; i < 0 || c.Requests[i].Statements < 5 || c.Requests[i].RoundTrips < 1 ||
			c.Requests[i].Rows < 5 || c.WALBytes == nil || *c.WALBytes <= 0 || c.DatabaseMS == nil ||
			c.WorkersMS == nil {
			t.Errorf("want the cost of a request, got %+v", c)
		}
		if r.Conditions.Shape != "lean" {
			t.Errorf("shape %q", r.Conditions.Shape)
		}
	})
	t.Run("GoesThroughThePhases", func(t *testing.T) {
		// A short one may be over before it is shown.
		order := []Phase{Starting, Checking, Login, Ramp, Steady, Drain, Auditing, Finished}
		if !slices.IsSortedFunc(phases, func(a, b Phase) int {
			return slices.Index(order, a) - slices.Index(order, b)
		}) || !slices.Contains(phases, Steady) || phases[len(phases)-1] != Finished {
			t.Errorf("phases %v", phases)
		}
	})
	t.Run("IsKeptWhole", func(t *testing.T) {
		kept, err := o.Store.Load(store.Latest)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(r)
		b, _ := json.Marshal(kept)
		if string(a) != string(b) {
			t.Errorf("kept %s\nmade %s", b, a)
		}
		page, err := os.ReadFile(o.Store.ReportPath(r.ID))
		if err != nil || !strings.Contains(string(page), r.ID) {
			t.Errorf("report of %d bytes, %v", len(page), err)
		}
	})
}

// theLedgerAddsUp says whether the time of the operations was told, and in parts that add up.
func theLedgerAddsUp(t *testing.T, r *result.Result) {
	t.Helper()
	d := r.Diagnosis
	if d == nil || d.Samples == 0 {
		t.Fatalf("no diagnosis: %+v", d)
	}
	ledgers := map[string][]result.LedgerLine{"all": d.Ledger}
	for _, op := range r.Operations {
		if op.Ledger != nil {
			ledgers[op.ID] = op.Ledger
		}
	}
	for name, lines := range ledgers {
		sum := 0.0
		for _, line := range lines {
			sum += line.Share
		}
		if len(lines) == 0 || sum < 0.999 || sum > 1.001 {
			t.Errorf("the ledger of %s adds up to %.3f: %+v", name, sum, lines)
		}
	}
	statements := 0
	for _, op := range r.Operations {
		for _, s := range op.Statements {
			if statements++; s.Text == "" || s.S <= 0 || s.Share <= 0 || s.Share > 1 {
				t.Errorf("%s: statement %+v", op.ID, s)
			}
		}
	}
	if statements == 0 {
		t.Error("no operation has statements")
	}
}

func TestRunStoppedByHandKeepsTheResultsSoFar(t *testing.T) {
	o := base(t)
	endless(&o)
	ctx, stop := context.WithCancel(t.Context())
	o.Progress = func(p Progress) {
		if p.Phase == Steady && p.Ops > 50 {
			stop()
		}
	}
	r := mustRun(t, ctx, o)
	if !r.Interrupted || r.Valid || r.Ops == 0 || r.Apdex == nil || !r.Audit.Clean {
		t.Errorf("interrupted %v, valid %v, %d operations, audit %+v", r.Interrupted, r.Valid, r.Ops, r.Audit)
	}
	if !strings.Contains(fmt.Sprint(r.InvalidReasons), "stopped by the user") {
		t.Errorf("want that the user stopped it, got %q", r.InvalidReasons)
	}
}

func TestWorkerKilledInMidRunIsReported(t *testing.T) {
	o := base(t)
	endless(&o)
	var killed atomic.Bool
	o.Progress = func(p Progress) {
		if p.Phase == Steady && p.Ops > 0 && !killed.Swap(true) {
			killWorker(t)
		}
	}
	r := mustRun(t, t.Context(), o)
	if r.Valid || !strings.Contains(fmt.Sprint(r.InvalidReasons), "worker 1 died: signal: killed") ||
		len(r.Events) == 0 {
		t.Errorf("valid %v, reasons %q, events %+v", r.Valid, r.InvalidReasons, r.Events)
	}
	if rec := r.Reconciliation; rec == nil || !rec.Done || slices.ContainsFunc(rec.Rows, result.Reconciled.Differs) {
		t.Errorf("want a reconciliation without difference, got %+v", rec)
	}
	if r.Interrupted || r.Ops == 0 || !r.Audit.Clean {
		t.Errorf("%d operations, interrupted %v, audit %+v", r.Ops, r.Interrupted, r.Audit)
	}
}

func TestForeignWorkerThatIsGoneIsReported(t *testing.T) {
	o := base(t)
	command := append(slices.Clone(o.Serve), "--listen", loopback.Address(t)) // where no other test's worker answers
	w, err := worker.Start(t.Context(), command, o.ServeEnv, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Kill)
	o.URLs = []string{w.URL}
	end := endedByHand(t, &o)
	var killed, seen atomic.Bool
	o.Progress = func(p Progress) {
		if p.Phase == Steady && !killed.Swap(true) {
			w.Kill()
		}
		if p.Errors > 0 && !seen.Swap(true) {
			end()
		}
	}
	r := mustRun(t, t.Context(), o)
	if r.Valid || !strings.Contains(fmt.Sprint(r.InvalidReasons), "does not answer") || r.Errors == 0 {
		t.Errorf("valid %v, reasons %q, %d errors", r.Valid, r.InvalidReasons, r.Errors)
	}
	if r.Conditions.CPU.Workers != nil {
		t.Errorf("the processor share of a worker that is not ours: %v", *r.Conditions.CPU.Workers)
	}
}

// A worker that hangs has not died, and its users wait without being counted more than once.
func TestWorkerThatHangsIsReported(t *testing.T) {
	o := base(t)
	o.Timeout, o.Drain = 2*time.Second, 3*time.Second
	// When the result is stored it continues, so that nobody waits for it to stop.
	o.Store = store.Open(t.TempDir()).WithPage(func(w io.Writer, r *result.Result) error {
		signalWorker(t, syscall.SIGCONT)
		return page(w, r)
	})
	end := endedByHand(t, &o)
	var hangs, seen atomic.Bool
	o.Progress = func(p Progress) {
		if p.Phase == Steady && p.Ops > 0 && !hangs.Swap(true) {
			signalWorker(t, syscall.SIGSTOP)
		}
		if p.Errors > 0 && !seen.Swap(true) {
			end()
		}
	}
	r := mustRun(t, t.Context(), o)
	if r.Valid || !strings.Contains(fmt.Sprint(r.InvalidReasons), "does not answer") || r.Errors == 0 ||
		!r.Audit.Clean {
		t.Errorf("valid %v, reasons %q, %d errors", r.Valid, r.InvalidReasons, r.Errors)
	}
}

func killWorker(t *testing.T) { signalWorker(t, syscall.SIGKILL) }

// signalWorker signals the only child of this process that is a worker.
func signalWorker(t *testing.T, signal syscall.Signal) {
	children, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Error(err)
	}
	for _, thread := range children {
		text, _ := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
		for _, child := range strings.Fields(string(text)) {
			environment, _ := os.ReadFile("/proc/" + child + "/environ")
			if !strings.Contains(string(environment), workertest.Variable+"=") {
				continue
			}
			var pid int
			_, _ = fmt.Sscan(child, &pid)
			if err := syscall.Kill(pid, signal); err != nil {
				t.Error(err)
			}
		}
	}
}

// The server is lost in mid-run: first it is restarted, then it recovers from the death of a session.
func TestDatabaseLostInMidRunIsReported(t *testing.T) {
	c, err := cluster.Open(clustertest.State(t)).Create(t.Context(), "lost", clustertest.Copied(clustertest.Spec()))
	if err != nil {
		t.Fatal(err)
	}
	server, err := c.Start(t.Context(), cluster.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(context.Background(), cluster.Immediate); err != nil {
			t.Error(err)
		}
	}()
	o := filled(t, c.DSN(""))
	t.Run("Restarted", func(t *testing.T) { server = restartedInMidRun(t, c, server, o) })
	t.Run("Recovered", func(t *testing.T) { recoveredInMidRun(t, o) })
}

func restartedInMidRun(t *testing.T, c *cluster.Cluster, server *cluster.Postmaster, o Options) *cluster.Postmaster {
	end := endedByHand(t, &o)
	restarted := make(chan *cluster.Postmaster, 1)
	var once atomic.Bool
	o.Progress = func(p Progress) {
		if p.Phase == Steady && p.Ops > 0 && !once.Swap(true) {
			go func() {
				if err := server.Stop(context.Background(), cluster.Immediate); err != nil {
					t.Error(err)
				}
				again, err := c.Start(context.Background(), cluster.StartOptions{})
				if err != nil {
					t.Error(err)
				}
				end()
				restarted <- again
			}()
		}
	}
	r := mustRun(t, t.Context(), o)
	if r.Valid || !strings.Contains(fmt.Sprint(r.InvalidReasons), "restarted in mid-run") || len(r.Events) == 0 {
		t.Errorf("valid %v, reasons %q", r.Valid, r.InvalidReasons)
	}
	if !r.Audit.Done {
		t.Errorf("the server came back, but: %+v", r.Audit)
	}
	return <-restarted
}

// recoveredInMidRun: a server process that dies takes all sessions with it, although the postmaster stays.
func recoveredInMidRun(t *testing.T, o Options) {
	end := endedByHand(t, &o)
	var once atomic.Bool
	o.Progress = func(p Progress) {
		if p.Phase == Steady && p.Ops > 0 && !once.Swap(true) {
			before := begun(t, o.DSN)
			killBackend(t, o.DSN)
			if !patience.Holds(func() bool { return begun(t, o.DSN).After(before) }) {
				t.Error("the server does not come back")
			}
			end()
		}
	}
	r := mustRun(t, t.Context(), o)
	if r.Valid || !strings.Contains(fmt.Sprint(r.InvalidReasons), "crashed and recovered in mid-run") ||
		len(r.Events) == 0 {
		t.Errorf("valid %v, reasons %q, events %v", r.Valid, r.InvalidReasons, r.Events)
	}
	for _, e := range resulttest.Events(r) {
		if e.AtS < 0 || e.AtS > r.Finished.Sub(r.Started).Seconds() {
			t.Errorf("want an event within the run, got %+v", e)
		}
	}
}

// begun is when the server's oldest process except the postmaster started; all of them start again after a crash. A
// server that does not answer has no such time.
func begun(t *testing.T, dsn string) (at time.Time) {
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		return at
	}
	defer conn.Close(t.Context())
	_ = conn.QueryRow(t.Context(), "SELECT min(backend_start) FROM pg_stat_activity").Scan(&at)
	return at
}

// killBackend kills its own session, as the kernel kills a process that uses too much memory.
func killBackend(t *testing.T, dsn string) {
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(t.Context())
	if err := syscall.Kill(int(conn.PgConn().PID()), syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

func TestForeignWorkerThatBeganAnewIsReported(t *testing.T) {
	o := base(t)
	command := append(slices.Clone(o.Serve), "--listen", loopback.Address(t))
	w, err := worker.Start(t.Context(), command, o.ServeEnv, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.URLs = []string{w.URL}
	end := endedByHand(t, &o)
	again := make(chan *worker.Worker, 1)
	var once atomic.Bool
	o.Progress = func(p Progress) {
		if p.Phase == Steady && p.Ops > 0 && !once.Swap(true) {
			w.Kill()
			next, err := worker.Start(context.Background(), command, o.ServeEnv, nil)
			if err != nil {
				t.Error(err)
			}
			again <- next
			end()
		}
	}
	r := mustRun(t, t.Context(), o)
	(<-again).Kill()
	if r.Valid || !strings.Contains(fmt.Sprint(r.InvalidReasons), "was started again in mid-run") ||
		len(r.Events) == 0 {
		t.Errorf("valid %v, reasons %q, events %v", r.Valid, r.InvalidReasons, r.Events)
	}
	if len(r.Cost.Requests) != 0 {
		t.Errorf("counts of two lives are held against each other: %+v", r.Cost.Requests)
	}
}

func TestForeignWorkerOnAnotherDatabaseIsRefused(t *testing.T) {
	o := base(t)
	w, err := worker.Start(t.Context(), o.Serve, o.ServeEnv, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Kill)
	other := base(t)
	other.URLs = []string{w.URL}
	r, err := Run(t.Context(), other)
	if r != nil || problem.ClassOf(err) != problem.Usage || !strings.Contains(err.Error(), "another database") ||
		problem.HintOf(err) == "" {
		t.Errorf("result %v, %v", r, err)
	}
}

func TestRunThatCannotBeMade(t *testing.T) {
	good := Options{Load: load.Default(), DSN: clustertest.Database(t).Secret(), Serve: []string{"/bin/false"}}
	for _, c := range []struct {
		name   string
		change func(*Options)
		class  problem.Class
		says   string
	}{
		{"NoDatabase", func(o *Options) { o.DSN = "" }, problem.Usage, "no database"},
		{"NoWorker", func(o *Options) { o.Serve = nil }, problem.Usage, "no application server"},
		{"NegativeUsers", func(o *Options) { o.Users = -1 }, problem.Usage, "-1 users"},
		{"DatabaseIsNotThere", func(o *Options) { o.DSN = "host=/nowhere dbname=x" }, problem.Environment,
			"inspect the database server"},
		{"WorkerNeverComesUp", func(*Options) {}, problem.Environment, "exited before it listened"},
		{"ForeignWorkerDoesNotAnswer", func(o *Options) { o.URLs = []string{"http://127.0.0.1:1"} },
			problem.Environment, "does not answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := good
			c.change(&o)
			r, err := Run(t.Context(), o)
			if r != nil || err == nil || problem.ClassOf(err) != c.class || !strings.Contains(err.Error(), c.says) {
				t.Errorf("result %v, error %v of class %v", r, err, problem.ClassOf(err))
			}
		})
	}
}

func TestRunOfAScenarioDoesWhatItSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "night.toml")
	text := `
refused = 0
backdated = 1.0
[roles.poster]
users = 30
weights = { "goods_receipt.post" = 1 }
think = { mean = "1s", distribution = "constant" }
[roles.looker]
users = 10
weights = { "items.search" = 1 }
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := base(t)
	var err error
	if o.Scenario, err = scenario.Read(path); err != nil {
		t.Fatal(err)
	}
	o.Users, o.Think = 0, nil
	today := time.Now().Add(-12 * time.Hour) // begins at the same moment after the run
	before := receipts(t, o.DSN, today)
	r := mustRun(t, t.Context(), o)
	load := r.Conditions.Load
	if r.Users != 40 || load.Scenario.Name != "night" || load.Scenario.Digest != o.Scenario.Digest() ||
		len(load.Roles) != 2 || load.Think.Distribution != "mixed" {
		t.Errorf("%d users, %+v", r.Users, load)
	}
	if len(r.Operations) != 2 || r.Operations[0].ID != "goods_receipt.post" || r.Operations[0].OK == 0 ||
		r.Refused != 0 {
		t.Errorf("want the two operations of the scenario, got %+v", r.Operations)
	}
	if after := receipts(t, o.DSN, today); after[0] <= before[0] || after[1] != before[1] {
		t.Errorf("receipts in all and of today: %v before, %v after, though all are back-dated", before, after)
	}
}

// receipts counts all, and those of today.
func receipts(t *testing.T, dsn string, today time.Time) (n [2]int) {
	t.Helper()
	conn := clustertest.Connect(t, dsn, "")
	defer conn.Close(context.Background())
	const sql = "SELECT count(*), count(*) FILTER (WHERE date > $1) FROM doc_goods_receipt"
	if err := conn.QueryRow(t.Context(), sql, today).Scan(&n[0], &n[1]); err != nil {
		t.Fatal(err)
	}
	return n
}

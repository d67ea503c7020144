package compare

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/waits"
	"plimsoll/ground/problem"
	"plimsoll/lab/load"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
	"plimsoll/lab/run/store"
	"plimsoll/lab/system"
	"plimsoll/test/files"
	"plimsoll/test/patience"
	"plimsoll/web/browsertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// program is a command with known figures: 100 ms plus an amount for each round, times a factor. In one round it
// reports once that it was disturbed.
func program(t *testing.T, factor, voidRound string) []string {
	t.Helper()
	return script(t, `if [ "$PLIMSOLL_COMPARE_ROUND" = "`+voidRound+`" ] && [ ! -e "$0.void" ]; then
	touch "$0.void"
	echo '{"void": "a neighbour"}'
	exit
fi
echo starting
ms=$(( (100 + PLIMSOLL_COMPARE_ROUND % 3) * `+factor+` / 100 ))
echo '{"figures": {"latency_ms": '$ms', "done_per_s": 5}, "operations": {"post": {"latency_ms": '$ms'}}}'
`)
}

// script is the command of a new shell script.
func script(t *testing.T, text string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bench")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return []string{path}
}

func programs(t *testing.T, factor string) Options {
	return Options{Sides: []Side{{System: system.System{Name: "old"}, Command: program(t, "100", "2")},
		{System: system.System{Name: "new <b>"}, Command: program(t, factor, "")}},
		Pairs: 6, Margin: MarginDefault, Seed: 3,
		Store: OpenStore(t.TempDir())}
}

func compared(t *testing.T, o Options) *Comparison {
	t.Helper()
	c, err := Compare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompare_Commands(t *testing.T) {
	for factor, want := range map[string]verdict.Verdict{"100": verdict.Equal, "120": verdict.Worse,
		"80": verdict.Better} {
		c := compared(t, programs(t, factor))
		f := c.Findings[0]
		if f.Verdict != want || !c.Complete || f.Tables[0].Rows[1].Verdict != want {
			t.Errorf("%s: %s, complete %v, %+v", factor, c.Statement(), c.Complete, f.Tables)
		}
		void := slices.IndexFunc(c.Runs, func(r Replica) bool { return r.Void == "a neighbour" })
		if void < 0 || c.Runs[void+1].Side != c.Runs[void].Side || c.Runs[void+1].Round != 2 {
			t.Errorf("the void run is not made again: %+v", c.Runs)
		}
	}
}

// reporting is a command that prints the result of a run whose operations take a known time.
func reporting(t *testing.T, factor string, change func(*result.Result)) []string {
	t.Helper()
	r := resulttest.Overloaded(t)
	r.InvalidReasons, r.Valid = nil, true
	for i := range r.Operations {
		op := &r.Operations[i]
		op.Ops, op.OK, op.Refused, op.Errors, op.Overload = 1000, 1000, 0, 0, 0
		mean := 77125.0
		op.Latency.Mean, op.LatencyAll = &mean, &op.Latency
	}
	change(r)
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return script(t, "ms=$(( (100 + PLIMSOLL_COMPARE_ROUND % 3) * "+factor+" / 100 ))\n"+
		"sed s/77125/$ms/ <<'END'\n"+string(text)+"\nEND\nexit 3\n")
}

// A command may print the result of 'plimsoll run --json', which ends with an exit code where a target is missed.
func TestCompare_RunsOfOtherPrograms(t *testing.T) {
	side := func(factor string, change func(*result.Result)) []string { return reporting(t, factor, change) }
	same := func(*result.Result) {}
	o := programs(t, "")
	o.Sides[0].Command, o.Sides[1].Command = side("100", same), side("120", same)
	c := compared(t, o)
	if f := c.Findings[0]; f.Verdict != verdict.Worse || !c.Complete || c.Runs[0].Run == "" {
		t.Errorf("%s, complete %v", c.Statement(), c.Complete)
	}
	if sale := c.Runs[0].Figures["goods_sale.post"]; sale[MetricDefault] < 100 || sale["apdex"] == 0 {
		t.Errorf("figures of an operation: %v", sale)
	}

	o = programs(t, "")
	o.Sides[0].Command = side("100", same)
	o.Sides[1].Command = side("100", func(r *result.Result) { // as from an older program: without a cause
		r.InvalidReasons, r.Valid = []string{"the machine slept"}, false
	})
	c = compared(t, o)
	void := slices.IndexFunc(c.Runs, func(r Replica) bool { return r.Void == "the machine slept" })
	if c.Stopped != ByVoid || void < 0 {
		t.Errorf("invalid runs count: %s", c.Statement())
	}

	for want, change := range map[string]func(*result.Result){
		"worker 2 died": func(r *result.Result) {
			r.InvalidReasons, r.InvalidCauses = []string{"worker 2 died"}, []result.Cause{result.BySystem}
		},
		"was interrupted": func(r *result.Result) { r.Interrupted = true },
	} {
		o := programs(t, "")
		o.Sides[0].Command, o.Sides[1].Command = side("100", change), side("100", change)
		if _, err := Compare(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	o = programs(t, "")
	o.Metric = "seconds"
	o.Sides[0].Command, o.Sides[1].Command = side("100", same), side("100", same)
	if _, err := Compare(t.Context(), o); err == nil || !strings.Contains(err.Error(), `no figure "seconds"`) {
		t.Errorf("a figure that runs do not have: %v", err)
	}
}

func TestCompare_MoreSides(t *testing.T) {
	o := programs(t, "120")
	o.Sides = append(o.Sides, Side{System: system.System{Name: "third"}, Command: program(t, "101", "")})
	c := compared(t, o)
	if len(c.Findings) != 2 || c.Findings[0].Verdict != verdict.Worse || c.Findings[1].Verdict != verdict.Equal {
		t.Error(c.Statement())
	}
}

// A stopped comparison continues as if it had never stopped, wherever it stopped: its file is complete after each run.
func TestCompare_Resumes(t *testing.T) {
	whole := compared(t, programs(t, "104"))
	for stopAfter := 1; stopAfter < len(whole.Runs); stopAfter += 4 {
		o := programs(t, "104")
		ctx, stop := context.WithCancel(t.Context())
		ended := 0
		o.Progress = func(p Progress) {
			if p.Ended != nil {
				if ended++; ended == stopAfter {
					stop()
				}
			}
		}
		first, err := Compare(ctx, o)
		stop()
		if err != nil || first.Stopped != ByUser || len(first.Runs) != stopAfter || first.Complete {
			t.Fatalf("%v %+v", err, first)
		}
		o.Progress, o.Resume = nil, true
		rest := compared(t, o)
		if rest.ID != first.ID || !rest.Complete || turns(rest) != turns(whole) {
			t.Errorf("stopped after %d:\n%s\n%s", stopAfter, turns(rest), turns(whole))
		}
		if _, err := Compare(t.Context(), o); problem.ClassOf(err) != problem.Usage {
			t.Errorf("what is complete goes on: %v", err)
		}
	}
}

// noisy programs differ by chance alone, and a lot.
func noisy(t *testing.T, pairs int) Options {
	o := programs(t, "100")
	for i, factor := range []string{"PLIMSOLL_COMPARE_ROUND % 2 * 40", "(PLIMSOLL_COMPARE_ROUND + 1) % 2 * 40"} {
		o.Sides[i].Command = script(t, "echo '{\"figures\": {\"latency_ms\": '$((100 + "+factor+"))'}}'\n")
	}
	o.Pairs = pairs
	return o
}

// What did not decide goes on with more pairs, in the order that it would have had with them from the beginning, and
// says what error that costs.
func TestCompare_ResumesWithMorePairs(t *testing.T) {
	o := noisy(t, 5)
	first := compared(t, o)
	if !first.Complete || first.Findings[0].Verdict != verdict.Inconclusive {
		t.Fatal(first.Statement())
	}
	o.Pairs, o.Resume = 4, true
	if _, err := Compare(t.Context(), o); problem.ClassOf(err) != problem.Usage {
		t.Errorf("fewer pairs: %v", err)
	}
	o.Pairs = 8
	c := compared(t, o)
	if c.ID != first.ID || len(c.Runs) != 16 || turns(c) != turns(compared(t, noisy(t, 8))) {
		t.Errorf("%d runs: %s", len(c.Runs), turns(c))
	}
	var text strings.Builder
	if err := c.Text(&text); err != nil || !strings.Contains(text.String(), "the error rate is at most 7.5 %") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// A setting of the whole server is there in each run of its side, and not in those of the other.
func TestCompare_RestartsTheServer(t *testing.T) {
	var started []string
	o := Options{Sides: []Side{server(t), {}}, Pairs: verdict.RunsMin, Margin: MarginDefault, Seed: 1}
	o.Sides[0].Restart = func(_ context.Context, settings map[string]string) error {
		started = append(started, settings["max_wal_size"])
		return errors.New("enough")
	}
	o.Sides[1] = o.Sides[0]
	o.Sides[1].Settings = map[string]string{"max_wal_size": "2GB", "work_mem": "77MB"}
	s, err := begin(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Sides {
		if _, err := s.run(t.Context(), turn{Load, 1, i}); err == nil || !strings.Contains(err.Error(), "enough") {
			t.Errorf("%v, want the server's refusal of the settings", err)
		}
	}
	if !slices.Equal(started, []string{"", "2GB"}) {
		t.Errorf("started with %q", started)
	}
	if dsn := s.Sides[1].connection(s.Sides[1].Run.DSN); !strings.Contains(dsn, "work_mem") ||
		strings.Contains(dsn, "max_wal_size") {
		t.Error("sessions ask for settings of the server, or not for their own")
	}
	if !s.Plan.Restarted {
		t.Error("the plan does not say that the server is restarted")
	}
}

// The page, wide and narrow, light and dark.
func TestPageInABrowser(t *testing.T) {
	c := compared(t, programs(t, "120"))
	var page strings.Builder
	if err := c.HTML(&page); err != nil {
		t.Fatal(err)
	}
	file := files.Write(t, t.TempDir(), "compare.html", page.String())
	v := browsertest.Open(t, "file://"+file)
	v.Quiet(t)
	head := browsertest.Ask[string](t, v, `document.querySelector("h1").innerText`)
	if !strings.Contains(head, "B is worse than A: mean latency +") {
		t.Errorf("headline %q", head)
	}
	side := browsertest.Ask[float64](t, v, `(() => { const box = e => e.getBoundingClientRect();
		const middle = box(document.querySelector(".differences .equal")).left;
		return box(document.querySelector(".differences circle.worse")).left - middle; })()`)
	if side <= 0 {
		t.Errorf("the worse side's latency is drawn %v to the right of no difference", side)
	}
	v.Look(t, "compare")
	// the last width is the narrow one
	if out := browsertest.Ask[int](t, v, `[...document.querySelectorAll(".differences circle, .differences .effect")]
		.filter(e => e.getBoundingClientRect().right > innerWidth - 8).length`); out > 0 {
		t.Errorf("%d parts of the narrow drawing are out of sight", out)
	}
}

// The page of a system that fails says so first, and fits a narrow window, too.
func TestPageInABrowser_OfASystemThatFails(t *testing.T) {
	o := programs(t, "")
	o.Sides[0].Command = reporting(t, "130", outcomes(1000, 0, 0, 0))
	o.Sides[1].Command = reporting(t, "100", outcomes(900, 0, 0, 100))
	var page strings.Builder
	if err := compared(t, o).HTML(&page); err != nil {
		t.Fatal(err)
	}
	v := browsertest.Open(t, "file://"+files.Write(t, t.TempDir(), "compare.html", page.String()))
	v.Quiet(t)
	head := browsertest.Ask[string](t, v, `document.querySelector("h1").innerText`)
	if !strings.Contains(head, "B is worse than A: 10.0 % of its operations failed, 0.0 % of those of A; ") {
		t.Errorf("headline %q", head)
	}
	v.Look(t, "compare-failing")
}

func turns(c *Comparison) (all string) {
	for _, r := range c.Runs {
		all += r.Side
		if r.Void != "" {
			all += "(void)"
		}
	}
	return all
}

func TestCompare_Budget(t *testing.T) {
	o := programs(t, "120")
	o.Budget = time.Nanosecond
	c := compared(t, o)
	if c.Stopped != ByBudget || c.Complete || len(c.Runs) != 0 || c.Findings[0].Verdict != verdict.TooFew {
		t.Errorf("comparison %+v, want it stopped by its budget before the first run", c)
	}
}

func TestCompare_Mistakes(t *testing.T) {
	for text, want := range map[string]string{
		"echo no":                            "last output line is not JSON",
		"echo broken >&2; exit 7":            "exit status 7: broken",
		`echo '{"figures": {"seconds": 1}}'`: `no figure "latency_ms"`,
	} {
		o := programs(t, "100")
		o.Sides[1].Command = script(t, text)
		o.Sides[0].Command = script(t, text)
		_, err := Compare(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		if left, _ := os.ReadDir(o.Store.Root); len(left) > 0 {
			t.Errorf("%s: leaves %v", text, left)
		}
	}
}

// A command that is stopped ends together with everything that it started.
func TestCompare_EndsItsCommand(t *testing.T) {
	o := programs(t, "100")
	mark := filepath.Join(t.TempDir(), "ended")
	command := script(t, "trap 'touch "+mark+"; exit' TERM\ntouch "+mark+".began\nsleep 1000 & wait\n")
	o.Sides[0].Command, o.Sides[1].Command = command, command
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer stop()
		patience.Holds(func() bool { _, err := os.Stat(mark + ".began"); return err == nil })
	}()
	c, err := Compare(ctx, o)
	if err != nil || c.Stopped != ByUser {
		t.Errorf("%v %+v", err, c)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error("the command was not asked to end")
	}
}

func TestComparison_IsShown(t *testing.T) {
	o := programs(t, "120")
	c := compared(t, o)
	again, err := o.Store.Load(kept.Latest)
	if err != nil {
		t.Fatal(err)
	}
	one, _ := json.Marshal(c)
	other, _ := json.Marshal(again)
	if string(one) != string(other) {
		t.Errorf("kept otherwise:\n%s\n%s", one, other)
	}
	var text, html strings.Builder
	if err := again.Text(&text); err != nil {
		t.Fatal(err)
	}
	if err := again.HTML(&html); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"B is worse than A: mean latency +1", "1 run was void and repeated", "A/A floor"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("lacks %q:\n%s", part, text.String())
		}
	}
	if page := html.String(); !strings.Contains(page, "new &lt;b&gt;") || strings.Contains(page, "<b>") ||
		!strings.Contains(page, "Differences with their intervals") {
		t.Error("the page lacks something, or holds names as they are")
	}
}

func TestWaits_OfOneSideAlone(t *testing.T) {
	c := &Comparison{Plan: Plan{Sides: make([]Described, 2), Margin: MarginDefault, Looks: verdict.Looks(4), Pairs: 4}}
	for round := 1; round <= 4; round++ {
		for _, side := range []string{"A", "B"} {
			r := Replica{Phase: Load, Round: round, Side: side, Waits: &waits.Profile{Samples: 10},
				Figures: map[string]map[string]float64{"": {"ops_per_s": 100}}}
			add := func(event string) {
				r.Waits.Events = append(r.Waits.Events, waits.Wait{Type: "LWLock", Event: event, Sessions: 1})
			}
			if side == "B" {
				add("Each")
			}
			if side == "A" && round == 2 {
				add("Once")
			}
			c.Runs = append(c.Runs, r)
		}
	}
	only := map[string]string{}
	for _, w := range c.waits(c.dataOf(Load, 0), 1, verdict.Alpha) {
		only[w.Event] = w.OnlyIn
		if w.Event == "Each" && w.Variant != 10 {
			t.Errorf("%v ms of waiting for each operation, want 10", w.Variant)
		}
	}
	if len(only) != 2 || only["Each"] != "B" || only["Once"] != "" {
		t.Errorf("events on one side only: %v, want Each on B and Once on both", only)
	}
}

// server is a real database with a custom scenario. Every user acts each second, so that even a busy machine makes
// enough operations.
func server(t *testing.T) Side {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own.toml")
	text := `
application = "none"
users = 300
[think]
mean = "400ms"
[sql]
connections = 4
reset = "TRUNCATE done"
[operations.work]
target = "30s"
sql = "INSERT INTO done VALUES (current_setting('application_name') || ' ' || current_setting('work_mem'));"
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	dsn := clustertest.Database(t).Secret()
	clustertest.Exec(t, dsn, "CREATE TABLE done (by text)")
	l := load.Default()
	l.Scenario, l.Users, l.Ramp, l.Duration, l.Drain = s, 0, 0, time.Second, patience.Max
	return Side{System: system.System{Name: "own", Reset: system.ResetAuto, Run: run.Options{Load: l, DSN: dsn,
		LagLimit: time.Hour, Store: store.Open(t.TempDir())}}}
}

// fewUsers are enough where figures do not matter.
const fewUsers = 120

func TestCompare_RealServer(t *testing.T) {
	side := server(t)
	o := Options{Sides: []Side{side, side}, Pairs: verdict.RunsMin, Margin: MarginDefault, Seed: 1,
		Store: OpenStore(t.TempDir())}
	o.Sides[1].Settings = map[string]string{"work_mem": "77MB"}
	o.Sides[1].SQL = "INSERT INTO done VALUES ('by its SQL'); INSERT INTO done VALUES ('by its SQL')"
	o.Progress = func(p Progress) {
		if p.Ended == nil {
			return
		}
		want := map[string]int{"A": 0, "B": 2}[p.Side]
		if n := clustertest.Exec(t, side.Run.DSN, "SELECT count(*)::int FROM done WHERE by = 'by its SQL'"); n != want {
			t.Errorf("%s: %d rows of the SQL", p.Side, n)
		}
		all := clustertest.Exec(t, side.Run.DSN, "SELECT count(*)::int FROM done WHERE by <> 'by its SQL'")
		set := clustertest.Exec(t, side.Run.DSN, "SELECT count(*)::int FROM done WHERE by LIKE '% 77MB'")
		if all == 0 || p.Side == "A" && set > 0 || p.Side == "B" && set != all {
			t.Errorf("%s: %d of %d operations with the setting", p.Side, set, all)
		}
	}
	c := compared(t, o)
	if !c.Complete || len(c.Findings) != 1 || c.Findings[0].Verdict == verdict.TooFew || c.Floor == nil {
		t.Fatalf("%s %+v", c.Statement(), c)
	}
	for _, r := range c.Runs {
		if r.Void != "" {
			continue
		}
		for _, name := range []string{"ops_per_s", "apdex"} {
			if _, found := r.Figures[""][name]; !found {
				t.Errorf("no %s: %+v", name, r.Figures)
			}
		}
		if r.Figures["work"][MetricDefault] <= 0 || r.Waits == nil {
			t.Errorf("run %+v, want a latency and waits", r)
		}
	}
}

// Two servers elsewhere keep what their runs write; nobody restored them. The low-load control and the cold start are
// of each side, and what a cold start could not do is said.
func TestCompare_ServersThatMustNotBeReset(t *testing.T) {
	t.Parallel() // it waits more than it works
	one, two := server(t), server(t)
	one.Run.Users, two.Run.Users = fewUsers, fewUsers
	cold := map[string]int{}
	start := func(name, missing string) func(context.Context, map[string]string) ([]string, error) {
		return func(context.Context, map[string]string) ([]string, error) {
			cold[name]++
			return []string{missing}, nil
		}
	}
	one.Reset, two.Reset = system.ResetNone, system.ResetNone
	one.Cold, two.Cold = start("A", "one stays warm"), two.StartCold
	o := Options{Sides: []Side{one, two}, Pairs: verdict.RunsMin, Margin: MarginDefault, Seed: 1, Control: true}
	rows := func(s Side) int { return clustertest.Exec(t, s.Run.DSN, "SELECT count(*)::int FROM done") }
	before := map[string]int{}
	o.Progress = func(p Progress) {
		if p.Ended == nil || p.Ended.Void != "" {
			return
		}
		side := map[string]Side{"A": one, "B": two}[p.Side]
		if n := rows(side); n <= before[p.Side] {
			t.Errorf("%s: %d rows after a run, %d before it", p.Side, n, before[p.Side])
		} else {
			before[p.Side] = n
		}
	}
	c := compared(t, o)
	control := len(c.dataOf(Control, 0)[1])
	if !c.Complete || control != controlRounds || c.Findings[0].AtOneUser == nil || cold["A"] < 2*verdict.RunsMin {
		t.Errorf("complete %v, %d runs of one user, %+v, %v", c.Complete, control, c.Findings[0].AtOneUser, cold)
	}
	var text strings.Builder
	if err := c.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"B is not restored between runs", "A: cold start: one stays warm",
		"B: cold start: the server is not restarted", "one user without think time"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("lacks %q:\n%s", part, text.String())
		}
	}
}

func TestSide_RefusesWhatWouldStay(t *testing.T) {
	side := server(t)
	for name, c := range map[string]struct {
		change func(*Side)
		want   string
	}{
		"ServerSetting": {func(s *Side) { s.Settings = map[string]string{"max_wal_size": "2GB"} },
			"of the whole server, which this command did not start"},
		"FixedSetting":  {func(s *Side) { s.Settings = map[string]string{"block_size": "4096"} }, "is fixed when"},
		"NoSuchSetting": {func(s *Side) { s.Settings = map[string]string{"my_memory": "1MB"} }, "no setting"},
		"WrongValue": {func(s *Side) { s.Settings = map[string]string{"work_mem": "much"} },
			"refuses the settings"},
		"SQLThatStays":  {func(s *Side) { s.SQL, s.Reset = "SELECT 1", system.ResetNone }, "would accumulate"},
		"RestoredTwice": {func(s *Side) { s.Restore.SQL = "DELETE FROM done" }, "would be restored twice"},
		"ServersThatRun": {func(s *Side) { s.Settings, s.Run.URLs = map[string]string{"a": "b"}, []string{"x"} },
			"that are already running"},
	} {
		one := side
		c.change(&one)
		if err := one.check(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	side.Reset, side.SQL, side.Restore.SQL = system.ResetNone, "SELECT 1", "DELETE FROM done"
	if err := side.check(t.Context()); err != nil {
		t.Errorf("SQL of a side that is restored: %v", err)
	}
	if c, err := begin(t.Context(), Options{Sides: []Side{side, side}}); err != nil || len(c.Warnings) != 0 {
		t.Errorf("a side that is restored is warned of: %v, %v", c, err)
	}
	side.SQL, side.Restore = "", system.Restore{}
	c, err := begin(t.Context(), Options{Sides: []Side{side, side}})
	if err != nil || len(c.Warnings) != 2 {
		t.Errorf("nobody is warned: %v", err)
	}
}

// An operation that always fails has no latency: without it the two systems would be equal.
func TestVoid_OfAnOperationThatAlwaysFails(t *testing.T) {
	made := func(posted int64) *result.Result {
		post := result.Operation{ID: "post", Totals: result.Totals{Ops: 50, OK: posted, Errors: 50 - posted}}
		list := result.Operation{ID: "list", Totals: result.Totals{Ops: 50, OK: 50}}
		return &result.Result{ID: "r", Operations: []result.Operation{list, post}}
	}
	if why, err := void(made(0), Load); err == nil || why != "" || !strings.Contains(err.Error(), "post never got") {
		t.Errorf("%q, %v", why, err)
	}
	if why, err := void(made(1), Load); err != nil || why != "" {
		t.Errorf("%q, %v", why, err)
	}
}

// A server that must not be reset is restored by its owner's SQL or command before each run, or each run would see
// what the others wrote.
func TestCompare_PutsASideBackBeforeEachRun(t *testing.T) {
	t.Parallel() // it waits more than it works
	one, two := server(t), server(t)
	log := filepath.Join(t.TempDir(), "cleared")
	one.Run.Users, two.Run.Users = fewUsers, fewUsers
	one.Reset, two.Reset = system.ResetNone, system.ResetNone
	one.Restore.SQL = "DELETE FROM done; INSERT INTO cleared SELECT count(*) FROM done"
	two.Restore.Command = []string{"sh", "-c", `echo "$PLIMSOLL_COMPARE_SIDE" >> "$1"`, "sh", log}
	runs := map[string]int{}
	o := Options{Sides: []Side{one, two}, Pairs: verdict.RunsMin, Margin: MarginDefault, Seed: 1,
		Progress: func(p Progress) {
			if p.Ended != nil {
				runs[p.Side]++
			}
		}}
	clustertest.Exec(t, one.Run.DSN, "CREATE TABLE cleared (rows bigint)")
	c := compared(t, o)
	lines, err := os.ReadFile(log)
	if err != nil || strings.Count(string(lines), "B\n") != runs["B"] || len(c.Warnings) != 0 {
		t.Errorf("%d runs of B, restored %q, %v, %q", runs["B"], lines, err, c.Warnings)
	}
	if times := rowsOf(t, one, "cleared"); runs["A"] < verdict.RunsMin || times != runs["A"] {
		t.Errorf("%d runs of A, restored %d times", runs["A"], times)
	}
	var text strings.Builder
	if err := c.Text(&text); err != nil || !strings.Contains(text.String(), "restored before each run by: DELETE "+
		"FROM") {
		t.Errorf("%v:\n%s", err, text.String())
	}
}

func rowsOf(t *testing.T, s Side, table string) int {
	t.Helper()
	return clustertest.Exec(t, s.Run.DSN, "SELECT count(*)::int FROM "+table)
}

// A command that cannot restore its side ends the comparison.
func TestCompare_EndsWhenASideIsNotRestored(t *testing.T) {
	o := programs(t, "100")
	o.Sides[1].Restore.Command = []string{"sh", "-c", "echo the disk is full >&2; exit 3"}
	if _, err := Compare(t.Context(), o); err == nil || !strings.Contains(err.Error(), "restore it") ||
		!strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("a failed restore command: %v, want its words", err)
	}
	o.Sides[1].Restore = system.Restore{SQL: "SELECT 1"}
	if _, err := Compare(t.Context(), o); err == nil || !strings.Contains(err.Error(), "a command has no database") {
		t.Errorf("SQL for a command: %v, want it refused", err)
	}
}

package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/line"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/recorded/mix"
	"plimsoll/lab/recorded/replay"
	"plimsoll/lab/recorded/sample/sampletest"
	"plimsoll/lab/recorded/score"
)

// A recorded time of a 1C server, scored, played again under a mask, and compared on two copies of its base. Targets
// are so long that all is in time, however busy the machine is.
func TestRecorded_ScoredReplayedCompared(t *testing.T) {
	state := freshState(t)
	day := sampletest.Record(t, sampletest.Options{Users: 3, Each: 6, Pause: 150 * time.Millisecond})
	log, targets := day.Folder(t, nil), filepath.Join(state, "targets.csv")
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(day.Truth.Calls)) {
		fmt.Fprintf(&lines, "%s;60\n", name)
	}
	if err := os.WriteFile(targets, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}

	scored := plimsoll(t, "score", log, "--targets", targets, "--json")
	scored.want(t, ExitOK)
	var s score.Result
	scored.decode(t, &s)
	calls := map[string]int64{}
	for _, op := range s.Operations {
		calls[op.Name] = op.N
	}
	if !maps.Equal(calls, day.Truth.Calls) || s.Apdex != 1 || s.Unscored.OfAll != day.Truth.Statements {
		t.Errorf("%v, want %v, %s", calls, day.Truth.Calls, scored.stdout)
	}

	rules := filepath.Join(state, "personal.toml")
	if err := os.WriteFile(rules, []byte(`columns = ["_reference18._description"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	base := sampletest.Base(t)
	plimsoll(t, "replay", log, "--dsn", base).want(t, ExitUsage, "change the database", "add --yes")
	again := plimsoll(t, "replay", log, "--dsn", base, "--yes", "--targets", targets, "--mask", rules, "--mask-base",
		"--json")
	again.want(t, ExitOK)
	var r replay.Result
	again.decode(t, &r)
	if f := r.Fidelity; f.Read != day.Truth.Statements || f.Replayed != f.Read || !f.Faithful() ||
		f.MaskedInBase == 0 || r.Replayed.Apdex != 1 {
		t.Errorf("%s: %s", day, again.stdout)
	}
	worn := plimsoll(t, "replay", log, "--dsn", base, "--yes", "--speed", "max") // it was played on this one before
	worn.want(t, ExitThreshold, "the replay is not faithful", "play on a new copy")
	if !strings.Contains(worn.stdout, "which is below 99.5 %") || strings.Count(worn.stdout, "SQLSTATE 25P02") > 1 {
		t.Errorf("want the limit, and no example twice:\n%s", worn.stdout)
	}

	o := plimsoll(t, "compare", "--dsn-a", sampletest.Base(t), "--dsn-b", sampletest.Base(t), "--reset", "template",
		"--replay", log, "--targets", targets, "--speed", "4", "--pairs", "4", "--json")
	o.want(t, ExitOK)
	var c compare.Comparison
	o.decode(t, &c)
	if len(c.Runs) != 2*verdict.RunsMin || c.Findings[0].Verdict != verdict.Equal || c.Plan.Metric != "apdex" {
		t.Errorf("%d runs, %s", len(c.Runs), c.Statement())
	}
	for _, run := range c.Runs {
		if same := run.Figures[""]["statements_as_in_the_log"]; same < replay.FaithfulFrom {
			t.Errorf("round %d of %s: %v as in the log", run.Round, run.Side, same)
		}
	}
	shown := plimsoll(t, "compare", "--show", "latest", "--details")
	if shown.want(t, ExitOK); !strings.Contains(shown.stdout, "replay of ") {
		t.Error(shown.stdout)
	}

	plimsoll(t, "line", "--mask", rules).want(t, ExitUsage, "is about a replay")
	plimsoll(t, "line", "--replay", log).want(t, ExitUsage, "needs a copy of the base")
	plimsoll(t, "line", "--replay", log, "--dsn", base, "--think", "1s").want(t, ExitUsage, "the log is the load")
	found := plimsoll(t, "line", "--replay", log, "--dsn", sampletest.Base(t), "--targets", targets, "--from", "1",
		"--most", "1", "--confirmations", "1", "--json") // a third of the pace
	found.want(t, ExitOK)
	var l line.Line
	found.decode(t, &l)
	if l.Answer == nil || l.Answer.Users != 1 || len(l.Trials) != 2 || l.Plan.Replay == nil {
		t.Error(found.stdout)
	}
}

// What a server counted has no Apdex; the scenario made of it is refused until its parameters have values.
func TestScore_OfWhatAServerCounted(t *testing.T) {
	state := freshState(t)
	write := func(name, text string) string {
		path := filepath.Join(state, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const header = "queryid,query,calls,total_exec_time,rows\n"
	before := write("before.csv", header+"1,SELECT n FROM t WHERE id = $1,10,20,10\n")
	after := write("after.csv", header+"1,SELECT n FROM t WHERE id = $1,110,220,110\n2,COMMIT,100,1,0\n")
	o := plimsoll(t, "score", before, after, "--json")
	o.want(t, ExitOK)
	var m mix.Mix
	if o.decode(t, &m); m.Calls != 200 || m.Statements[0].MeanMS != 2 {
		t.Errorf("%+v", m)
	}
	text := plimsoll(t, "score", before, after)
	if text.want(t, ExitOK); !strings.Contains(text.stdout, "No Apdex") {
		t.Error(text.stdout)
	}
	plimsoll(t, "score", after, "--target", "1s").want(t, ExitUsage, "sums alone")
	plimsoll(t, "score", before, after, after).want(t, ExitUsage, "before and after")
	made := plimsoll(t, "scenario", "--from-statements", before+","+after)
	made.want(t, ExitOK, "1 operation with 50 % of the calls", "left out: 1 statement control of transactions")
	own := write("own.toml", made.stdout)
	plimsoll(t, "scenario", "check", own).want(t, ExitUsage, "nothing sets the variable o1_p1")
	const first = "\n[operations.o1]"
	write("own.toml", strings.Replace(made.stdout, first, "\n[variables]\no1_p1 = 7\n"+first, 1))
	plimsoll(t, "scenario", "check", own).want(t, ExitOK)
	plimsoll(t, "scenario", "--from-statements", own).want(t, ExitUsage, "one or two snapshots")
}

// A log that has grown is read on, and its score is of all.
func TestScore_ReadsOn(t *testing.T) {
	state := freshState(t)
	path := filepath.Join(state, "postgresql.json")
	entry := func(second int) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-28 10:00:%02d.000 UTC","user":"u","dbname":"shop","pid":7,`+
			`"error_severity":"LOG","message":"duration: 5.000 ms  statement: SELECT 1 FROM orders"}`+"\n", second)
	}
	for n, text := range []string{entry(1) + entry(2), entry(1) + entry(2) + entry(3), entry(1) + entry(2) + entry(3)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := plimsoll(t, "score", path, "--target", "1s", "--resume", "--json")
		o.want(t, ExitOK)
		var r score.Result
		if o.decode(t, &r); r.Calls != int64(strings.Count(text, "\n")) || r.Resumed == nil ||
			r.Resumed.Again != (n > 0) || r.Resumed.New != []int64{2, 1, 0}[n] {
			t.Errorf("%d: %d calls, %+v", n, r.Calls, r.Resumed)
		}
	}
	shown := plimsoll(t, "score", path, "--target", "1s", "--resume")
	if shown.want(t, ExitOK); !strings.Contains(shown.stdout, "read last: 0 events are new.") {
		t.Error(shown.stdout)
	}
	fresh := plimsoll(t, "score", path, "--target", "1s")
	if fresh.want(t, ExitOK); strings.Contains(fresh.stdout, "Read on") {
		t.Error(fresh.stdout)
	}
}

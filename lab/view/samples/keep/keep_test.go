package keep

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/view/samples"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// headOf operations, the first of priority 1.
func headOf(ids []string, targets ...time.Duration) samples.Head {
	head := samples.Head{Users: 10, From: int64(2 * time.Second), To: int64(6 * time.Second)}
	for i, id := range ids {
		op := samples.Operation{ID: id, Target: int64(time.Second), Priority: i + 1}
		if i < len(targets) {
			op.Target = int64(targets[i])
		}
		head.Operations = append(head.Operations, op)
	}
	return head
}

// sample draws an operation around a steady state from 2 s to 6 s.
func sample(t *rapid.T) tally.Sample {
	ms := func(label string, to int) time.Duration {
		return time.Duration(rapid.IntRange(0, to).Draw(t, label)) * time.Millisecond
	}
	s := tally.Sample{User: rapid.IntRange(0, 9).Draw(t, "user"), Operation: rapid.IntRange(0, 1).Draw(t, "operation"),
		Due: ms("due", 8000), Held: ms("held", 20), Resent: rapid.IntRange(0, 2).Draw(t, "resent")}
	s.Planned = s.Operation
	s.Sent = s.Due + s.Held + ms("lag", 50)
	s.Done = s.Sent + ms("service", 5000)
	if s.Outcome = tally.Outcome(rapid.IntRange(0, 3).Draw(t, "outcome")); s.Outcome == tally.Failed {
		s.Err = errors.New("broken")
	}
	return s
}

// Two ways to count the same operations: the run's, and the file's.
func TestFileCountsAsTheRunDoes(t *testing.T) {
	ids, targets := []string{"post", "list"}, []time.Duration{time.Second, 300 * time.Millisecond}
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(sample), 0, 50).Draw(t, "samples")
		path := filepath.Join(dir, "samples.parquet")
		f, err := Create(path, headOf(ids, targets...))
		if err != nil {
			t.Fatal(err)
		}
		counts := tally.New(targets, []int{1, 2}, 2*time.Second, 6*time.Second)
		for _, s := range all {
			counts.Count(s)
			f.Add(ids[s.Operation], s)
		}
		if _, err := counts.Close(1, 1, 0); err != nil {
			t.Fatal(err)
		}
		r := &result.Result{ID: "a run", Users: 10}
		r.Series.SteadyFromS, r.Series.SteadyToS = 2, 6
		for i, id := range ids {
			r.Operations = append(r.Operations, result.Operation{ID: id, TargetMS: float64(targets[i].Milliseconds()),
				Priority: i + 1})
		}
		if err := f.Close(r); err != nil {
			t.Fatal(err)
		}
		got, err := samples.Recompute(path)
		if err != nil {
			t.Fatal(err)
		}
		var printed samples.Printed
		printed.DurationS, printed.OpsPerS = 4, float64(counts.Answered)/4
		sum := counts.Outcomes()
		printed.OK, printed.Refused, printed.Overload, printed.Errors = sum[0], sum[1], sum[2], sum[3]
		printed.Ops = sum[0] + sum[1] + sum[2] + sum[3]
		printed.Resent = counts.Operations[0].Resent + counts.Operations[1].Resent
		if score, _, ok := counts.Apdex(); ok {
			printed.Apdex = &score
		}
		p50, _ := counts.Lag.Percentile(50)
		p99, _ := counts.Lag.Percentile(99)
		printed.Generator.LagMSP50, printed.Generator.LagMSP99 = p50.Seconds()*1000, p99.Seconds()*1000
		printed.Generator.LagMSMax = counts.Lag.Max().Seconds() * 1000
		if diff := got.Against(printed); len(diff) > 0 {
			t.Fatalf("%+v", diff)
		}
		for i, id := range ids {
			op, mine := counts.Operations[i], got.Operations[i]
			if mine.ID != id || mine.Satisfied != op.Apdex.Satisfied || mine.Tolerating != op.Apdex.Tolerating ||
				mine.Frustrated != op.Apdex.Frustrated || mine.HistogramT != [5]int64(op.Units) {
				t.Fatalf("%+v, counted %+v", mine, op)
			}
			if p95, ok := op.Latency.Percentile(95); ok != (mine.P95MS != nil) ||
				ok && (*mine.P95MS < 0.998*p95.Seconds()*1000-0.01 || *mine.P95MS > 1.002*p95.Seconds()*1000+0.01) {
				t.Fatalf("%s: p95 %v, counted %v", id, *mine.P95MS, p95)
			}
		}
	})
}

func TestRowsAreReadAsTheyWereWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.parquet")
	f, err := Create(path, headOf([]string{"post", "list"}))
	if err != nil {
		t.Fatal(err)
	}
	f.Add("list", tally.Sample{User: 7, Operation: 1, Planned: 0, Instead: "list", Due: 1, Held: 2, Sent: 3,
		FirstByte: 4, Done: 5, Waited: 6, Outcome: tally.Refused, Resent: 2, Bytes: 99})
	f.Add("post", tally.Sample{User: 8, Due: 10, Sent: 11, Done: 12, Outcome: tally.Failed, Err: errors.New("gone")})
	if err := f.Close(&result.Result{ID: "x"}); err != nil {
		t.Fatal(err)
	}
	var rows []samples.Row
	if _, err := samples.Read(path, func(r samples.Row) { rows = append(rows, r) }); err != nil {
		t.Fatal(err)
	}
	first := int64(4)
	want := []samples.Row{
		{User: 7, Operation: "list", Planned: "post", Due: 1, Held: 2, Sent: 3, FirstByte: &first, Done: 5, Waited: 6,
			Outcome: "refused", Refused: true, Resent: 2, Bytes: 99},
		{User: 8, Operation: "post", Planned: "post", Due: 10, Sent: 11, Done: 12, Outcome: "failed", Error: "gone"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

func TestFileWithoutAResultIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.parquet")
	f, err := Create(path, headOf(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(nil); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
	if _, err := Create(filepath.Join(path, "no such folder"), headOf(nil)); err == nil {
		t.Error("a file in no folder")
	}
}

// Thirty thousand users' operations for several minutes, as fast as they can be added.
func TestManyOperationsAreAllKept(t *testing.T) {
	const many = 250_000
	path := filepath.Join(t.TempDir(), "samples.parquet")
	f, err := Create(path, headOf([]string{"post"}, 500*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	for i := range many {
		at := time.Duration(i) * 2 * time.Millisecond
		f.Add("post", tally.Sample{User: i % 30_000, Due: at, Sent: at, Done: at + time.Millisecond})
	}
	r := &result.Result{ID: "x", Operations: []result.Operation{{ID: "post", TargetMS: 500, Priority: 1}}}
	r.Series.SteadyToS = 2 * many / 1000
	if err := f.Close(r); err != nil {
		t.Fatal(err)
	}
	got, err := samples.Recompute(path)
	if err != nil || got.Ops != many || got.Missing != 0 || got.OpsPerS < 499 || got.OpsPerS > 500 {
		t.Fatalf("%+v, %v", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 40*many {
		t.Errorf("%d bytes for %d operations, %v", info.Size(), many, err)
	}
}

func TestRecomputedRunIsTheRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "own.toml")
	const text = "application = \"none\"\nusers = 20\n[think]\nmean = \"50ms\"\n" +
		"[operations.look]\ntarget = \"30ms\"\nsql = \"SELECT pg_sleep(0.02 * random())\"\n" +
		"[operations.broken]\ntarget = \"500ms\"\npriority = 2\nsql = \"SELECT 1 / 0\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	l := load.Default()
	l.Scenario, l.Ramp, l.Duration = s, 500*time.Millisecond, 15*time.Second
	o := run.Options{Load: l, DSN: clustertest.Database(t).Secret(), LagLimit: time.Minute}
	path := filepath.Join(dir, "samples.parquet")
	f, err := Create(path, HeadOf(l))
	if err != nil {
		t.Fatal(err)
	}
	o.Ended = f.Add
	r, err := run.Run(patience.Context(t), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(r); err != nil {
		t.Fatal(err)
	}
	got, err := samples.Recompute(path)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := json.Marshal(r)
	var printed samples.Printed
	if err := errors.Join(err, json.Unmarshal(tree, &printed)); err != nil {
		t.Fatal(err)
	}
	if diff := got.Against(printed); len(diff) > 0 || got.Ops < 20 {
		t.Errorf("of %d operations %+v", got.Ops, diff)
	}
	if r.OpsPerSInterval == nil || got.OpsPerSInterval == nil || got.Interval == nil ||
		got.Operations[0].Answered[1] == nil || r.Operations[0].LatencyIntervals == nil {
		t.Errorf("no intervals: %+v of %+v", got.Interval, r.Interval)
	}
	t.Run("AndAnotherIsNot", func(t *testing.T) {
		printed.Operations[0].OK++
		printed.OpsPerS *= 1.01
		printed.Interval = &samples.Range{Low: printed.Interval.Low - 0.2, High: printed.Interval.High}
		names := func(d samples.Difference) string { return d.Figure }
		var figures []string
		for _, d := range got.Against(printed) {
			figures = append(figures, names(d))
		}
		if !slices.Equal(figures, []string{"ops_per_s", "interval low", printed.Operations[0].ID + " ok"}) {
			t.Errorf("figures %v differ, want the three that were changed", figures)
		}
	})
}

func TestFileOfAProcessThatDiedEndsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.parquet")
	f, err := Create(path, headOf([]string{"post"}))
	if err != nil {
		t.Fatal(err)
	}
	add := func(at time.Duration) { f.Add("post", tally.Sample{Due: at, Sent: at, Done: at + time.Millisecond}) }
	for i := range 30 {
		add(2*time.Second + time.Duration(i)*100*time.Millisecond)
	}
	patience.Until(t, "they are written", func() bool {
		got, err := samples.Recompute(path)
		return err == nil && got.Ops == 30
	})
	text, err := os.ReadFile(path + samples.PartSuffix)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(nil); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(t.TempDir(), "dead.parquet")
	for cut := range 40 { // it died as it wrote
		if err := os.WriteFile(dead+samples.PartSuffix, text[:len(text)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := samples.Recompute(dead)
		if err != nil || got.CutAtS == nil || got.Ops > 30 || cut == 0 && (got.Ops != 30 || *got.CutAtS != 4.901) {
			t.Fatalf("%d bytes less: %+v, %v", cut, got, err)
		}
	}
	if err := os.WriteFile(dead+samples.PartSuffix, text[:4], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := samples.Recompute(dead); err == nil || !strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("error %v, want that nothing was written", err)
	}
}

func TestFullDiskIsReportedAndLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.parquet")
	if err := os.Symlink("/dev/full", path+wholeSuffix); err != nil {
		t.Fatal(err)
	}
	f, err := Create(path, headOf([]string{"post"}))
	if err != nil {
		t.Fatal(err)
	}
	f.Add("post", tally.Sample{Done: 1})
	if err := f.Close(&result.Result{ID: "x"}); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("error %v, want that no space is left", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

func TestFilesOfSeveralAgentsAreOneRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, run string, users ...int) string {
		path := filepath.Join(dir, name)
		f, err := Create(path, headOf([]string{"post"}))
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range users {
			f.Add("post", tally.Sample{User: u, Due: 3 * time.Second, Sent: 3 * time.Second, Done: 3*time.Second + 1})
		}
		if err := f.End(run, 2*time.Second, 6*time.Second); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, two := write("run.1.parquet", "r", 1, 3), write("run.2.parquet", "r", 2)
	if got, err := samples.Recompute(one, two); err != nil || got.Ops != 3 || got.OpsPerS != 0.75 || got.Run != "r" {
		t.Errorf("%+v, %v", got, err)
	}
	other := write("other.parquet", "s", 1)
	if _, err := samples.Recompute(one, other); err == nil || !strings.Contains(err.Error(), "another run") {
		t.Errorf("error %v, want that the file is of another run", err)
	}
}

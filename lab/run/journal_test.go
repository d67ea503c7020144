package run

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/problem"
	"plimsoll/lab/load"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/live"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/test/thorough"
)

// died is a run of two operations that wrote so many seconds of its journal and was then killed: the process is gone,
// its files are left.
func died(t *testing.T, runs *store.Store, seconds int) (id string, counted *tally.Tally) {
	t.Helper()
	began := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	id, err := runs.Begin(began, 10)
	if err != nil {
		t.Fatal(err)
	}
	planned := load.Default()
	planned.Users, planned.Ramp = 10, 2*time.Second
	operations := []users.Operation{{ID: "a", Title: "A", Target: time.Second, Priority: 1, Weight: 0.75},
		{ID: "b", Title: "B", Target: time.Second / 2, Priority: 2, Weight: 0.25}}
	r := &record{Options: Options{Load: planned}.withDefaults(), id: id, began: began,
		crowd: users.Crowd{Operations: operations}}
	kept, err := mark(t.Context(), runs, id)
	if err != nil {
		t.Fatal(err)
	}
	kept.open(opening{r.opening()}, func(_ live.Tone, text string) { t.Error(text) })
	counted = users.NewTally(operations, r.Ramp, r.End())
	for second := range seconds {
		at := time.Duration(second) * time.Second
		counted.Count(tally.Sample{Operation: second % 2, Due: at, Sent: at, Done: at + 700*time.Millisecond})
		if second == 5 {
			counted.Count(tally.Sample{Due: at, Sent: at, Done: at + 800*time.Millisecond, Outcome: tally.Failed,
				Err: errors.New("broken pipe")})
		}
		page, err := counted.Tick(10, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		kept.add(page)
	}
	kept.close(true)
	return id, counted
}

func TestRunWhoseProcessDiedIsRecovered(t *testing.T) {
	runs := store.Open(t.TempDir()).WithPage(page)
	id, counted := died(t, runs, 12)
	if ids, err := runs.Unfinished(); err != nil || len(ids) != 1 || ids[0] != id {
		t.Fatal(ids, err)
	}
	r, err := Recover(runs, id)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := runs.Load(store.Latest)
	if err != nil || kept.ID != id || kept.Ops != r.Ops {
		t.Fatalf("%+v, %v", kept, err)
	}
	score, _, _ := counted.Apdex()
	if r.Ops != 11 || r.OK != 10 || r.Errors != 1 || r.Apdex == nil || *r.Apdex != score || r.DurationS != 10 ||
		r.OpsPerS != float64(counted.Answered)/10 {
		t.Errorf("%+v, Apdex %v of %v, %v s, %v per second", r.Totals, r.Apdex, score, r.DurationS, r.OpsPerS)
	}
	if b := r.Operations[1]; b.ID != "b" || b.TargetMS != 500 || b.Priority != 2 || b.Weight != 0.25 ||
		b.Tolerating != 5 || len(r.Operations[0].ErrorTexts) != 1 {
		t.Errorf("want the operations of the journal, got %+v", r.Operations)
	}
	if r.Valid || !strings.Contains(fmt.Sprint(r.InvalidReasons), "died after 12 s") || r.Audit.Done ||
		len(r.Series.T) != 12 || r.Conditions.Load.DurationS != 30 {
		t.Errorf("%q, audit %+v, %d moments", r.InvalidReasons, r.Audit, len(r.Series.T))
	}
	entries, _ := os.ReadDir(runs.Dir(id))
	if len(entries) != 2 {
		t.Errorf("%v: nothing but the result and the report", entries)
	}
	if ids, _ := runs.Unfinished(); len(ids) != 0 {
		t.Errorf("%v are still unfinished", ids)
	}
}

// The label that a run begins with is that of what is recovered; a run that never started leaves none.
func TestRunWhoseProcessDiedKeepsItsLabel(t *testing.T) {
	runs := store.Open(t.TempDir())
	runs.Beginning = kept.Label{Tags: []string{"nightly"}, Note: "before the change"}
	id, _ := died(t, runs, 12)
	if _, err := Recover(runs, id); err != nil {
		t.Fatal(err)
	}
	if l, err := runs.Label(id); err != nil || !l.Has("nightly") || l.Note != "before the change" {
		t.Errorf("%+v, %v", l, err)
	}
	never, err := runs.Begin(time.Now(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if l, err := runs.Label(never); err != nil || !l.Has("nightly") {
		t.Errorf("%+v, %v", l, err)
	}
	if err := runs.Settle(never); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(runs.Dir(never)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its folder is left: %v", err)
	}
}

// A journal cut off in the middle of a page counts up to that page.
func TestJournalCutOffAnywhereGivesWhatIsWhole(t *testing.T) {
	runs := store.Open(t.TempDir())
	id, _ := died(t, runs, 12)
	whole, err := os.ReadFile(runs.JournalPath(id))
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut")
	last := -1
	for n := 0; n <= len(whole); n += thorough.Or(13, 67) {
		if err := os.WriteFile(cut, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := recovered(cut, "")
		if err != nil {
			if last >= 0 {
				t.Fatalf("%d bytes: %v, though fewer could be read", n, err)
			}
			continue
		}
		if err := r.Check(); err != nil && len(r.Series.T) > 0 {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if len(r.Series.T) < last {
			t.Fatalf("%d bytes: %d seconds, fewer bytes had %d", n, len(r.Series.T), last)
		}
		last = len(r.Series.T)
	}
	if last < 10 {
		t.Errorf("%d seconds at most", last)
	}
}

// A journal that was overwritten counts up to that place: a changed digit is not counted.
func TestDamagedJournalGivesWhatIsBeforeTheDamage(t *testing.T) {
	runs := store.Open(t.TempDir())
	id, _ := died(t, runs, 12)
	var pages []byte
	if f, err := os.Open(runs.JournalPath(id)); err != nil {
		t.Fatal(err)
	} else if z, err := gzip.NewReader(f); err != nil {
		t.Fatal(err)
	} else {
		pages, _ = io.ReadAll(z) // truncated, like that of a process that died
	}
	lines := bytes.SplitAfter(pages, []byte("\n"))
	if len(lines) < 13 {
		t.Fatalf("%d lines", len(lines))
	}
	whole, err := recovered(packed(t, lines), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, digit := range []int{bytes.LastIndexByte(lines[6], '1'), bytes.LastIndexByte(lines[6], '0')} {
		changed := slices.Clone(lines)
		changed[6] = slices.Clone(lines[6])
		changed[6][digit] = '7'
		r, err := recovered(packed(t, changed), "")
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Series.T) != 5 || len(whole.Series.T) != 12 ||
			!strings.Contains(fmt.Sprint(r.InvalidReasons), "known up to second 5: the journal of the run is damaged") {
			t.Errorf("%d of %d seconds, %q", len(r.Series.T), len(whole.Series.T), r.InvalidReasons)
		}
	}
}

// packed makes a journal of lines.
func packed(t *testing.T, lines [][]byte) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(bytes.Join(lines, nil))
	path := filepath.Join(t.TempDir(), "journal")
	if err := errors.Join(err, z.Close(), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestJournalOfAnotherVersionIsReported(t *testing.T) {
	runs := store.Open(t.TempDir())
	id, _ := died(t, runs, 3)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_ = json.NewEncoder(z).Encode(opening{&result.Result{Schema: "plimsoll.run/99"}})
	z.Close()
	if err := os.WriteFile(runs.JournalPath(id), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Recover(runs, id); err == nil || !strings.Contains(err.Error(), "another version") ||
		!strings.Contains(problem.HintOf(err), runs.Dir(id)) {
		t.Errorf("%v, hint %q", err, problem.HintOf(err))
	}
}

func TestRunUnderWayIsNotUnfinished(t *testing.T) {
	runs := store.Open(t.TempDir())
	id, err := runs.Begin(time.Now(), 1)
	if err != nil {
		t.Fatal(err)
	}
	mark, err := runs.UnderWay(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(runs.JournalPath(id), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if ids, err := runs.Unfinished(); err != nil || len(ids) != 0 {
		t.Errorf("unfinished %v, error %v: want none", ids, err)
	}
	if err := mark.Release(); err != nil {
		t.Fatal(err)
	}
	if ids, err := runs.Unfinished(); err != nil || len(ids) != 1 {
		t.Errorf("unfinished %v, error %v: want one", ids, err)
	}
}

package run

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/live"
	"plimsoll/lab/result"
	"plimsoll/lab/runs"
	"plimsoll/lab/tally"
	"plimsoll/lab/users"
	"plimsoll/platform/problem"
)

// died is a run of two operations that wrote so many seconds of its journal and then was killed: the process is gone, its files are there.
func died(t *testing.T, store *runs.Store, seconds int) (id string, counted *tally.Tally) {
	t.Helper()
	began := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	id, err := store.Begin(began, 10)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{
		Options: Options{Users: 10, Ramp: 2 * time.Second, Duration: 30 * time.Second, LagLimit: LagLimitDefault}.withDefaults(), id: id, began: began, crew: &crew{}, meter: &meter{cores: 1},
		operations: []users.Operation{{ID: "a", Title: "A", Target: time.Second, Priority: 1, Weight: 0.75}, {ID: "b", Title: "B", Target: time.Second / 2, Priority: 2, Weight: 0.25}},
	}
	r.Store = store
	if r.journal, err = r.mark(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.journal.open(r.opening(), func(_ live.Tone, text string) { t.Error(text) })
	counted = newTally(r.operations, r.Ramp, r.Ramp+r.Duration)
	for second := range seconds {
		at := time.Duration(second) * time.Second
		counted.Count(tally.Sample{Operation: second % 2, Due: at, Sent: at, Done: at + 700*time.Millisecond})
		if second == 5 {
			counted.Count(tally.Sample{Due: at, Sent: at, Done: at + 800*time.Millisecond, Outcome: tally.Failed, Err: errors.New("broken pipe")})
		}
		page, err := counted.Tick(10, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		r.journal.add(page)
	}
	r.journal.close(true)
	return id, counted
}

func TestRunWhoseProcessDiedIsRecovered(t *testing.T) {
	store := runs.Open(t.TempDir())
	id, counted := died(t, store, 12)
	if ids, err := store.Unfinished(); err != nil || len(ids) != 1 || ids[0] != id {
		t.Fatal(ids, err)
	}
	r, err := Recover(store, id)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := store.Load(runs.Latest)
	if err != nil || kept.ID != id || kept.Ops != r.Ops {
		t.Fatalf("%+v, %v", kept, err)
	}
	score, _, _ := counted.Apdex()
	if r.Ops != 11 || r.OK != 10 || r.Errors != 1 || r.Apdex == nil || *r.Apdex != score || r.DurationS != 10 || r.OpsPerS != float64(counted.Answered)/10 {
		t.Errorf("%+v, Apdex %v of %v, %v s, %v per second", r.Totals, r.Apdex, score, r.DurationS, r.OpsPerS)
	}
	if b := r.Operations[1]; b.ID != "b" || b.TargetMS != 500 || b.Priority != 2 || b.Weight != 0.25 || b.Tolerating != 5 || len(r.Operations[0].ErrorTexts) != 1 {
		t.Errorf("%+v", r.Operations)
	}
	if r.Valid || !strings.Contains(fmt.Sprint(r.InvalidReasons), "died after 12 s") || r.Audit.Done || len(r.Series.T) != 12 || r.Conditions.Load.DurationS != 30 {
		t.Errorf("%q, audit %+v, %d moments", r.InvalidReasons, r.Audit, len(r.Series.T))
	}
	entries, _ := os.ReadDir(store.Dir(id))
	if len(entries) != 2 {
		t.Errorf("%v: nothing but the result and the report", entries)
	}
	if ids, _ := store.Unfinished(); len(ids) != 0 {
		t.Errorf("%v are still unfinished", ids)
	}
}

// What is cut off in the middle of a page is the run until that page.
func TestJournalCutOffAnywhereGivesWhatIsWhole(t *testing.T) {
	store := runs.Open(t.TempDir())
	id, _ := died(t, store, 12)
	whole, err := os.ReadFile(store.JournalPath(id))
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut")
	last := -1
	for n := 0; n <= len(whole); n += 13 {
		if err := os.WriteFile(cut, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := recovered(cut)
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

func TestJournalOfAnotherVersionIsSaid(t *testing.T) {
	store := runs.Open(t.TempDir())
	id, _ := died(t, store, 3)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_ = json.NewEncoder(z).Encode(opening{&result.Result{Schema: "plimsoll.run/99"}})
	z.Close()
	if err := os.WriteFile(store.JournalPath(id), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Recover(store, id); err == nil || !strings.Contains(err.Error(), "another version") || !strings.Contains(problem.HintOf(err), store.Dir(id)) {
		t.Errorf("%v, hint %q", err, problem.HintOf(err))
	}
}

func TestRunUnderWayIsNotUnfinished(t *testing.T) {
	store := runs.Open(t.TempDir())
	id, err := store.Begin(time.Now(), 1)
	if err != nil {
		t.Fatal(err)
	}
	mark, err := store.UnderWay(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(store.JournalPath(id), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if ids, err := store.Unfinished(); err != nil || len(ids) != 0 {
		t.Errorf("%v, %v", ids, err)
	}
	if err := mark.Release(); err != nil {
		t.Fatal(err)
	}
	if ids, err := store.Unfinished(); err != nil || len(ids) != 1 {
		t.Errorf("%v, %v", ids, err)
	}
}

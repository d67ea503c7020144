package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/load"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/live"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/test/patience"
	"plimsoll/test/smalldisk"
)

// smallDisk mounts a disk with room for what a run reserves and a little more.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	smalldisk.Mount(t, dir, "9m")
	return dir
}

// written waits until a journal holds the first second.
func written(t *testing.T, journal string) {
	t.Helper()
	patience.Until(t, "the journal has a second", func() bool {
		r, err := recovered(journal, "")
		return err == nil && len(r.Series.T) > 1
	})
}

// fullInMidRun is a run that ended normally, although its disk was full from second 3 on. Users waited little before
// that, and long afterwards.
func fullInMidRun(t *testing.T, disk string) (s *setup, runs *store.Store) {
	t.Helper()
	runs = store.Open(filepath.Join(disk, "runs")).WithPage(page)
	planned := load.Default()
	planned.Users, planned.Ramp = 10, 0
	operations := []users.Operation{{ID: "a", Title: "A", Target: time.Second, Priority: 1, Weight: 1}}
	r := &record{Options: Options{Load: planned, Store: runs}.withDefaults(), began: time.Now(),
		crowd: users.Crowd{Operations: operations}, meters: readings{cores: 1}, audit: result.Audit{None: true}}
	var err error
	if r.id, err = runs.Begin(r.began, 10); err != nil {
		t.Fatal(err)
	}
	s = &setup{record: r}
	if s.journal, err = mark(context.Background(), runs, r.id); err != nil {
		t.Fatal(err)
	}
	s.journal.open(opening{r.opening()}, func(live.Tone, string) {})
	r.made.Tally = users.NewTally(operations, r.Ramp, r.End())
	rng := rand.New(rand.NewPCG(1, 1))
	for second := range 30 {
		at, waited := time.Duration(second)*time.Second, 100*time.Millisecond
		if second == 3 {
			written(t, runs.JournalPath(r.id))
			smalldisk.Fill(t, filepath.Join(disk, "ballast"))
		}
		if second >= 3 {
			waited = 2 * time.Second
		}
		for range 100 { // latencies that make pages large
			r.made.Tally.Count(tally.Sample{Due: at, Sent: at,
				Done: at + waited + time.Duration(rng.Int64N(int64(waited)))})
		}
		counted, err := r.made.Tally.Tick(10, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.journal.add(counted)
	}
	s.journalStop = s.journal.finish()
	if s.journalStop == nil || s.journalStop.second < 1 || s.journalStop.second > 29 {
		t.Fatalf("the journal on a full disk: %v", s.journalStop)
	}
	return s, runs
}

func stopText(s *setup) string {
	return fmt.Sprintf("stopped at second %d: no space left on device", s.journalStop.second)
}

func TestFullDisk_ResultIsKeptInWhatWasReserved(t *testing.T) {
	if !smalldisk.OwnMounts(t) {
		return
	}
	s, runs := fullInMidRun(t, smallDisk(t))
	all := s.result(time.Now())
	if err := s.keep(all); err != nil {
		t.Fatal(err)
	}
	s.journal.close(false)
	if ids, err := runs.Unfinished(); err != nil || len(ids) != 0 {
		t.Errorf("unfinished: %v, %v", ids, err)
	}
	kept, broken, err := runs.List()
	if err != nil || len(kept) != 1 || len(broken) != 0 {
		t.Fatal(kept, broken, err)
	}
	if *kept[0].Apdex != *all.Apdex || kept[0].Ops != 3000 || !strings.Contains(strings.Join(kept[0].Warnings, "\n"),
		stopText(s)) {
		t.Errorf("Apdex %v of %v, %d operations, %q", *kept[0].Apdex, *all.Apdex, kept[0].Ops, kept[0].Warnings)
	}
}

func TestFullDisk_WithoutRoomForTheResult(t *testing.T) {
	if !smalldisk.OwnMounts(t) {
		return
	}
	disk := smallDisk(t)
	s, runs := fullInMidRun(t, disk)
	if err := os.Remove(filepath.Join(runs.Dir(s.id), "reserved")); err != nil { // others take it
		t.Fatal(err)
	}
	smalldisk.Fill(t, filepath.Join(disk, "more"))
	err := s.keep(s.result(time.Now()))
	s.journal.close(true)
	if problem.ClassOf(err) != problem.Environment || !strings.Contains(problem.HintOf(err), "free disk space") ||
		!strings.Contains(problem.HintOf(err), fmt.Sprintf("up to second %d", s.journalStop.second)) {
		t.Errorf("%v, hint %q", err, problem.HintOf(err))
	}
	if err := os.Remove(filepath.Join(disk, "ballast")); err != nil {
		t.Fatal(err)
	}
	ids, err := runs.Unfinished()
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	r, err := Recover(runs, ids[0])
	if err != nil {
		t.Fatal(err)
	}
	why := strings.Join(r.InvalidReasons, "\n")
	if r.Apdex != nil || r.Band != apdex.NoSample || r.Valid || strings.Contains(why, "died") ||
		!strings.Contains(why, fmt.Sprintf("known up to second %d", s.journalStop.second)) ||
		!strings.Contains(why, "no space left on device") {
		t.Errorf("Apdex %v, %s, valid %t, %s", r.Apdex, r.Band, r.Valid, why)
	}
	entries, _ := os.ReadDir(runs.Dir(ids[0]))
	if len(entries) != 2 {
		t.Errorf("%v: nothing but the result and the report", entries)
	}
}

func TestAFullDatabaseIsNamed(t *testing.T) {
	all := &result.Result{Totals: result.Totals{Ops: 500, OK: 490, Errors: 10}, Operations: []result.Operation{
		{ID: "a", ErrorTexts: errorTexts(map[string]int64{"status 500: internal: the disk of the database is full " +
			"(SQLSTATE 53100)": 7, "status 404": 1})},
		{ID: "b", ErrorTexts: errorTexts(map[string]int64{"could not extend file (SQLSTATE 53100)": 2})},
	}}
	v := verdict{}
	(&record{}).judgeRun(&v, all)
	if got := strings.Join(v.reasons, "\n"); !strings.Contains(got,
		"the disk of the database was full (SQLSTATE 53100): 9 operations") {
		t.Error(got)
	}
}

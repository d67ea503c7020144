package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
	"plimsoll/test/files"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// stored makes a store with a complete run at each of the times.
func stored(t *testing.T, times ...time.Time) (*Store, []string) {
	t.Helper()
	s := Open(filepath.Join(t.TempDir(), "runs")).WithPage(page)
	var ids []string
	for _, at := range times {
		id, err := s.Begin(at, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Save(sample(id)); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return s, ids
}

func page(w io.Writer, r *result.Result) error {
	_, err := io.WriteString(w, "page of "+r.ID)
	return err
}

func sample(id string) *result.Result {
	score := 0.9
	return &result.Result{
		Schema: result.Schema, ID: id, Users: 1000, Apdex: &score, Band: apdex.Good,
		Interval:       &apdex.Interval{Low: 0.8, High: 0.95},
		InvalidReasons: []string{}, Started: noon, Finished: noon.Add(time.Minute),
		Series: result.Series{IntervalS: 1, T: []float64{0}, Users: []int64{1}, OK: []int64{1}, Refused: []int64{0},
			Errors:   []int64{0},
			Overload: []int64{0}, Apdex: []*float64{nil}, P50MS: []*float64{nil}, P95MS: []*float64{nil},
			P99MS: []*float64{nil}, LagMSMax: []float64{0}, InFlight: []int64{0},
			CPUGenerator: []*float64{nil}, CPUWorkers: []*float64{nil}, CPUDatabase: []*float64{nil},
			CPUMachine: []*float64{nil}},
	}
}

func TestBegin(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "state", "runs"))
	for _, want := range []string{"20260131-120000-1000u", "20260131-120000-1000u-2", "20260131-120000-1000u-3"} {
		if id, err := s.Begin(noon, 1000); err != nil || id != want {
			t.Errorf("%q, want %q, %v", id, want, err)
		}
	}
	t.Run("SaysThatTheFolderCannotBeWritten", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(filepath.Join(file, "runs")).Begin(noon, 1); problem.ClassOf(err) != problem.Environment ||
			problem.HintOf(err) == "" {
			t.Error(err)
		}
	})
}

func TestSaveThenLoadIsTheSame(t *testing.T) {
	s, ids := stored(t, noon)
	got, err := s.Load(ids[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(ids[0]), got); diff != "" {
		t.Error(diff)
	}
	entries, err := os.ReadDir(s.Dir(ids[0]))
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v: nothing but the two files", entries, err)
	}
}

func TestFind(t *testing.T) {
	s, ids := stored(t, noon, noon.Add(time.Second), noon.Add(24*time.Hour))
	if _, err := s.Begin(noon.Add(48*time.Hour), 5); err != nil { // under way
		t.Fatal(err)
	}
	for id, want := range map[string]string{Latest: ids[2], ids[0]: ids[0], "20260201": ids[2],
		"20260131-120001": ids[1]} {
		if got, err := s.Find(id); err != nil || got != want {
			t.Errorf("%q is %q, want %q, %v", id, got, want, err)
		}
	}
	for id, want := range map[string]string{"20260131": "ambiguous", "2025": "no run", "": "no run",
		"../runs": "no run", "20260202": "no run"} {
		if got, err := s.Find(id); err == nil || !strings.Contains(err.Error(), want) ||
			problem.ClassOf(err) != problem.Usage {
			t.Errorf("%q is %q, %v", id, got, err)
		}
	}
	t.Run("NothingInAnEmptyStore", func(t *testing.T) {
		if _, err := Open(filepath.Join(t.TempDir(), "none")).Find(Latest); err == nil {
			t.Error("found")
		}
	})
}

func TestList(t *testing.T) {
	s, ids := stored(t, noon, noon.Add(time.Hour))
	if err := os.WriteFile(s.ResultPath(ids[0]), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	all, broken, err := s.List()
	if err != nil || len(all) != 1 || all[0].ID != ids[1] || all[0].Series.T != nil {
		t.Errorf("%+v, %v", all, err)
	}
	if len(broken) != 1 || !strings.Contains(broken[0].Error(), ids[0]) {
		t.Errorf("the broken one is not named: %v", broken)
	}
}

func TestReadRefusesWhatDoesNotFitTogether(t *testing.T) {
	for name, spoil := range map[string]func(*result.Result){
		"Series": func(r *result.Result) { r.Series.OK = append(r.Series.OK, 1) },
		"Counts": func(r *result.Result) { r.Ops = 5 },
		"NoRun":  func(r *result.Result) { r.ID = "" },
	} {
		t.Run(name, func(t *testing.T) {
			r := sample("20260131-120000-1000u")
			spoil(r)
			name := filepath.Join(t.TempDir(), "x.json")
			if err := kept.Write(name, r.WriteJSON); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(name); problem.ClassOf(err) != problem.Usage || problem.HintOf(err) == "" {
				t.Errorf("error %v, want a usage error with a hint", err)
			}
		})
	}
}

func TestReadRefusesAnotherSchema(t *testing.T) {
	for schema, hint := range map[string]string{"plimsoll.run/99": "another version", "": "plimsoll run --json"} {
		name := files.Write(t, t.TempDir(), "x.json", `{"schema":"`+schema+`","users":"many"}`)
		if _, err := Read(name); err == nil || !strings.Contains(problem.HintOf(err), hint) {
			t.Errorf("%q: %v, hint %q", schema, err, problem.HintOf(err))
		}
	}
}

func TestSave_KeepsThePageThatTheStoreHas(t *testing.T) {
	s := Open(t.TempDir())
	for _, c := range []struct {
		store *Store
		want  string // empty: no page
	}{
		{s, ""},
		{s.WithPage(page), "page of "},
	} {
		id, err := c.store.Begin(noon, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.store.Save(sample(id)); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(s.ReportPath(id))
		if c.want == "" && err == nil || c.want != "" && string(text) != c.want+id {
			t.Errorf("%q, %v", text, err)
		}
	}
	t.Run("OneThatCannotBeWrittenFailsTheSave", func(t *testing.T) {
		broken := s.WithPage(func(io.Writer, *result.Result) error { return errors.New("no paper") })
		id, err := broken.Begin(noon, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := broken.Save(sample(id)); err == nil || s.Has(id) {
			t.Errorf("%v, and a result is kept", err)
		}
	})
}

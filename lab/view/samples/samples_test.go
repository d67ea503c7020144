package samples

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Figures computed by the code that they check would prove nothing.
func TestNothingIsSharedWithWhatCountsARun(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range tree.Imports {
			if strings.HasPrefix(i.Path.Value, `"plimsoll/`) {
				t.Errorf("%s imports %s", file, i.Path.Value)
			}
		}
	}
}

func TestRead_SaysWhatIsWrong(t *testing.T) {
	nonsense := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(nonsense, []byte("PAR1 but not really"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{nonsense: "not a complete Parquet file", nonsense + "y": "no such file"} {
		if _, err := Recompute(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Computed manually: T is 100 ms; due inside [1 s, 2 s).
func TestFiguresOfAFewRows(t *testing.T) {
	const ms = int64(1e6)
	head := Head{From: 1000 * ms, To: 2000 * ms, Operations: []Operation{{"a", 100 * ms, 1}, {"b", 100 * ms, 2}}}
	row := func(operation string, due, done int64, outcome string) Row {
		return Row{Operation: operation, Planned: operation, Due: due * ms, Sent: due * ms, Done: done * ms,
			Outcome: outcome}
	}
	instead := row("b", 1500, 1501, "ok")
	instead.Planned = "a"
	f := figuresOf(head, []Row{
		row("a", 900, 1000, "ok"),       // due before, arrived within
		row("a", 1000, 1099, "ok"),      // satisfied
		row("a", 1000, 1100, "refused"), // tolerating
		row("a", 1600, 2000, "ok"),      // frustrated, arrived behind
		row("a", 1700, 1701, "failed"),
		row("a", 2000, 2001, "ok"), // due behind
		instead,
		row("elsewhere", 1500, 1501, "ok"),
	})
	a, b := f.Operations[0], f.Operations[1]
	if a.Ops != 4 || a.OK != 2 || a.Refused != 1 || a.Errors != 1 || a.Satisfied != 1 || a.Tolerating != 1 ||
		a.Frustrated != 2 || *a.Apdex != 0.375 || a.HistogramT != [5]int64{1, 1, 0, 0, 1} || *a.P50MS != 100 ||
		*a.MaxMS != 400 || a.Instead["b"] != 1 {
		t.Errorf("want the figures computed above, got %+v", a)
	}
	// (1.5 + 1/2) / (4 + 1/2), and four valid answers within the second
	if b.Ops != 1 || f.Ops != 5 || *f.Apdex != 2/4.5 || f.OpsPerS != 4 {
		t.Errorf("%+v, %+v, Apdex %v", b, f, *f.Apdex)
	}
}

// Latencies that lie close together: of 20 ms, which a run counts in steps of up to 0.1 %, 20 µs are nothing, though
// they are more than one part in a hundred of their deviation.
func TestAgainst_DeviationOfTimesThatLieCloseTogether(t *testing.T) {
	const ms = int64(1e6)
	head := Head{From: 0, To: 1000 * ms, Operations: []Operation{{"a", 100 * ms, 1}}}
	var rows []Row
	for _, latency := range []int64{19, 20, 21, 22} {
		rows = append(rows, Row{Operation: "a", Planned: "a", Done: latency * ms, Outcome: "ok"})
	}
	f := figuresOf(head, rows)
	for off, wrong := range map[float64]bool{0: false, 0.02: false, -0.02: false, 0.1: true, -0.1: true} {
		mean, deviation := *f.Operations[0].MeanMS, *f.Operations[0].StdDevMS+off
		p := Printed{Operations: []printedOperation{{Counts: Counts{ID: "a"},
			Latency: printedLatency{Mean: &mean, StdDev: &deviation}}}}
		found := false
		for _, d := range f.Against(p) {
			found = found || d.Figure == "a stddev"
		}
		if found != wrong {
			t.Errorf("deviation %v, off by %v: differs %v", deviation, off, found)
		}
	}
}

// Users act every 100 ms, and nobody gets an answer from second 4 to second 9.
func TestAgainst_Standstills(t *testing.T) {
	const ms = int64(1e6)
	head := Head{From: 0, To: 20_000 * ms, Operations: []Operation{{"a", 100 * ms, 1}}}
	var rows []Row
	for at := int64(0); at < 20_000; at += 100 {
		r := Row{Operation: "a", Planned: "a", Due: at * ms, Sent: at * ms, Done: (at + 10) * ms, Outcome: "ok"}
		if at >= 4000 && at < 9000 {
			r.Done = 9000*ms + at
		}
		rows = append(rows, r)
	}
	f := figuresOf(head, rows)
	for name, c := range map[string]struct {
		from, to, availability float64
		wrong                  string
	}{
		"AsTheyWere":           {4, 9, 0.75, ""},
		"FromAnEarlierFailure": {3.925, 9, 0.74625, ""},
		"EndedTooLate":         {4, 9.5, 0.725, "answers in the standstill from 4.0 s"},
		"Missing":              {0, 0, 1, "standstill from 4.0 s"},
		"WhileOthersWentOn":    {2, 9, 0.65, "answers in the standstill from 2.0 s"},
		"NotTheirAvailability": {4, 9, 0.8, "availability"},
	} {
		t.Run(name, func(t *testing.T) {
			p := Printed{DurationS: 20, Availability: &c.availability, Standstills: []Standstill{{c.from, c.to}}}
			if c.to == 0 {
				p.Standstills = nil
			}
			var all []Difference
			f.againstStandstills(&all, p)
			if (len(all) > 0) != (c.wrong != "") || len(all) > 0 && all[0].Figure != c.wrong {
				t.Errorf("%+v, want %q", all, c.wrong)
			}
		})
	}
}

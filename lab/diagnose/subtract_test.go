package diagnose

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/ground/problem"
	"plimsoll/test/files"
)

// ledgerOf a load of a hundred transactions a second.
func ledgerOf(sessions float64, shares map[string]float64) *Diagnosis {
	d := &Diagnosis{Ledger: Ledger{Sessions: sessions}, Rates: []Rate{{transactionsRate, new(100.0)}}}
	for class, share := range shares {
		d.Ledger.Lines = append(d.Ledger.Lines, Line{Class: class, Share: share})
	}
	return d
}

func TestSubtract(t *testing.T) {
	fast := ledgerOf(1, map[string]float64{"cpu": 0.8, "log": 0.2})
	slow := ledgerOf(4, map[string]float64{"cpu": 0.2, "log": 0.7,
		"io": 0.1}) // the processor's share fell, not its time
	all := Subtract(slow, fast)
	want := []Difference{difference("log", "write-ahead log", 28, 2), difference("io", "reading and writing", 4, 0),
		difference("cpu", "on a processor", 8, 8)}
	if len(all) != len(want) {
		t.Fatalf("differences %+v, want three", all)
	}
	for i, w := range want {
		got := all[i]
		if got.Class != w.Class || got.Name != w.Name || abs(got.MoreMS-w.MoreMS) > 1e-9 ||
			abs(got.OtherMS-w.OtherMS) > 1e-9 {
			t.Errorf("%+v, want %+v", got, w)
		}
	}
	slow.Ledger.Lines[0].Events = []Event{{Name: "IO:WalSync", Share: slow.Ledger.Lines[0].Share}}
	if i := slices.IndexFunc(Subtract(slow, fast), func(d Difference) bool { return len(d.Events) > 0 }); i < 0 {
		t.Error("the events below a class are not subtracted")
	} else if e := Subtract(slow, fast)[i].Events[0]; e.Name != "IO:WalSync" || e.OtherMS != 0 || e.ThisMS <= 0 {
		t.Errorf("event %+v, want IO:WalSync of this system alone", e)
	}
	slow.Rates = nil
	if Subtract(slow, fast) != nil {
		t.Error("nothing was counted, and there is a difference")
	}
}

// What one system waits for and the other does not is in the report.
func TestCompare(t *testing.T) {
	here, there := ledgerOf(4, map[string]float64{"log": 1}), ledgerOf(1, map[string]float64{"cpu": 1})
	here.Compare("good.json", there)
	var b strings.Builder
	if err := here.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"AGAINST good.json", "write-ahead log  0.00   40.00  +40.00",
		"100 transactions a second"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
	var page strings.Builder
	if err := here.HTML(&page); err != nil || !strings.Contains(page.String(), "Against good.json") {
		t.Errorf("%v: the page lacks it", err)
	}
	there.Rates = nil
	if here.Compare("idle", there); here.Against.Why == "" {
		t.Errorf("compared %+v, want the reason why it cannot be", here.Against)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"other": `{"schema": "plimsoll-run-1"}`, "broken": "{", "missing": ""} {
		file := filepath.Join(dir, name)
		if text != "" {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Load(file); problem.ClassOf(err) != problem.Usage || problem.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := files.Write(t, dir, "kept", `{"schema": "`+Schema+`", "lasted_s": 3}`)
	if d, err := Load(file); err != nil || d.LastedS != 3 {
		t.Errorf("%+v, %v", d, err)
	}
}

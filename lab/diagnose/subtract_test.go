package diagnose

import "testing"

// ledgerOf a load of a hundred transactions a second.
func ledgerOf(sessions float64, shares map[string]float64) *Diagnosis {
	d := &Diagnosis{Ledger: Ledger{Sessions: sessions}, Rates: []Rate{{transactionsRate, price(100)}}}
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
	want := []Difference{{"log", "write-ahead log", 2, 28, 26}, {"io", "reading and writing", 0, 4, 4},
		{"cpu", "on a processor", 8, 8, 0}}
	if len(all) != len(want) {
		t.Fatalf("%+v", all)
	}
	for i, w := range want {
		got := all[i]
		if got.Class != w.Class || got.Name != w.Name || abs(got.MoreMS-w.MoreMS) > 1e-9 ||
			abs(got.FastMS-w.FastMS) > 1e-9 {
			t.Errorf("%+v, want %+v", got, w)
		}
	}
	slow.Rates = nil
	if Subtract(slow, fast) != nil {
		t.Error("nothing was counted, and there is a difference")
	}
}

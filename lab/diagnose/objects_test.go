package diagnose

import (
	"strings"
	"testing"

	"plimsoll/ground/postgres/counters"
)

// Waits for reads are divided by what was read of each object; what is not of the list has a line of its own.
func TestAddReadObjects(t *testing.T) {
	m := plant(nil, figures{
		counters.ObjectReads: {"table public.orders": {"blocks": 600}, "catalog pg_attribute": {"blocks": 300}},
		counters.Databases:   {"shop": {"blks_read": 1000}},
	}, active(1, "IO:DataFileRead", "SELECT"), active(2, "IO:BufFileRead", "SELECT"),
		active(3, "LWLock:BufferContent", "SELECT"))
	var s sources
	m.addReadObjects(&s)
	for _, e := range m.ledger.line("io").Events {
		if !reads(e) {
			if e.Objects != nil {
				t.Errorf("temporary files have objects: %+v", e)
			}
			continue
		}
		want := []Part{{"table public.orders", 6, 0.6}, {"catalog pg_attribute", 3, 0.3}, {elsewhere, 1, 0.1}}
		for i, p := range want {
			if len(e.Objects) != len(want) || e.Objects[i].Name != p.Name || abs(e.Objects[i].S-p.S) > 1e-6 {
				t.Fatalf("%+v, want %+v", e.Objects, want)
			}
		}
	}
	if len(s.missing) != 1 || !strings.Contains(s.missing[0].Name, "inside the server") {
		t.Errorf("of latches it says %+v", s.missing)
	}
}

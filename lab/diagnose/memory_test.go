package diagnose

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/client"
)

// everybody serves one operation.
type everybody string

func (everybody) Look(context.Context) {}

func (e everybody) Operation(int, string) (string, bool) { return string(e), true }

// Ten hours of samples on a clock of their own, with statements, sessions, tables and operations that are new all the
// time: what is kept after ten hours is what was kept after one.
func TestMemoryIsBoundedOverTenHours(t *testing.T) {
	w := &watch{book: newBook(), operations: map[string]*book{}, holders: map[string]waits.Holder{},
		clients: client.NewBook()}
	at, tables := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), []string{"a", "b", "c"}
	sample := func(i int) {
		at = at.Add(2 * time.Second)
		name := strings.Repeat("x", i%7) + fmt.Sprintf("_%x", i)
		sessions := []waits.Session{
			{PID: i % 30000, Application: "shop " + name, Query: "SELECT * FROM t" + name, State: "active"},
			{PID: i%30000 + 1, Application: "shop", Query: "UPDATE u" + name, State: "active",
				Wait: waits.Event{Type: "Lock", Name: "tuple"}},
			{PID: i%30000 + 2, Application: "clerk", Query: "BEGIN", State: "idle in transaction",
				InState: time.Duration(i%100) * time.Second},
		}
		l := look{at: at, covers: 2 * time.Second, sessions: sessions,
			timeline: everybody(fmt.Sprint("operation ", i%4))}
		w.book.take(l)
		w.clients.Take(l.at, l.covers, sessions, func(sql string) string { return w.book.normalize(sql).text })
		w.takeOperations(l)
		w.book.addStall(stall{at: time.Duration(i) * time.Second, length: time.Second, who: StillServer})
		by := map[int]waits.Session{}
		for _, s := range sessions {
			by[s.PID] = s
		}
		w.book.takeLocks(lockLook{covers: time.Second, sessions: by, blocked: []waits.Blocked{
			{PID: i%30000 + 1, Blockers: []int{i%30000 + 2}, Object: tables[i%3] + name}}}, nil)
	}
	kept := func() float64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	const hour = 1800 // looks, each of two seconds
	for i := range hour {
		sample(i)
	}
	early := kept()
	for i := hour; i < 10*hour; i++ {
		sample(i)
	}
	late := kept()
	t.Logf("%.2f MB after one hour, %.2f MB after ten", early/1e6, late/1e6)
	if late > 1.05*early+200e3 {
		t.Errorf("%.2f MB after one hour, %.2f MB after ten", early/1e6, late/1e6)
	}
	runtime.KeepAlive(w)
}

package diagnose

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/waits"
)

const tick = 50 * time.Millisecond

// at returns a session in a state with a wait event, written as "TYPE:EVENT".
func at(pid int, state, event, query string) waits.Session {
	kind, name, _ := strings.Cut(event, ":")
	return waits.Session{PID: pid, Application: "shop", State: state, Wait: waits.Event{Type: kind, Name: name},
		Query: query}
}

// sampled is a book of so many equal looks.
func sampled(looks int, sessions ...waits.Session) *book {
	b := newBook()
	for i := range looks {
		b.take(look{at: time.Unix(0, 0).Add(time.Duration(i) * tick), covers: tick, sessions: sessions})
	}
	b.end()
	return b
}

func wantShare(t *testing.T, l Ledger, class string, want float64) {
	t.Helper()
	if got := l.share(class); math.Abs(got-want) > 1e-9 {
		t.Errorf("%s has %.4f of the time, want %.4f", class, got, want)
	}
}

func TestLedger_SumsToAllAndShowsTheRemainder(t *testing.T) {
	b := sampled(100, at(1, "active", "", "SELECT 1"), at(2, "active", "", "SELECT 2"),
		at(3, "active", "Lock:tuple", "UPDATE t SET n = 1"), at(4, "idle in transaction", "Client:ClientRead", "BEGIN"))
	// By the samples two sessions ran for 10 s in all; the scheduler knows of 4 s on a processor and 3 s in its queue.
	l := b.ledger(&scheduled{ran: 4, waited: 3}, "split")
	wantShare(t, l, OnCPU, 0.2)
	wantShare(t, l, forCPU, 0.15)
	wantShare(t, l, unexplained, 0.15)
	wantShare(t, l, string(waits.Lock), 0.25)
	wantShare(t, l, string(waits.Client), 0.25)
	if sum := l.sum(); math.Abs(sum-1) > 1e-9 {
		t.Errorf("the shares add up to %.4f", sum)
	}
	if last := l.Lines[len(l.Lines)-1]; last.Class != unexplained {
		t.Errorf("the unexplained line comes before %s", last.Class)
	}
	if math.Abs(l.Sessions-4) > 1e-9 || l.Most != 4 {
		t.Errorf("%.2f sessions, at most %d", l.Sessions, l.Most)
	}
	t.Run("AlsoWhereTheSchedulerCountsMore", func(t *testing.T) {
		l := b.ledger(&scheduled{ran: 50, waited: 50}, "split")
		wantShare(t, l, OnCPU, 0.5)
		wantShare(t, l, forCPU, 0)
		if sum := l.sum(); math.Abs(sum-1) > 1e-9 {
			t.Errorf("the shares add up to %.4f", sum)
		}
	})
	t.Run("WithoutASchedulerNothingIsSplit", func(t *testing.T) {
		l := b.ledger(nil, "elsewhere")
		wantShare(t, l, Unsplit, 0.5)
		if l.line(OnCPU) != nil || l.line(forCPU) != nil || l.Processor != "elsewhere" {
			t.Errorf("ledger %+v, want running sessions not split", l)
		}
	})
}

// Errors that other tools make.
func TestLedger_DoesNotLie(t *testing.T) {
	t.Run("IdleActivityIsNotWork", func(t *testing.T) {
		l := sampled(10, at(1, "active", "Activity:LogicalLauncherMain", ""),
			at(2, "active", "IO:DataFileRead", "SELECT 1")).ledger(nil, "")
		wantShare(t, l, string(waits.IO), 1)
	})
	t.Run("AnIdleTransactionWaitsForItsClientWhateverItWaitedForLast", func(t *testing.T) {
		l := sampled(10, at(1, "idle in transaction", "LWLock:WALWrite", "UPDATE t SET n = 1")).ledger(nil, "")
		wantShare(t, l, string(waits.Client), 1)
	})
	t.Run("UnknownTypesAndEventsOfNewerServersAreCounted", func(t *testing.T) {
		l := sampled(10, at(1, "active", "Quantum:Entangle", ""), at(2, "active", "LWLock:NewInVersion99", ""),
			at(3, "active", "Buffer:BufferPin", ""), at(4, "active", "IO:WalNewThing", "")).ledger(nil, "")
		wantShare(t, l, string(waits.Other), 0.25)
		wantShare(t, l, string(waits.Latch), 0.5)
		wantShare(t, l, string(waits.WAL), 0.25)
		if name := l.line(string(waits.Other)).Events[0].Name; name != "Quantum:Entangle" {
			t.Errorf("the unknown event is called %s", name)
		}
	})
	t.Run("TimeCountsNotTheNumberOfWaits", func(t *testing.T) {
		b := newBook()
		for range 9 { // nine short looks at the disk, one long at a lock
			b.take(look{covers: time.Millisecond, sessions: []waits.Session{at(1, "active", "IO:DataFileRead", "")}})
		}
		b.take(look{covers: 91 * time.Millisecond, sessions: []waits.Session{at(1, "active", "Lock:tuple", "")}})
		wantShare(t, b.ledger(nil, ""), string(waits.Lock), 0.91)
	})
}

func TestBook_IsBounded(t *testing.T) {
	b := newBook()
	for i := range 4000 {
		query := "SELECT FROM " + strings.Repeat("x", i%61) + strings.Repeat("y", i%53)
		b.take(look{at: time.Unix(int64(i), 0), covers: tick, sessions: []waits.Session{at(i, "idle in "+
			"transaction", "", query)}})
		one := waits.Blocked{PID: i, Blockers: []int{i + 1}, Object: query}
		b.takeLocks(lockLook{covers: tick, blocked: []waits.Blocked{one}}, nil)
	}
	b.end()
	for key, w := range b.events {
		if len(w.statements) > namesMost+1 || len(w.applications) > namesMost+1 {
			t.Errorf("%v keeps %d statements", key, len(w.statements))
		}
	}
	if len(b.stories) > storiesMost || len(b.open) > 0 || len(b.events) != 1 {
		t.Errorf("%d stories, %d open gaps, %d events", len(b.stories), len(b.open), len(b.events))
	}
	if got := parts(b.events[eventKey{class: waits.Client, gap: true}].statements, 1)[0].Name; got != others {
		t.Errorf("what was not kept is called %q", got)
	}
}

func TestGaps_AreToldByTheirLength(t *testing.T) {
	b := newBook()
	begin := time.Unix(1000, 0)
	for i := range 60 { // three seconds
		now := begin.Add(time.Duration(i) * tick)
		hangs := at(1, "idle in transaction", "", "")
		hangs.InState = now.Sub(begin) + 200*time.Millisecond
		quick := at(2, "idle in transaction", "", "")
		quick.InState = time.Duration(i%4) * 10 * time.Millisecond // a new gap at least every fourth look
		b.take(look{at: now, covers: tick, sessions: []waits.Session{hangs, quick}})
	}
	b.end()
	if math.Abs(b.long.seconds-3) > 1e-6 || math.Abs(b.short.seconds-3) > 1e-6 || b.long.n != 1 {
		t.Errorf("long %+v, short %+v: want one long gap of all its time", b.long, b.short)
	}
}

func TestPlainStatement(t *testing.T) {
	for in, want := range map[string]string{
		"SELECT  *\n FROM t1 WHERE n = 42 -- why": "SELECT * FROM t1 WHERE n = ?",
		"UPDATE t SET s = 'it''s secret' /* x */": "UPDATE t SET s = ?",
		"INSERT INTO t VALUES ('cut off in the m": "INSERT INTO t VALUES (?",
		"": "?",
	} {
		if got := normalizedText(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if got := verb(normalizedText("create temp table x (n int)")); got != "CREATE TEMP" {
		t.Errorf("verb %q", got)
	}
}

type planted map[int]string

func (p planted) Look(context.Context) {}

func (p planted) Operation(pid int, _ string) (string, bool) {
	name, known := p[pid]
	return name, known
}

func TestLedger_KnowsTheOperationsOfATimeline(t *testing.T) {
	b := newBook()
	b.take(look{covers: tick, timeline: planted{1: "goods_sale.post"}, sessions: []waits.Session{
		at(1, "active", "Lock:tuple", ""), at(2, "active", "Lock:tuple", "")}})
	e := b.ledger(nil, "").line(string(waits.Lock)).Events[0]
	if len(e.Operations) != 1 || e.Operations[0].Name != "goods_sale.post" || e.Operations[0].S != tick.Seconds() {
		t.Errorf("operations %+v, want one tick of goods_sale.post", e.Operations)
	}
}

func TestStories(t *testing.T) {
	hold := at(1, "idle in transaction", "Client:ClientRead", "UPDATE stock SET n = 7")
	hold.Application, hold.InState, hold.InXact = "clerk", 3*time.Second, 4*time.Second
	sessions := map[int]waits.Session{1: hold}
	var blocked []waits.Blocked
	for pid := 2; pid <= 5; pid++ { // a chain: 5 waits for 4, … 2 for 1
		sessions[pid] = at(pid, "active", "Lock:tuple", "UPDATE stock SET n = 8")
		blocked = append(blocked, waits.Blocked{PID: pid, Event: "tuple", Blockers: []int{pid - 1}, Kind: "tuple",
			Object: "public.stock", Page: pid, Tuple: 1, For: time.Duration(pid) * time.Second})
	}
	b := sampled(20, hold, sessions[2], sessions[3], sessions[4], sessions[5])
	b.takeLocks(lockLook{covers: time.Second, blocked: blocked, sessions: sessions}, nil)
	all := b.sortedStories()
	if len(all) != 1 {
		t.Fatalf("%d stories, want one: rows of one table, one holder", len(all))
	}
	s := all[0]
	if s.Root.Application != "clerk" || !s.Root.Client || s.Root.LongGapS != 3 || s.Victims != 4 || s.LongS != 5 ||
		s.Object != "a row of public.stock" {
		t.Errorf("story %+v, want the clerk's, of a row of public.stock, with four victims", s)
	}
	if math.Abs(s.Share-0.8) > 1e-9 || math.Abs(s.LostS-4) > 1e-9 {
		t.Errorf("%.2f s lost, %.2f of the time: four of five sessions waited for a second", s.LostS, s.Share)
	}
	for depth, line := range s.Tree[1:] {
		if want := fmt.Sprintf("%s└ %d ", strings.Repeat("  ", depth), depth+2); !strings.HasPrefix(line, want) {
			t.Errorf("the tree has %q, want %q", line, want)
		}
	}
	t.Run("ADeadlockHasAnEnd", func(t *testing.T) {
		b := newBook()
		b.takeLocks(lockLook{covers: tick, blocked: []waits.Blocked{{PID: 1, Blockers: []int{2}},
			{PID: 2, Blockers: []int{1}}}}, nil)
		if len(b.stories) == 0 {
			t.Error("nobody blocks anybody")
		}
	})
	t.Run("APreparedTransactionHasNoProcess", func(t *testing.T) {
		b := newBook()
		b.takeLocks(lockLook{covers: tick, blocked: []waits.Blocked{{PID: 7, Blockers: []int{0}}}}, nil)
		for _, s := range b.stories {
			if s.Root.Application != "a prepared transaction" {
				t.Errorf("root %+v, want a prepared transaction", s.Root)
			}
		}
	})
}

// The share of the time whose operation is known compares like with like: looks with a timeline are rarer than samples,
// and each covers more time.
func TestAttributedTimeIsAShare(t *testing.T) {
	w, now := &watch{operations: map[string]*book{}}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 3 {
		now = now.Add(time.Second)
		w.takeOperations(look{at: now, covers: tick, timeline: planted{1: "goods_sale.post", 2: "stock.report",
			3: "goods_sale.post"}, sessions: []waits.Session{at(1, "active", "", ""), at(2, "active", "Lock:tuple", ""),
			at(3, "active", "Activity:LogicalApplyMain", ""), at(4, "active", "", "")}})
	}
	if got := w.servedS / (w.servedS + w.unknownS); math.Abs(got-2.0/3) > 1e-9 {
		t.Errorf("%v of the time is known", got)
	}
}

// A wait for a lock after a minute without one was there at one tick, as any other.
func TestALookAtLocksStandsForOneTick(t *testing.T) {
	began := time.Unix(0, 0)
	ticks := lockTicks{began}
	for i := range 100 { // nobody waits, nobody looks
		ticks.covers(began.Add(time.Duration(i+1) * locksEvery))
	}
	if d := ticks.covers(began.Add(101 * locksEvery)); d != locksEvery {
		t.Errorf("a look covers %s", d)
	}
	if d := ticks.covers(began.Add(time.Hour)); d != 4*locksEvery {
		t.Errorf("after a standstill a look covers %s", d)
	}
}

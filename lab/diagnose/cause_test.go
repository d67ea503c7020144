package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/host/neighbours"
	"plimsoll/ground/host/process"
	"plimsoll/ground/host/topology"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// figures of a reading: view, key, column.
type figures = map[string]map[string]map[string]float64

// plant is a server with its machine, as if measured for ten seconds.
func plant(change func(*measured), grown figures, sessions ...waits.Session) *measured {
	b := sampled(200, sessions...)
	at := time.Unix(1000, 0)
	m := &measured{book: b, delta: counters.Between(counters.Planted(at, nil),
		counters.Planted(at.Add(10*time.Second), grown)), connectS: 0.005, roundTripS: 0.0001, settings: &Settings{},
		host: &Host{Cores: 2, Busy: new(0.3), Database: new(0.2), Others: new(0.1), Steal: new(0.0),
			Throttled: new(0.0),
			Disks:     []Disk{{Name: "vda"}}, Topology: &topology.Shape{Sockets: 1, Cores: 2, CPUs: 2, Nodes: 1}},
		ledger: b.ledger(&scheduled{ran: b.secondsOf(waits.Running)}, "split")}
	if change != nil {
		change(m)
	}
	m.stories = b.sortedStories()
	return m
}

func active(pid int, event, query string) waits.Session { return at(pid, "active", event, query) }

// split of the running sessions.
func split(ran, waited float64) func(*measured) {
	return func(m *measured) { m.ledger = m.book.ledger(&scheduled{ran: ran, waited: waited}, "split") }
}

// blockedBy makes a holder block sessions 2 and 3.
func blockedBy(root waits.Session) func(*measured) {
	return func(m *measured) {
		m.book.takeLocks(lockLook{covers: time.Second, sessions: map[int]waits.Session{1: root},
			blocked: []waits.Blocked{{PID: 2, Blockers: []int{1}, Kind: "tuple", Object: "public.hot"},
				{PID: 3, Blockers: []int{2}}}}, nil)
	}
}

func idleFor(gap time.Duration) waits.Session {
	s := at(1, "idle in transaction", "Client:ClientRead", "UPDATE hot SET n = 1")
	s.InState = gap
	return s
}

const lockWait = "Lock:transactionid"

var bloatedTable = figures{
	counters.Tables: {"public.fat": {"n_live_tup": 100, "n_dead_tup": 90_000}},
}

func TestCauses(t *testing.T) {
	work := active(9, "", "SELECT * FROM t WHERE id = 1")
	for _, c := range []struct {
		name, want string
		m          *measured
	}{
		{"HotRowOfAnIdleClient", "lock-held-by-idle-client", plant(blockedBy(idleFor(5*time.Second)), nil,
			idleFor(5*time.Second), active(2, lockWait, ""), active(3, lockWait, ""), work)},
		{"HotRowOfTransactionsAtWork", "lock-contention", plant(blockedBy(active(1, "IO:DataFileRead", "UPDATE")), nil,
			active(2, lockWait, ""), active(3, lockWait, ""), work)},
		{"HotRowHeldThroughUsualFlushes", "lock-contention", plant(blockedBy(active(1, "IO:WalSync", "COMMIT")),
			flushed(20_000, 0.5), active(1, "IO:WalSync", "COMMIT"), active(2, lockWait, ""), active(3, lockWait, ""),
			work)},
		{"HotRowHeldThroughSlowFlushes", "log-flush", plant(blockedBy(active(1, "IO:WalSync", "COMMIT")),
			flushed(2_000, 5), active(1, "IO:WalSync", "COMMIT"), active(2, lockWait, ""), active(3, lockWait, ""),
			work)},
		{"SlowNetwork", "client-or-network-gaps", plant(nil, nil, idleFor(10*time.Millisecond), work)},
		{"SlowNetworkBehindWhichLocksAreHeld", "client-or-network-gaps", plant(
			blockedBy(idleFor(10*time.Millisecond)), nil, idleFor(10*time.Millisecond), active(2, lockWait, ""), work)},
		{"OthersTakeTheProcessors", "processors-taken-by-others", plant(func(m *measured) {
			split(3, 7)(m)
			m.host.Busy, m.host.Database, m.host.Others = new(1.0), new(0.2), new(0.8)
			m.host.Who = []neighbours.Neighbour{{Name: "cc1", Share: 0.8}}
		}, nil, work)},
		{"OthersTakeTheServersOnlyCore", "processors-taken-by-others", plant(func(m *measured) {
			split(5, 5)(m)
			m.host.Cores, m.host.PerCore, m.host.Usable = 2, []float64{1, 0.1}, []int{0}
			m.host.Busy, m.host.Database, m.host.Others = new(0.55), new(0.2), new(0.35)
		}, nil, work)},
		{"TooManySessionsForTheProcessors", "processors-full", plant(func(m *measured) {
			split(4, 6)(m)
			m.host.Busy, m.host.Database, m.host.Others = new(1.0), new(0.98), new(0.02)
		}, nil, work)},
		{"Quota", "processor-quota", plant(func(m *measured) {
			split(5, 5)(m)
			m.host.Throttled = new(0.5)
		}, nil, work)},
		{"Steal", "steal", plant(func(m *measured) { m.host.Steal, m.host.Busy = new(0.3), new(0.6) }, nil, work)},
		{"TempTables", "catalog-churn", plant(nil, figures{counters.Catalogs: {"pg_catalog.pg_class": {
			"n_tup_ins": 5000, "n_tup_del": 5000}}}, active(1, "", "CREATE TEMP TABLE x (n int)"), work)},
		{"DeadRows", "dead-rows", plant(nil, bloatedTable, active(1, "", "SELECT count(*) FROM fat"), work)},
		{"DeadRowsThatAreHeld", "held-horizon", plant(func(m *measured) {
			m.holders = map[string]waits.Holder{"session " +
				"7": {Kind: "session", Name: "7", XIDs: 50_000, For: time.Minute}}
		}, bloatedTable, active(1, "", "SELECT count(*) FROM fat"), work)},
		{"ConnectionStorm", "connection-storm", plant(nil, figures{counters.Databases: {"shop": {"sessions": 2000,
			"xact_commit": 2000, "xact_rollback": 0}}}, work)},
		{"SlowFlush", "log-flush", plant(nil, nil, active(1, "IO:WalSync", "COMMIT"),
			active(2, "LWLock:WALWrite", "END"), work)},
		{"SynchronousStandby", "synchronous-standby", plant(nil, nil, active(1, "IPC:SyncRep", "COMMIT"),
			active(2, "LWLock:SyncRep", "END"), work)},
		{"LocksBehindASynchronousStandby", "synchronous-standby", plant(blockedBy(active(1, "IPC:SyncRep", "COMMIT")),
			nil, active(1, "IPC:SyncRep", "COMMIT"), active(2, lockWait, ""), active(3, lockWait, ""), work)},
		{"Reads", "data-transfers", plant(nil, nil, active(1, "IO:DataFileRead", "SELECT"), work)},
		{"InnerLocks", "inner-locks", plant(nil, nil, active(1, "LWLock:BufferContent", "SELECT"), work)},
		{"Workers", "waiting-for-processes", plant(nil, nil, active(1, "IPC:ExecuteGather", "SELECT"), work)},
		{"Sleep", "told-to-wait", plant(nil, nil, active(1, "Timeout:PgSleep", "SELECT pg_sleep(9)"), work)},
		{"LargeResults", "large-results", plant(nil, nil, active(1, "Client:ClientWrite", "SELECT * FROM t"), work)},
		{"TempTables", "temp-tables-counted", plant(nil, nil, active(1, "", "ANALYZE pg_temp.tt1"), active(2, "",
			"ANALYZE pg_temp_12.tt2"), work)},
		{"Vacuum", "maintenance", plant(nil, nil, active(1, "IO:DataFileRead", "VACUUM (FREEZE) t"), work)},
		{"Backup", "backup", plant(nil, nil, active(1, "Client:ClientWrite", "COPY public.t (id) TO stdout"), work)},
		{"StaleStatistics", "stale-statistics", plant(nil, grown(map[string]float64{"n_mod_since_analyze": 40_000,
			"n_live_tup": 60_000, "reltuples": 20_000}), work)},
		{"MissingIndex", "missing-index", plant(nil, grown(map[string]float64{"seq_scan": 500,
			"seq_tup_read": 100_000_000}), work)},
		{"UnusedIndexes", "unused-indexes", plant(nil, unread(9), active(1, "", "INSERT INTO t VALUES (1)"), work)},
		{"BulkWriting", "bulk-writing", plant(nil, grown(map[string]float64{"n_tup_ins": 1_000_000}),
			active(1, "IO:WalWrite", "INSERT INTO t SELECT 1"), work)},
		{"ManySmallCommits", "log-flush", plant(nil, figures{counters.Tables: {"public.t": {"n_tup_upd": 1_000_000}},
			counters.Databases: {"shop": {"xact_commit": 1_000_000, "xact_rollback": 0}}},
			active(1, "IO:WalSync", "UPDATE t SET n = n + 1"), work)},
		{"PoorJoin", "long-statements", plant(nil, nil, longer(active(1, "", "SELECT 1 FROM a JOIN b ON a.x < b.x")),
			work)},
		{"OthersTakeTheDisk", "disk-taken-by-others", plant(func(m *measured) {
			m.host.Disks = []Disk{{Name: "vda", Busy: 0.9, Bytes: 1 << 30}}
		}, figures{counters.Databases: {"shop": {"blks_read": 10}}, counters.WAL: {"all": {"wal_bytes": 1 << 20}}},
			active(1, "IO:WalSync", "COMMIT"), work)},
		{"Standstill", "standstill", plant(func(m *measured) {
			m.book.addStall(stall{time.Second, 3 * time.Second, StillServer})
			m.book.unobserved += 3
		}, nil, work)},
		{"Spills", "temporary-files", plant(nil, figures{counters.Databases: {"shop": {"temp_bytes": 1 << 30}}},
			active(1, "IO:BufFileWrite", "SELECT"), work)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s sources
			findings, healthy := judge(c.m, &s)
			if len(findings) == 0 || findings[0].Name != c.want || findings[0].Level != Problem {
				t.Fatalf("found %+v, want the problem %s", findings, c.want)
			}
			f := findings[0]
			if f.Title == "" || f.Mechanism == "" || len(f.Evidence) == 0 || len(f.Next) == 0 || f.Gain == nil ||
				f.Gain.Low > *f.Price || f.Gain.High < *f.Price {
				t.Errorf("it does not describe itself: %+v", f)
			}
			for _, more := range findings[1:] {
				if more.Level == Problem {
					t.Errorf("it also names %s", more.Name)
				}
			}
			if len(healthy) < 5 {
				t.Errorf("healthy are only %q", healthy)
			}
		})
	}
}

// The finding keeps the statement to its end, where the condition is.
func TestMissingIndex_KeepsTheWholeStatement(t *testing.T) {
	sql := "SELECT " + strings.Repeat("coalesce(t.name, ''), ", 20) + "1 FROM t WHERE document = 'x'"
	m := plant(nil, grown(map[string]float64{"seq_scan": 500, "seq_tup_read": 100_000_000}), active(1, "", sql))
	var s sources
	findings, _ := judge(m, &s)
	if len(findings) == 0 || len(findings[0].Statements) != 1 ||
		!strings.HasSuffix(findings[0].Statements[0], "FROM t WHERE document = ?") {
		t.Errorf("findings %+v, want one that names its statement without values", findings)
	}
}

func grown(columns map[string]float64) figures {
	return figures{counters.Tables: {"public.t": columns}}
}

// unread indexes of a table that is written.
func unread(n int) figures {
	indexes := map[string]map[string]float64{"public.t.t_pkey": {"idx_scan": 0, "unique": 1}}
	for i := range n {
		indexes[fmt.Sprintf("public.t.t_%d", i)] = map[string]float64{"idx_scan": 0, "unique": 0}
	}
	return figures{counters.Tables: {"public.t": {"n_tup_ins": 10}}, counters.Indexes: indexes}
}

func longer(s waits.Session) waits.Session {
	s.InState = time.Second
	return s
}

// A cause that explains a statement's time takes it from those that follow.
func TestCauses_NameOneCauseOnce(t *testing.T) {
	f := bloatedTable
	f[counters.Tables]["public.fat"]["seq_scan"], f[counters.Tables]["public.fat"]["seq_tup_read"] = 900, 90_000_000
	m := plant(func(m *measured) {
		split(2, 8)(m)
		m.host.Busy, m.host.Database, m.host.Others = new(1.0), new(0.98), new(0.02)
	}, f, longer(active(1, "", "SELECT count(*) FROM fat")), longer(active(2, "IO:DataFileRead", "SELECT 1 FROM fat")))
	var s sources
	findings, _ := judge(m, &s)
	for _, f := range findings {
		if f.Level == Problem && f.Name != deadRowsRead.name {
			t.Errorf("it also names %s: %+v", f.Name, f)
		}
	}
	if len(findings) == 0 || findings[0].Name != deadRowsRead.name {
		t.Errorf("found %+v", findings)
	}
}

// Connecting clients make each price a smaller part of all clients' time. What a statement takes of those at work stays
// a problem; a queue for processors may be the connecting itself.
func TestCauses_BesideAConnectionStorm(t *testing.T) {
	f := figures{counters.Tables: {"public.fat": {"n_live_tup": 100, "n_dead_tup": 90_000}},
		counters.Databases: {"shop": {"sessions": 20_000, "xact_commit": 20_000, "xact_rollback": 0}}}
	levels := map[string]Level{}
	m := plant(func(m *measured) {
		split(12, 8)(m)
		m.host.Busy, m.host.Database, m.host.Others = new(1.0), new(0.98), new(0.02)
	}, f, active(1, "", "SELECT count(*) FROM fat"), active(2, "", "SELECT * FROM t WHERE id = 1"))
	_, _, findings := said(m)
	for _, f := range findings {
		if levels[f.Name] = f.Level; f.Name == deadRowsRead.name && priceOf(f) >= problemFrom.Value {
			t.Errorf("dead rows cost %.2f of all clients' time, want less than a problem's share", *f.Price)
		}
	}
	for name, want := range map[string]Level{connectionStorm.name: Problem, deadRowsRead.name: Problem,
		processorsFull.name: Note} {
		if levels[name] != want {
			t.Errorf("%s is a %q, want a %s: %+v", name, levels[name], want, findings)
		}
	}
}

// Where others leave the server so few processors that they are named, its own work is not: nobody knows whether it
// would fill them alone.
func TestCauses_FullProcessorsHaveOneName(t *testing.T) {
	for others, want := range map[float64]map[string]Level{0.3: {processorsByOthers.name: Problem,
		processorsFull.name: Note}, 0.1: {processorsFull.name: Problem}} {
		_, _, findings := said(plant(func(m *measured) {
			split(3, 7)(m)
			m.host.Busy, m.host.Database, m.host.Others = new(1.0), new(1-others), new(others)
		}, nil, active(9, "", "SELECT * FROM t WHERE id = 1")))
		got := map[string]Level{}
		for _, f := range findings {
			if f.Name == processorsByOthers.name || f.Name == processorsFull.name {
				got[f.Name] = f.Level
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("others take %.0f %%: %v, want %v", 100*others, got, want)
		}
	}
}

// A waste that takes a part of one application's time is a problem of its users, however long others wait for something
// else; a job that does one thing takes all of its own time with it, and is none.
func TestCauses_OfOneApplication(t *testing.T) {
	var sessions []waits.Session
	for pid := range 10 { // of which two thirds of the time are others' waits for locks
		sessions = append(sessions, active(pid, lockWait, "UPDATE hot SET n = 1"))
	}
	of := func(application string, s waits.Session) waits.Session {
		s.Application = application
		return s
	}
	insert := of("till", active(20, "", "INSERT INTO t VALUES (1)"))
	for name, c := range map[string]struct {
		more []waits.Session
		want Level
	}{
		"Alone":          {[]waits.Session{insert}, Problem},
		"APartOfItsTime": {[]waits.Session{insert, of("till", active(21, "", "SELECT 2"))}, Problem},
		"HardlyOfItsTime": {[]waits.Session{insert, of("till", active(21, "", "SELECT 2")), of("till", active(22, "",
			"SELECT 3")), of("till", active(23, "", "SELECT 4")), of("till", active(24, "", "SELECT 5"))}, Note},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, findings := said(plant(nil, unread(20), append(slices.Clone(sessions), c.more...)...))
			i := slices.IndexFunc(findings, func(f Finding) bool { return f.Name == unusedIndexes.name })
			if i < 0 || findings[i].Level != c.want || *findings[i].Price >= problemFrom.Value {
				t.Errorf("%+v, want a small %s", findings, c.want)
			}
		})
	}
	bulk := figures{counters.Tables: {"public.t": {"n_tup_ins": 900_000}}}
	_, _, findings := said(plant(nil, bulk, append(slices.Clone(sessions), insert)...))
	for _, f := range findings {
		if f.Name == bulkWriting.name && f.Level != Note {
			t.Errorf("an import is %+v", f)
		}
	}
}

// The entries of unused indexes fill the log, too: what their statements wait for it beyond a usual commit is a part of
// the price.
func TestUnusedIndexes_PricesTheirLog(t *testing.T) {
	f := unread(20)
	f[counters.WAL] = map[string]map[string]float64{"all": {"wal_sync": 1000, "wal_sync_time": 1000}}
	insert := "INSERT INTO t VALUES (1)"
	m := plant(nil, f, active(1, "", insert), active(2, "LWLock:WALWrite", insert), active(3, "",
		"SELECT * FROM t WHERE id = 1"))
	found, _ := unusedIndexes.find(m)
	if found == nil || *found.Price <= 0.34 || *found.Price >= 0.64 {
		t.Errorf("%+v, want a price of its work and a part of its log", found)
	}
}

// flushed so often in the ten seconds of plant, each in so many milliseconds.
func flushed(n, eachMS float64) figures {
	return figures{counters.WAL: {"all": {"wal_sync": n, "wal_sync_time": n * eachMS}}}
}

// A server that commits durably waits for its flushes. The wait is priced where they are slow, or where commits queue.
func TestCauses_UsualFlushesAreNoProblem(t *testing.T) {
	flusher, waiter := active(1, "IO:WalSync", "COMMIT"), active(2, "LWLock:WALWrite", "COMMIT")
	work := active(9, "", "SELECT * FROM t WHERE id = 1")
	for _, c := range []struct {
		name     string
		m        *measured
		from, to float64 // of the price
	}{
		{"Usual", plant(nil, flushed(20_000, 0.5), flusher, work), 0, 0},
		{"WithOneThatWaits", plant(nil, flushed(20_000, 0.5), flusher, waiter, work), 0, 0},
		{"Slow", plant(nil, flushed(2_000, 5), flusher, work), 0.25, 0.35},
		{"Queue", plant(nil, flushed(20_000, 0.5), flusher, waiter, waiter, waiter, waiter, work), 0.45, 0.55},
		{"QueueBehindProcessesWithoutProcessors", plant(excused(starving, 1, 0.8), flushed(20_000, 0.5), flusher,
			waiter, waiter, waiter, waiter, work), 0, 0},
		{"ReadyProcessesThatHaveProcessors", plant(excused(starving, 1, 0), flushed(20_000, 0.5), flusher,
			waiter, waiter, waiter, waiter, work), 0.45, 0.55},
		{"SlowThoughSomeHaveNoProcessor", plant(excused(starving, 0.2, 0.8), flushed(2_000, 5), flusher, work), 0.2,
			0.25},
		{"QueueAfterAStandstill", plant(excused(rush, 0.9, 0), flushed(20_000, 0.5), flusher, waiter, waiter, waiter,
			waiter, work), 0, 0},
		{"DelayedCommits", plant(nil, flushed(200, 0.5), active(1, "", "COMMIT"), waiter, waiter, work), 0.45, 0.5},
		{"NotTimed", plant(nil, figures{counters.WAL: {"all": {"wal_sync": 10_000}}}, flusher, work), 0, 0},
		{"NotCounted", plant(nil, nil, flusher, work), 0.5, 0.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, _ := logFlush.find(c.m)
			if *f.Price < c.from-1e-9 || *f.Price > c.to+1e-9 {
				t.Errorf("price %.2f, want %.2f to %.2f", *f.Price, c.from, c.to)
			}
		})
	}
}

// excused is a part of the wait for the log; queued is the part of ready processes' time without a processor.
func excused(why logExcuse, part, queued float64) func(*measured) {
	return func(m *measured) {
		m.book.excused[why] = part * m.book.secondsOf(waits.WAL)
		m.queued = queued
	}
}

// A session keeps the name of its wait until it runs again: the state of its process tells what it really waits for.
func TestExcuseOf(t *testing.T) {
	const flush, follow = "IO:WalSync", "LWLock:WALWrite"
	ready, asleep, disk := process.Ready, process.Asleep, process.Halted
	for _, c := range []struct {
		name   string
		events []string
		states []process.Activity
		want   logExcuse
	}{
		{"AFlush", []string{follow, flush}, []process.Activity{asleep, disk}, noExcuse},
		{"AFlushBesideReadyOnes", []string{follow, flush, flush}, []process.Activity{ready, ready, disk}, noExcuse},
		{"AFlushThatIsOver", []string{follow, flush}, []process.Activity{asleep, ready}, starving},
		{"WokenFollowers", []string{follow, follow}, []process.Activity{asleep, ready}, starving},
		{"ADelayedLeader", []string{"", follow, follow}, []process.Activity{asleep, asleep, asleep}, noExcuse},
		{"NobodyWaits", []string{"", "IO:DataFileRead"}, []process.Activity{ready, ready}, noExcuse},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sessions []waits.Session
			for i, event := range c.events {
				sessions = append(sessions, active(i, event, "COMMIT"))
			}
			got := excuseOf(sessions, func(pid int) (process.Activity, error) { return c.states[pid], nil })
			if got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

// Rows that the next reader prunes are no bloat, and what explains a statement's reading does not explain its commit.
func TestCauses_WhatReadingDoesNotExplain(t *testing.T) {
	hot := "UPDATE fat SET n = n + 1"
	dead := func(within float64) figures {
		return figures{counters.Tables: {"public.fat": {"n_live_tup": 100, "n_dead_tup": 90_000, "n_tup_upd": 10_000,
			"n_tup_hot_upd": within}}}
	}
	for _, c := range []struct {
		name          string
		within        float64
		bloat, commit bool
	}{{"Pruned", 10_000, false, true}, {"Bloated", 0, true, true}} {
		t.Run(c.name, func(t *testing.T) {
			var s sources
			findings, _ := judge(plant(nil, dead(c.within), active(1, "", hot), active(2, "LWLock:WALWrite", hot)), &s)
			found := map[string]bool{}
			for _, f := range findings {
				found[f.Name] = f.Level == Problem
			}
			if found["dead-rows"] != c.bloat || found["log-flush"] != c.commit {
				t.Errorf("problems %v, not those of the case", found)
			}
		})
	}
}

// While the server stands still, or a quota stops it, it does not read what its clients send: no slow network.
func TestCauses_GapsOfAStoppedServerAreNoNetwork(t *testing.T) {
	stalls := func(m *measured) {
		m.book = newBook()
		now := time.Unix(0, 0)
		for i := range 200 {
			l := look{at: now, covers: tick, sessions: []waits.Session{active(9, "", "SELECT * FROM t WHERE id = 1")}}
			if i%20 == 19 { // the gap is as long as the standstill
				l.still = 400 * time.Millisecond
				l.sessions = append(l.sessions, idleFor(l.still))
				l.sessions = append(l.sessions, l.sessions[1], l.sessions[1], l.sessions[1])
				for j := range l.sessions {
					l.sessions[j].PID = j + 1
				}
			}
			m.book.take(l)
			now = now.Add(tick + l.still)
		}
		m.book.end()
		m.ledger = m.book.ledger(&scheduled{ran: m.book.secondsOf(waits.Running)}, "split")
	}
	quota := func(share float64) func(*measured) {
		return func(m *measured) { m.host.Throttled = new(share) }
	}
	gap, work := idleFor(5*time.Millisecond), active(9, "", "SELECT * FROM t WHERE id = 1")
	for _, c := range []struct {
		name string
		m    *measured
		want bool
	}{
		{"Standstill", plant(stalls, nil, work), false},
		{"Quota", plant(quota(0.95), nil, gap, work), false},
		{"WideQuota", plant(quota(0.01), nil, gap, work), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, why := clientGaps.find(c.m)
			if why != "" || f == nil {
				t.Fatalf("%v, %s", f, why)
			}
			if named := *f.Price >= problemFrom.Value; named != c.want {
				t.Errorf("%.2f: %+v", *f.Price, f.Evidence)
			}
		})
	}
}

// A problem names whose sessions pay, where several applications share the server.
func TestCauses_NameTheApplicationsThatPay(t *testing.T) {
	of := func(s waits.Session, application string) waits.Session {
		s.Application = application
		return s
	}
	till := of(active(1, "IO:DataFileRead", "SELECT * FROM lines"), "till")
	desk := of(active(2, "IO:DataFileRead", "SELECT * FROM orders"), "desk")
	vacuum := of(active(3, "IO:DataFileRead", "VACUUM orders"), "night")
	other := of(active(4, "", "SELECT * FROM t WHERE id = 1"), "other")
	for _, c := range []struct {
		name, finding, want string
		sessions            []waits.Session
	}{
		{"Class", reading.name, "till 67 %, desk 33 %", []waits.Session{till, till, desk, other}},
		{"Statements", maintenance.name, "night 100 %", []waits.Session{vacuum, desk, other}},
		{"One", reading.name, "", []waits.Session{till, till}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s sources
			findings, _ := judge(plant(nil, nil, c.sessions...), &s)
			i := slices.IndexFunc(findings, func(f Finding) bool { return f.Name == c.finding })
			if i < 0 || findings[i].Who() != c.want {
				t.Errorf("want %s to name %q: %+v", c.finding, c.want, findings)
			}
		})
	}
}

// A program on the server's machine takes a moment between two statements, and more where it gets no processor.
func TestCauses_GapsOfAProgramBesideItsServerAreNoNetwork(t *testing.T) {
	for _, c := range []struct {
		name  string
		gap   time.Duration
		wakes float64
		want  bool
	}{
		{"SameMachine", 300 * time.Microsecond, 0, false}, {"Network", 3 * time.Millisecond, 0, true},
		{"WithoutAProcessor", 3 * time.Millisecond, 0.01, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s sources
			findings, _ := judge(plant(func(m *measured) { m.wakesS = c.wakes }, nil, idleFor(c.gap)), &s)
			if named := len(findings) > 0 && findings[0].Level == Problem; named != c.want {
				t.Errorf("found %+v", findings)
			}
		})
	}
}

func TestCauses_OfAHealthyServerAreNone(t *testing.T) {
	var s sources
	findings, _ := judge(plant(nil, figures{counters.Databases: {"shop": {"sessions": 1, "temp_bytes": 0,
		"xact_commit": 100, "xact_rollback": 0}},
		counters.Catalogs: {"pg_catalog.pg_class": {"n_tup_ins": 2, "n_tup_del": 0}},
		counters.Tables:   {"public.t": {"n_live_tup": 1000, "n_dead_tup": 50}}},
		active(1, "", "SELECT * FROM t"), active(2, "", "UPDATE t SET n = 1")), &s)
	findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.Name == NoReason && f.Level == Note })
	if len(findings) != 0 || len(s.missing) != 0 {
		t.Errorf("found %+v, not told %+v", findings, s.missing)
	}
}

func TestCauses_OfAnIdleServerAreNoProblems(t *testing.T) {
	var s sources
	b := newBook()
	for i := range 200 { // one session in a hundred looks
		l := look{at: time.Unix(0, 0).Add(time.Duration(i) * tick), covers: tick}
		if i%100 == 0 {
			l.sessions = []waits.Session{active(1, "IO:DataFileRead", "SELECT")}
		}
		b.take(l)
	}
	m := plant(func(m *measured) { m.book, m.ledger = b, b.ledger(&scheduled{}, "") }, nil)
	findings, _ := judge(m, &s)
	for _, f := range findings {
		if f.Level == Problem {
			t.Errorf("%s is a problem of %.2f active sessions", f.Name, m.ledger.Sessions)
		}
	}
}

// A connecting client is not an active session yet.
func TestCauses_AStormOfConnectionsIsAProblemOfAnIdleServer(t *testing.T) {
	var s sources
	m := plant(func(m *measured) { m.connectS = 0.03 }, figures{counters.Databases: {"shop": {"sessions": 300}}})
	findings, _ := judge(m, &s)
	if len(findings) != 1 || findings[0].Name != connectionStorm.name || findings[0].Level != Problem {
		t.Errorf("found %+v", findings)
	}
}

// What was not measured is neither healthy nor zero.
func TestCauses_SayWhatTheyCannotTell(t *testing.T) {
	var s sources
	m := plant(func(m *measured) {
		m.host, m.ledger = nil, m.book.ledger(nil, "elsewhere")
		m.delta = counters.Between(counters.Lost("no right"), counters.Lost("no right"))
	}, nil, active(1, "", "SELECT * FROM t WHERE id = 1"))
	findings, healthy := judge(m, &s)
	for _, line := range healthy {
		if strings.Contains(line, "processor") || strings.Contains(line, "catalog") {
			t.Errorf("healthy: %s", line)
		}
	}
	if len(findings) != 1 || findings[0].Name != NoReason {
		t.Errorf("found %+v, want that no reason is known", findings)
	}
	for _, want := range []string{"finding processors-full", "finding catalog-churn", "finding connection-storm"} {
		if !slices.ContainsFunc(s.missing, func(x Source) bool { return x.Name == want && x.Why != "" }) {
			t.Errorf("%s is not among %v", want, s.missing)
		}
	}
	for _, r := range m.rates() {
		if r.PerS != nil {
			t.Errorf("%s is %v", r.Name, *r.PerS)
		}
	}
	for _, c := range contradict(m) {
		if c.Verdict != Unknown && c.Name != "round trips and operations" {
			t.Errorf("%s: %s", c.Name, c.Verdict)
		}
	}
}

func TestContradictions(t *testing.T) {
	calm := active(9, "", "SELECT * FROM t WHERE id = 1")
	tenSeconds := func(columns map[string]float64) figures { return figures{counters.Databases: {"shop": columns}} }
	lock := []waits.Session{active(2, lockWait, ""), active(3, lockWait, ""), calm}
	for _, c := range []struct {
		name        string
		holds, fits *measured
	}{
		{"little's law", plant(nil, tenSeconds(map[string]float64{"active_time": 50_000}), calm),
			plant(nil, tenSeconds(map[string]float64{"active_time": 10_000}), calm)},
		{"little's law", plant(nil, tenSeconds(map[string]float64{"active_time": 4_000}), calm),
			plant(nil, tenSeconds(map[string]float64{"active_time": 6_500}), calm)},
		{"running sessions and processor time", plant(split(1, 8), nil, calm), plant(nil, nil, calm)},
		{"idle processors and blocked sessions", plant(nil, nil, lock...),
			plant(func(m *measured) { m.host.Busy = new(0.95) }, nil, lock...)},
		{"commits and flushes", plant(nil, slowCommit(100, 10), active(1, "IO:WalSync", "")),
			plant(nil, slowCommit(1000, 9), active(1, "IO:WalSync", ""))},
		{"round trips and " +
			"operations", plant(nil, nil, idleFor(20*time.Millisecond), idleFor(20*time.Millisecond), calm),
			plant(nil, nil, calm)},
		{"idle disk and waits for reads", plant(busyDisk(0.02), nil, active(1, "IO:DataFileRead", "")),
			plant(busyDisk(0.97), nil, active(1, "IO:DataFileRead", ""))},
		{"topology", plant(func(m *measured) {
			m.host.Topology = &topology.Shape{Sockets: 24, Cores: 24, CPUs: 24, Nodes: 2}
		}, nil, calm), plant(nil, nil, calm)},
		{"catalogs and data", plant(nil, growth(5000), calm), plant(nil, growth(0), calm)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for m, want := range map[*measured]Verdict{c.holds: Contradicts, c.fits: Agrees} {
				i := slices.IndexFunc(contradict(m), func(x Contradiction) bool { return x.Name == c.name })
				got := contradict(m)[i]
				if got.Verdict != want || len(got.Figures) < 2 || got.Says == "" {
					t.Errorf("%+v, want %s", got, want)
				}
				if want == Contradicts && (got.Excluded == "" || got.Next == "") {
					t.Errorf("%+v says nothing of what is excluded, or what comes next", got)
				}
			}
		})
	}
}

// slowCommit is so many commits in ten seconds, with flushes of so many milliseconds.
func slowCommit(commits, flushMS float64) figures {
	return figures{counters.Databases: {"shop": {"xact_commit": commits, "xact_rollback": 0}},
		counters.WAL: {"all": {"wal_sync": 10, "wal_sync_time": 10 * flushMS}}}
}

func busyDisk(busy float64) func(*measured) {
	return func(m *measured) { m.host.Disks = []Disk{{Name: "vda", Busy: busy}} }
}

func growth(rows float64) figures {
	return figures{counters.Catalogs: {"pg_catalog.pg_class": {"n_tup_ins": rows, "n_tup_del": rows}},
		counters.CatalogSizes: {"pg_class": {"bytes": rows * 100}}, counters.Tables: {"public.t": {"n_tup_ins": 3}}}
}

func TestCauses_GapsOfClientsWithoutProcessorsAreNotJudged(t *testing.T) {
	shared := func(m *measured) {
		m.host.Others, m.host.CPUPressure, m.wakesS = new(0.8), new(0.95), 0.02
	}
	const gap = 10 * time.Millisecond
	for _, c := range []struct {
		name        string
		remote, all int
		trip        *float64
		want, known bool
	}{
		{"Here", 0, 3, nil, false, false},
		{"Elsewhere", 3, 3, nil, false, true}, // a program of ours wakes up as late
		{"AsNearAsIfTheyWereHere", 3, 3, new(0.0001), false, false},
		{"BehindASlowNetwork", 3, 3, new(0.002), true, true},
		{"MostAreHere", 1, 3, new(0.002), false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s sources
			found, _ := judge(plant(func(m *measured) {
				shared(m)
				m.census.Remote, m.census.All, m.host.RoundTripS = c.remote, c.all, c.trip
			}, nil, idleFor(gap), active(9, "", "SELECT * FROM t WHERE id = 1")), &s)
			i := slices.IndexFunc(found, func(f Finding) bool { return f.Name == clientGaps.name })
			reported := slices.ContainsFunc(s.missing, func(one Source) bool {
				return one.Name == "finding "+clientGaps.name && strings.Contains(one.Why, "shared")
			})
			if (i >= 0) != c.want || reported == c.known {
				t.Errorf("named %v, said that it cannot be known %v", i >= 0, reported)
			}
			// half of the time is in gaps, of which the network takes a fifth
			if i >= 0 && (*found[i].Price < 0.09 || *found[i].Price > 0.11 ||
				!strings.Contains(strings.Join(found[i].Evidence, "\n"), "at least 2ms")) {
				t.Errorf("price %.3f, evidence %q", *found[i].Price, found[i].Evidence)
			}
		})
	}
}

// What a near client does between two statements takes no network.
func TestCauses_GapsOfANearClientAreItsProgram(t *testing.T) {
	for trip, want := range map[*float64]string{nil: "Transactions wait for the network or for the program",
		new(0.0001): ProgramGaps, new(0.002): "Transactions wait for the network or for the program"} {
		var s sources
		found, _ := judge(plant(func(m *measured) {
			m.census.Remote, m.census.All, m.host.RoundTripS = 3, 3, trip
		}, nil, idleFor(10*time.Millisecond)), &s)
		if len(found) == 0 || found[0].Title != want {
			t.Errorf("a round trip of %v: %+v, want %q", trip, found, want)
		}
	}
}

// pg_wait_sampling is another program: its figures are planted.
func TestContradictions_HoldTwoSamplersAgainstEachOther(t *testing.T) {
	at := []waits.Session{active(1, "IO:DataFileRead", "SELECT * FROM t WHERE id = 1"), active(2, lockWait, "UPDATE t")}
	samples := func(reads, locks float64) figures {
		return figures{counters.WaitSamples: {"IO:DataFileRead": {"count": reads}, lockWait: {"count": locks},
			"Client:ClientRead": {"count": 1e6}}}
	}
	for name, c := range map[string]struct {
		m    *measured
		want Verdict
	}{
		"Same":      {plant(nil, samples(500, 520), at...), Agrees},
		"OtherSees": {plant(nil, samples(10, 990), at...), Contradicts},
		"Nothing":   {plant(nil, samples(0, 0), at...), Unknown},
	} {
		if got := twoSamplers(c.m); got.Verdict != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

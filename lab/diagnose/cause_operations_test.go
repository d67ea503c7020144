package diagnose

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/statement"
)

// by a role, for so long.
func by(role uint32, inState time.Duration, s waits.Session) waits.Session {
	s.Role, s.InState, s.InXact = role, inState, inState
	return s
}

// setFor role 7, which is called app.
func setFor(assignments ...string) func(*measured) {
	return func(m *measured) {
		m.settings = &Settings{}
		for _, one := range assignments {
			m.settings.ofUser(roleIn{0, 7}, "", "app", one, map[string]serverSetting{
				"join_collapse_limit": {"8", "", "8"}, statementTimeout: {"0", "ms", "0"}})
		}
	}
}

// What a limit ends is thrown away: it comes near the limit, never goes beyond it, and as many errors are counted.
func TestEndedByALimit(t *testing.T) {
	work := active(9, "", "SELECT * FROM t WHERE id = 1")
	report := "SELECT count(DISTINCT note) FROM orders WHERE day > 7"
	ends := func(rolledBack float64, more map[string]float64) figures {
		all := map[string]float64{"xact_commit": 3000, "xact_rollback": rolledBack}
		maps.Copy(all, more)
		return figures{counters.Databases: {"shop": all}}
	}
	idle := by(7, 9*time.Millisecond, idleFor(0))
	for _, c := range []judged{
		{"StatementTimeout", endedByLimit.name, "statement_timeout = 5 of role app", Problem,
			plant(setFor("statement_timeout=5"), ends(2000, nil), by(7, 4600*time.Microsecond, active(1, "", report)),
				work)},
		{"StatementTimeoutThatNobodyCounts", endedByLimit.name, "", "",
			plant(setFor("statement_timeout=5"), ends(0, nil), by(7, 4600*time.Microsecond, active(1, "", report)),
				work)},
		{"StatementTimeoutFarAway", endedByLimit.name, "", "", plant(setFor("statement_timeout=1min"), ends(2000, nil),
			by(7, 4600*time.Microsecond, active(1, "", report)), work)},
		{"StatementTimeoutThatIsPassed", endedByLimit.name, "", "", plant(setFor("statement_timeout=5"),
			ends(2000, nil), by(7, 90*time.Millisecond, active(1, "", report)), work)},
		{"StatementTimeoutOfOthers", endedByLimit.name, "", "", plant(setFor("statement_timeout=5"), ends(2000, nil),
			by(8, 4600*time.Microsecond, active(1, "", report)), work)},
		{"StatementsThatEndAsTheyShould", endedByLimit.name, "", "", plant(together(setFor("statement_timeout=5"),
			counts(nil, called(report, 2000, 5, nil))), ends(2000, nil), by(7, 4600*time.Microsecond,
			active(1, "", report)), work)},
		{"LockTimeout", endedByLimit.name, "lock_timeout = 50ms", Problem, plant(setFor("lock_timeout=50ms"),
			ends(200, nil), by(7, 45*time.Millisecond, active(1, lockWait, "UPDATE hot SET n = 1")), work)},
		{"IdleTimeout", endedByLimit.name, "idle_in_transaction_session_timeout = 10", Problem, plant(
			setFor("idle_in_transaction_session_timeout=10"), ends(0, map[string]float64{"sessions_fatal": 500}),
			idle, work)},
		{"IdleTimeoutThatEndsNobody", endedByLimit.name, "", "", plant(
			setFor("idle_in_transaction_session_timeout=10"), ends(0, map[string]float64{"sessions_fatal": 0}), idle,
			work)},
		{"TempFileLimit", endedByLimit.name, "temp_file_limit = 1000", Problem, plant(together(
			setFor("temp_file_limit=1000"), counts(nil)), ends(100, map[string]float64{"temp_bytes": 80 << 20}),
			by(7, 100*time.Millisecond, active(1, "IO:BufFileWrite", report)), work)},
		{"TempFilesWithinTheLimit", endedByLimit.name, "", "", plant(together(setFor("temp_file_limit=1000"),
			counts(nil)), ends(100, map[string]float64{"temp_bytes": 1 << 20}), by(7, 100*time.Millisecond,
			active(1, "IO:BufFileWrite", report)), work)},
		{"StatementsThatNeverEnd", rolledBack.name, "fails nearly each time", Problem, plant(together(counts(nil),
			func(m *measured) { m.half.RolledBack = new(0.4) }), ends(2000, nil), by(8, 4600*time.Microsecond,
			active(1, "", report)), work, work)},
		{"SessionsThatSomebodyEnds", sessionsCut.name, "30 by somebody", Note, plant(nil, ends(0,
			map[string]float64{"sessions": 90, "sessions_killed": 30, "sessions_fatal": 0}), work)},
		{"SessionsThatEnd", sessionsCut.name, "", "", plant(nil, ends(0, map[string]float64{"sessions": 90,
			"sessions_killed": 1, "sessions_fatal": 0}), work)},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

func TestConnectionLimit(t *testing.T) {
	of := func(all float64, sessions float64) *measured {
		return plant(together(setFor("CONNECTION LIMIT=1"), func(m *measured) {
			m.connectS = 0.0005
			m.pools = &pools{looks: 10, of: map[connected]*connections{{"page", "app", "shop"}: {most: 1, all: all}}}
		}), figures{counters.Databases: {"shop": {"sessions": sessions}}}, active(9, "", "SELECT * FROM t"))
	}
	for _, c := range []judged{
		{"Refuses", connectionsLimited.name, "Role app", Problem, of(8, 300)},
		{"IsUsedUp", connectionsLimited.name, "CONNECTION LIMIT 1", Note, of(10, 300)},
		{"IsFarAway", connectionsLimited.name, "", "", of(1, 300)},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

// sends statements so often, each of which takes as long as a session was sampled.
func sends(calls map[string]float64) func(*measured) {
	var all []statement.Account
	for text, n := range calls {
		all = append(all, called(text, n, 9500/n, func(l *statement.Account) { l.PerCall.Rows = new(1.0) }))
	}
	return counts(nil, all...)
}

var commits = figures{counters.Databases: {"shop": {"xact_commit": 3000, "xact_rollback": 0}},
	counters.WAL: {"all": {"wal_sync": 3000, "wal_sync_time": 3000}}}

// What other causes ask of a cause is the same before its turn and after it, when its statements are explained.
func TestCauses_AnswerOthersWheneverTheyAsk(t *testing.T) {
	function, report := "SELECT sync($1)", "SELECT count(DISTINCT note) FROM orders WHERE day > 7"
	sessions := []waits.Session{by(7, 4600*time.Microsecond, active(1, "", report)), active(2, "", "SAVEPOINT s")}
	for pid := range 60 { // beside so many a savepoint alone takes less than a note
		sessions = append(sessions, active(10+pid, "", function))
	}
	m := plant(together(setFor("statement_timeout=5"), counts(nil, called(function, 1000, 9,
		func(l *statement.Account) { l.Own = []statement.Own{{Name: "public.sync", Catches: true}} }))),
		figures{counters.Numbers: {"all": {"next": 1_000_000}},
			counters.Databases: {"shop": {"xact_commit": 1000, "xact_rollback": 2000}}}, sessions...)
	limited, _ := endedByLimit.find(m)
	if limited == nil || !m.namesSavepoints() {
		t.Fatalf("the limit is %+v, savepoints are named: %v", limited, m.namesSavepoints())
	}
	for text := range m.book.texts() {
		m.explain([]string{text}, true)
	}
	later, _ := endedByLimit.find(m)
	if later == nil || *later.Price != *limited.Price || later.grave != limited.grave {
		t.Errorf("the limit was %+v and is %+v", limited, later)
	}
	if !m.namesSavepoints() {
		t.Error("savepoints are not named any more")
	}
}

// What a program sends beside its work is named by its kinds, and not where it is as usual.
func TestStatementsWithoutWork(t *testing.T) {
	find := "SELECT name FROM items WHERE id = $1"
	work := active(9, "", find)
	dumps := active(1, "", "SELECT oid, proname FROM pg_catalog.pg_proc")
	dumps.Application = "pg_dump"
	sendsBoth := func(n float64) func(*measured) {
		return sends(map[string]float64{"BEGIN": 3000, "COMMIT": 3000, find: n})
	}
	for _, c := range []judged{
		{"SetUpForEach", statementsWithoutWork.name, "5.0 statements that do no work for each one that does: SELECT 1",
			Problem, plant(sends(map[string]float64{"SELECT $1": 9000, "SHOW transaction_isolation": 3000,
				"SELECT current_schema()": 3000, find: 3000}), commits, active(1, "", "SELECT 1"), work)},
		{"SetUpForEachThatNoSampleMet", statementsWithoutWork.name, "5.0 statements", Problem,
			plant(sends(map[string]float64{"SELECT $1": 15_000, find: 3000}), commits, work)},
		{"OneTestNowAndThen", statementsWithoutWork.name, "", "",
			plant(sends(map[string]float64{"SELECT $1": 90, find: 3000}), commits, work)},
		{"OneTestForEach", statementsWithoutWork.name, "", "",
			plant(sends(map[string]float64{"SELECT $1": 3000, find: 3000}), commits, work)},
		{"Uncounted", statementsWithoutWork.name, "shop sends statements that do no work", Problem,
			plant(nil, nil, active(1, "", "SET TimeZone = 'UTC'"), work)},
		{"CatalogsReadForABackup", statementsWithoutWork.name, "", "", plant(nil, nil, dumps, work)},
		{"TransactionsOfOneRead", statementsWithoutWork.name, "BEGIN and COMMIT around single", Problem,
			plant(sendsBoth(3000), commits, active(1, "", "COMMIT"), work)},
		{"TransactionsOfSeveral", statementsWithoutWork.name, "", "",
			plant(sendsBoth(9000), commits, active(1, "", "COMMIT"), work)},
		{"TransactionsOfOneWrite", statementsWithoutWork.name, "", "", plant(sends(map[string]float64{"BEGIN": 3000,
			"COMMIT": 3000, "UPDATE items SET n = $1 WHERE id = $2": 3000}), commits, active(1, "", "COMMIT"), work)},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

// Those who only read pay a commit for a row that is written each time.
func TestWriteWithEachRead(t *testing.T) {
	find := "SELECT name FROM items WHERE id = $1"
	note, counted := "UPDATE items SET seen = extract(epoch FROM clock_timestamp()) WHERE id = $1",
		"UPDATE items SET seen = extract($1 FROM clock_timestamp()) WHERE id = $2"
	work := active(9, "", find)
	of := func(writes float64) func(*measured) { return sends(map[string]float64{counted: writes, find: 3000}) }
	job := active(9, "", find)
	job.Application = "desk"
	for _, c := range []judged{
		{"Each", writeWithEachRead.name, "shop writes a row with nearly each read", Problem, plant(of(3000), commits,
			active(1, "IO:WalSync", note), work)},
		{"Few", writeWithEachRead.name, "", "", plant(of(300), commits, active(1, "IO:WalSync", note), work)},
		{"OfATransaction", writeWithEachRead.name, "", "", plant(of(3000), commits, behindOthers(active(1, "IO:WalSync",
			note)), work)},
		{"OfAnotherApplication", writeWithEachRead.name, "", "", plant(of(3000), commits, active(1, "IO:WalSync", note),
			job)},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

// A clause that locks what is read is named where nothing follows in its transaction, or where it locks many rows.
func TestRowsLockedByReaders(t *testing.T) {
	list := "SELECT id, price FROM tariffs WHERE id > $1 FOR  SHARE"
	queue := "SELECT id FROM jobs ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED"
	work := active(9, "", "SELECT * FROM t WHERE id = 1")
	of := func(text string, rows float64) func(*measured) {
		return counts(nil, called(text, 1000, 9, func(l *statement.Account) { l.PerCall.Rows = &rows }))
	}
	for _, c := range []judged{
		{"AloneInItsTransaction", locksOfReaders.name, "FOR SHARE locks each row that it reads: a read that writes " +
			"rows and log for nothing", Problem, plant(nil, commits, active(1, "IO:WalSync", list), active(2, "",
			list), work)},
		{"ManyRows", locksOfReaders.name, "FOR SHARE", Note, plant(of(list, 300), nil, active(1, "", list), work)},
		{"OneRow", locksOfReaders.name, "", "", plant(of(list, 1), nil, active(1, "", list), work)},
		{"SomeOfAQueue", locksOfReaders.name, "", "", plant(of(queue, 100), nil, active(1, "", queue), work)},
		{"OthersWait", lockContention.name, "by SELECT … FOR UPDATE", Problem, plant(blockedBy(active(1,
			"IO:DataFileRead", "SELECT n FROM hot WHERE id = 1 FOR UPDATE")), nil, active(2, lockWait, ""),
			active(3, lockWait, ""), work)},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

// A limit of joins is why a statement of many tables takes long, and not one of two, or one that is quick.
func TestJoinLimits(t *testing.T) {
	of := func(joins int, calls, ms float64, settings ...string) *measured {
		text := "SELECT count(*) FROM a" + strings.Repeat(" JOIN b USING (id)", joins)
		return plant(together(setFor(settings...), counts(nil, called(text, calls, ms, nil))), nil,
			by(7, 0, active(1, "", text)), active(9, "", "SELECT * FROM t WHERE id = 1"))
	}
	for _, c := range []judged{
		{"ThreeTables", joinLimits.name, "join_collapse_limit = 1", Problem, of(2, 100, 95, "join_collapse_limit=1")},
		{"TwoTables", joinLimits.name, "", "", of(1, 100, 95, "join_collapse_limit=1")},
		{"WithinTheLimit", joinLimits.name, "", "", of(2, 100, 95, "join_collapse_limit=4")},
		{"Quick", joinLimits.name, "", "", of(2, 50_000, 0.2, "join_collapse_limit=1")},
		{"PostgreSQLsOwn", joinLimits.name, "", "", of(2, 100, 95, "join_collapse_limit=8")},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

// A statement that works beyond its rows is named, unless a setting can be why: not by one that does nothing to it.
func TestBeyondItsRows_BesideASetting(t *testing.T) {
	of := func(joins int, setting string) *measured {
		text := "SELECT count(*) FROM a" + strings.Repeat(" JOIN a USING (id)", joins)
		return plant(together(setFor(setting), counts(nil, called(text, 100, 95, func(l *statement.Account) {
			l.Tables = []string{"public.a"}
		}))), nil, by(7, 0, active(1, "", text)), active(9, "", "SELECT * FROM t WHERE id = 1"))
	}
	for _, c := range []judged{
		{"JoinLimitOfThreeTables", beyondItsRows.name, "", "", of(2, "join_collapse_limit=1")},
		{"JoinLimitOfTwoTables", beyondItsRows.name, "far longer than the rows", Problem,
			of(1, "join_collapse_limit=1")},
		{"NoHashJoin", beyondItsRows.name, "", "", of(1, "enable_hashjoin=off")},
		{"NoHashJoinOfOneTable", beyondItsRows.name, "far longer than the rows", Problem,
			of(0, "enable_hashjoin=off")},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

// A setting that a session gives itself is known where its SET was sampled.
func TestSettings_OfASession(t *testing.T) {
	text := "SELECT count(*) FROM a JOIN b USING (id) JOIN c USING (id)"
	for set, want := range map[string]bool{"SET join_collapse_limit = 1": true,
		"SET LOCAL join_collapse_limit TO '1'": true,
		"SET join_collapse_limit = 8":          false, "SET statement_timeout = 1": false} {
		_, _, findings := said(plant(counts(nil, called(text, 100, 95, nil)), nil, active(1, "", text), at(2,
			"idle in transaction", "Client:ClientRead", set)))
		if got := slices.ContainsFunc(findings, func(f Finding) bool {
			return f.Name == joinLimits.name && strings.HasPrefix(f.Title, "A session has a setting of its own")
		}); got != want {
			t.Errorf("%s: %v, want %v: %+v", set, got, want, findings)
		}
	}
}

func TestKnownSettings(t *testing.T) {
	grouped, joined := "SELECT kind, count(*) FROM t GROUP BY kind", "SELECT * FROM a JOIN b USING (id)"
	for _, c := range []struct {
		name, value, boot, text string
		want                    bool
	}{
		{"enable_hashjoin", "off", "on", joined, true}, {"enable_hashjoin", "off", "on", grouped, false},
		{"enable_hashjoin", "on", "on", joined, false}, {"enable_hashagg", "off", "on", grouped, true},
		{"enable_indexscan", "off", "on", "SELECT 1 FROM t", true}, {"random_page_cost", "100", "4", joined, true},
		{"random_page_cost", "1.1", "4", joined, false}, {"work_mem", "64kB", "4096", joined, true},
		{"work_mem", "64", "4096", joined, true}, {"work_mem", "4MB", "4096", joined, false},
		{"effective_cache_size", "8MB", "524288", joined, true},
		{"effective_cache_size", "524288", "524288", joined, false},
		{"plan_cache_mode", "force_generic_plan", "auto", joined, true},
		{"plan_cache_mode", "force_custom_plan", "auto", joined, false},
		{"wal_consistency_checking", "heap", "", "UPDATE t SET n = 1", true},
		{"wal_consistency_checking", "heap", "", joined, false}, {"jit", "off", "on", joined, false},
		{"from_collapse_limit", "1", "8", "SELECT * FROM (SELECT * FROM a) x, b", true},
		{"from_collapse_limit", "1", "8", "SELECT * FROM a, b", false}, {"my.setting", "1", "", joined, false},
	} {
		s := Setting{Name: c.name, Value: c.value, boot: c.boot}
		if got := s.narrows() && s.suffers(c.text); got != c.want {
			t.Errorf("%s = %s of %s: %v, want %v", c.name, c.value, c.text, got, c.want)
		}
	}
	for value, want := range map[string]time.Duration{"5": 5 * time.Millisecond, "5s": 5 * time.Second,
		"1min": time.Minute, "1h": time.Hour, "0": 0, "250 ms": 250 * time.Millisecond, "2d": 48 * time.Hour, "-1": 0,
		"x": 0} {
		if got := timeOfSetting(value); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
	if names := slices.Sorted(maps.Keys(knownSettings)); len(names) < 60 || slices.ContainsFunc(names,
		func(name string) bool { return knownSettings[name].says == "" }) {
		t.Errorf("%q do not all say what they do", names)
	}
}

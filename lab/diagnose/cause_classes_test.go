package diagnose

import (
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/sqltext"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/lab/diagnose/statement"
)

// counts gives statements accounts, as if the server had counted them for the ten seconds of plant.
func counts(planning *float64, all ...statement.Account) func(*measured) {
	return func(m *measured) {
		m.inside.Totals = &statement.Totals{LastedS: 10, PlanS: planning}
		m.statements = all
	}
}

// called so often, with executions of so many milliseconds.
func called(text string, calls, ms float64, more func(*statement.Account)) statement.Account {
	l := statement.Account{Text: text, Source: statement.FromCounters, Calls: &calls, MeanMS: &ms, S: calls * ms / 1000}
	if more != nil {
		more(&l)
	}
	return l
}

// stockTable has three indexes, two of them with a number that changes.
var stockTable = &plan.Table{Name: "public.stock", Plain: "stock", Estimated: 20_000, Columns: []plan.Column{
	{Name: "id", Type: "integer"}, {Name: "n", Type: "integer"}, {Name: "kind", Type: "integer"}},
	Indexes: []plan.Index{{Name: "stock_pkey", First: "id", Columns: []string{"id"}, Valid: true},
		{Name: "stock_n", First: "n", Columns: []string{"n"}, Valid: true},
		{Name: "stock_kind", First: "kind", Columns: []string{"kind", "n"}, Valid: true}}}

func knows(tables ...*plan.Table) func(*measured) {
	return func(m *measured) {
		m.tables = map[string]*plan.Table{}
		for _, t := range tables {
			m.tables[t.Name] = t
		}
	}
}

func together(changes ...func(*measured)) func(*measured) {
	return func(m *measured) {
		for _, change := range changes {
			change(m)
		}
	}
}

// behindOthers: statements before it have begun the transaction of a session.
func behindOthers(s waits.Session) waits.Session {
	s.InXact = s.InState + 4*time.Millisecond
	return s
}

// Each class of causes is named by its figures, and not where they are usual ones.
func TestClasses(t *testing.T) {
	work := active(9, "", "SELECT * FROM t WHERE id = 1")
	insert, update := "INSERT INTO lines VALUES ($1)", "UPDATE stock SET n = n + $1 WHERE kind = $2"
	rowTrigger := func(l *statement.Account) {
		l.Triggers = []string{"check_line of public.lines, for each row: public.check"}
		l.EachRow = []statement.Runs{{Kind: "trigger", Name: "check_line", Table: "public.lines"}}
	}
	policy := func(l *statement.Account) {
		l.Policies = []string{"own of public.stock: may(id)"}
		l.EachRow = []statement.Runs{{Kind: "policy", Name: "own", Table: "public.stock"}}
	}
	stock := func(columns map[string]float64) figures { return figures{counters.Tables: {"public.stock": columns}} }
	lines := func(rows float64) figures {
		return figures{counters.Tables: {"public.lines": {"n_tup_ins": rows}}}
	}
	commits := func(perS float64) figures {
		return figures{counters.Databases: {"shop": {"xact_commit": 10 * perS, "xact_rollback": 0}},
			counters.WAL: {"all": {"wal_sync": 10 * perS, "wal_sync_time": 10 * perS}}}
	}
	toast := func(blocks float64) func(*measured) {
		return func(m *measured) { m.inside.Toast = map[string]float64{"public.stock": blocks} }
	}
	documents := func(scanned float64) figures {
		return stock(map[string]float64{"seq_scan": scanned / 200, "seq_tup_read": scanned, "idx_tup_fetch": 100})
	}
	held := func(xids int64) func(*measured) {
		return func(m *measured) {
			m.holders = map[string]waits.Holder{"session 7": {Kind: "session", Name: "7", XIDs: xids, For: time.Minute}}
		}
	}
	entries := func(read float64) figures {
		return figures{counters.Tables: {"public.stock": {"n_live_tup": 30_000, "n_dead_tup": 20_000,
			"idx_tup_fetch": 100}}, counters.Indexes: {"public.stock.stock_pkey": {"tup_read": read, "idx_scan": 100,
			"unique": 1}}}
	}
	hot := func(within, scans float64) figures {
		return figures{counters.Tables: {"public.stock": {"n_tup_upd": 20_000, "n_tup_hot_upd": within}},
			counters.Indexes: {"public.stock.stock_n": {"idx_scan": scans, "unique": 0},
				"public.stock.stock_kind": {"idx_scan": scans, "unique": 0}}}
	}
	begun := func(numbers float64) figures {
		return figures{counters.Statements: {"BEGIN": {"calls": 1000}}, counters.Numbers: {"all": {"next": numbers}}}
	}
	query, read := "SELECT count(*) FROM stock WHERE kind = $1", "SELECT id FROM stock ORDER BY id LIMIT 1"
	for _, c := range []judged{
		{"TriggerForEachRow", functionsWithin.name, "trigger check_line of public.lines", Problem,
			plant(counts(nil, called(insert, 100, 90, rowTrigger)), lines(20_000), active(1, "", insert), work)},
		{"TriggerThatTakesLittle", functionsWithin.name, "", "",
			plant(counts(nil, called(insert, 100, 90, rowTrigger)), lines(2_000_000), active(1, "", insert), work)},
		{"PolicyForEachRow", functionsWithin.name, "policy own of " +
			"public.stock", Problem, plant(counts(nil, called(query,
			100, 90, policy)), stock(map[string]float64{"idx_tup_fetch": 500_000}), active(1, "", query), work)},
		{"PlanningThatNobodyTimes", planningTakes.name, "planned for long", Problem,
			plant(counts(nil, called(query, 200, 1, nil)), nil, active(1, "", query), work)},
		{"CallsThatFail", planningTakes.name, "", "", plant(counts(nil, called(query, 200, 1, nil)),
			figures{counters.Databases: {"shop": {"xact_commit": 1000, "xact_rollback": 500}}}, active(1, "", query),
			work)},
		{"SleepWithoutAWait", planningTakes.name, "", "", plant(together(counts(nil, called(query, 200, 1, nil)),
			split(0.2, 0)), nil, active(1, "", query), work)},
		{"ExecutionAlone", planningTakes.name, "", "",
			plant(counts(nil, called(query, 200, 48, nil)), nil, active(1, "", query), work)},
		{"ShortCallsThatWaitToBegin", planningTakes.name, "", "",
			plant(counts(nil, called(query, 50_000, 0.01, nil)), nil, active(1, "", query), work)},
		{"LocksHeldForAMoment", lockBetween.name, "wait for locks whose holders wait for their clients", Problem,
			plant(blockedBy(idleFor(10*time.Millisecond)), nil, idleFor(10*time.Millisecond), active(2, lockWait, ""),
				active(3, lockWait, ""), work)},
		{"LocksHeldForLong", lockBetween.name, "", "", plant(blockedBy(idleFor(5*time.Second)), nil,
			idleFor(5*time.Second), active(2, lockWait, ""), active(3, lockWait, ""), work)},
		{"LocksHeldForAMomentOnABusyMachine", lockBetween.name, "wait for locks", Problem, plant(together(
			blockedBy(idleFor(10*time.Millisecond)), func(m *measured) {
				m.host.Others, m.host.CPUPressure = new(0.8), new(0.95)
			}), nil, idleFor(10*time.Millisecond), active(2, lockWait, ""), active(3, lockWait, ""), work)},
		{"AutovacuumAgainAndAgain", autovacuumAtWork.name, "comes to public.stock", Note, plant(nil,
			stock(map[string]float64{"autovacuum_count": 9, "autoanalyze_count": 9}), work)},
		{"AutovacuumNowAndThen", autovacuumAtWork.name, "", "", plant(nil,
			stock(map[string]float64{"autovacuum_count": 1}), work)},
		{"Deadlocks", deadlocked.name, "deadlock", Problem, plant(nil, figures{counters.Databases: {"shop": {
			"deadlocks": 5}}}, active(2, lockWait, ""), active(3, lockWait, ""), work)},
		{"NoDeadlock", deadlocked.name, "", "", plant(nil, figures{counters.Databases: {"shop": {"deadlocks": 0}}},
			active(2, lockWait, ""), work)},
		{"CommitForEachRow", commitForEachRow.name, "committed by itself", Problem,
			plant(nil, commits(700), active(1, "IO:WalSync", insert), work)},
		{"CommitOfABatch", commitForEachRow.name, "", "", plant(nil, commits(700), behindOthers(active(1, "IO:WalSync",
			insert)), work)},
		{"CommitsOfPeople", commitForEachRow.name, "", "",
			plant(nil, commits(20), active(1, "IO:WalSync", insert), work)},
		{"QueueOfCommits", commitForEachRow.name, "", "", plant(nil, commits(700), active(1, "IO:WalSync", insert),
			active(2, "LWLock:WALWrite", insert), active(3, "LWLock:WALWrite", insert), active(4, "LWLock:WALWrite",
				insert), work)},
		{"WorkersForShortStatements", shortParallel.name, "short statements", Problem, plant(counts(nil, called(query,
			5000, 2, nil)), nil, active(1, "IPC:BgWorkerShutdown", query), active(2, "", query), work)},
		{"WorkersForLongStatements", shortParallel.name, "", "", plant(counts(nil, called(query, 10, 900, nil)), nil,
			active(1, "IPC:ExecuteGather", query), active(2, "", query), work)},
		{"LargeValues", largeValues.name, "public.stock", Problem,
			plant(toast(600_000), documents(40_000), active(1, "", query), work)},
		{"FewLargeValues", largeValues.name, "", "", plant(toast(10_000), documents(40_000), active(1, "", query),
			work)},
		{"LargeValuesByTheirKeys", largeValues.name, "", "",
			plant(toast(600_000), documents(0), active(1, "", query), work)},
		{"ScanInALoop", scanInLoop.name, "estimate of rows is too " +
			"low", Problem, plant(counts(nil, called(query, 100, 90,
			nil)), stock(map[string]float64{"seq_scan": 40_000, "seq_tup_read": 80_000_000}), active(1, "", query),
			work)},
		{"ScanForEachCall", scanInLoop.name, "", "", plant(counts(nil, called(query, 40_000, 0.2, nil)),
			stock(map[string]float64{"seq_scan": 40_000, "seq_tup_read": 80_000_000}), active(1, "", query), work)},
		{"DeadEntries", deadRowsRead.name, "public.stock", Problem,
			plant(nil, entries(2_000_000), active(1, "", read), work)},
		{"LiveEntries", deadRowsRead.name, "", "", plant(nil, entries(500), active(1, "", read), work)},
		{"DeadEntriesThatAreHeld", heldHorizon.name, "holds back vacuum", Problem,
			plant(held(20), entries(2_000_000), active(1, "", read), work)},
		{"AnOldSnapshotThatHarmsNobody", heldHorizon.name, "", "",
			plant(held(20), entries(500), active(1, "", read), work)},
		{"UpdatesIntoEveryIndex", notHOT.name, "write into every index", Problem,
			plant(knows(stockTable), hot(0, 0), active(1, "", update), work)},
		{"UpdatesOfAnIndexThatIsRead", notHOT.name, "", Note,
			plant(knows(stockTable), hot(0, 900), active(1, "", update), work)},
		{"UpdatesThatAreHOT", notHOT.name, "", "",
			plant(knows(stockTable), hot(19_000, 0), active(1, "", update), work)},
		{"AllRowsCounted", allRows.name, "public.stock", Problem, plant(together(knows(stockTable), func(m *measured) {
			m.remarks = []remark{{plan.Remark{Name: plan.AllRows, Table: "public.stock", Strong: true, Text: "all",
				Next: []string{"count less"}},
				[]string{"SELECT count(*) FROM stock"}, nil}}
		}), stock(map[string]float64{"seq_scan": 100, "seq_tup_read": 50_000_000}),
			active(1, "", "SELECT count(*) FROM stock"), work)},
		{"ReadWholeToJoin", wholeTables.name, "", "", plant(together(knows(stockTable), func(m *measured) {
			m.remarks = []remark{{plan.Remark{Name: plan.ReadToJoin, Table: "public.stock", Text: "all"},
				[]string{"SELECT * FROM lines JOIN stock USING (id)"}, nil}}
		}), stock(map[string]float64{"seq_scan": 100, "seq_tup_read": 50_000_000}),
			active(1, "", "SELECT * FROM lines JOIN stock USING (id)"), work)},
		{"ReadWholeToJoinByAnIndex", wholeTables.name, "", "", plant(knows(stockTable),
			stock(map[string]float64{"seq_scan": 100, "seq_tup_read": 50_000_000}),
			active(1, "", "SELECT s.name FROM lines l JOIN stock s ON s.id = l.item WHERE l.day > 1 GROUP BY s.name"),
			work)},
		{"ReadWholeToJoinByATextThatIsCut", wholeTables.name, "public.stock", Problem, plant(knows(stockTable),
			stock(map[string]float64{"seq_scan": 100, "seq_tup_read": 50_000_000}),
			active(1, "", "SELECT s.name FROM lines l JOIN stock s ON s.id = l.item WHERE l.day"+sqltext.CutMark),
			work)},
		{"ReadWholeToJoinAndForAValue", wholeTables.name, "public.stock", Problem, plant(knows(stockTable),
			stock(map[string]float64{"seq_scan": 100, "seq_tup_read": 50_000_000}),
			active(1, "", "SELECT s.name FROM lines l JOIN stock s ON s.id = l.item WHERE s.shelf = 7"), work)},
		{"ReadWholeToJoinWithoutIndex", wholeTables.name, "public.stock", Problem, plant(knows(stockTable),
			stock(map[string]float64{"seq_scan": 100, "seq_tup_read": 50_000_000}),
			active(1, "", "SELECT * FROM lines JOIN stock USING (id)"), work)},
		{"AnIndexThatIsUsedBesideScans", plan.IndexNotUsed, "", "", plant(together(knows(stockTable), counts(nil,
			called("SELECT * FROM stock WHERE id = $1", 100, 90, func(l *statement.Account) {
				l.PerCall.Blocks = new(3.0)
			}))), stock(map[string]float64{"seq_scan": 100, "seq_tup_read": 50_000_000, "relpages": 900}),
			active(1, "", "SELECT * FROM stock WHERE id = $1"), work)},
		{"ReadsBegunAsWrites", readsAsWrites.name, "only read", Note, plant(nil, begun(10), work)},
		{"WritesBegunAsWrites", readsAsWrites.name, "", "", plant(nil, begun(900), work)},
	} {
		t.Run(c.name, func(t *testing.T) {
			healthy := c.check(t)
			if c.finding == heldHorizon.name && c.level == Problem && strings.Contains(healthy, "dead rows") {
				t.Errorf("healthy: %s", healthy)
			}
		})
	}
}

package diagnose

import (
	"math"
	"slices"
	"strings"
	"testing"

	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/lab/diagnose/statement"
)

// said is what a server's diagnosis says, besides its findings.
func said(m *measured) (healthy, missing string, findings []Finding) {
	var s sources
	findings, all := judge(m, &s)
	for _, one := range s.missing {
		missing += one.Name + ": " + one.Why + "\n"
	}
	return strings.Join(all, "\n"), missing, findings
}

// "Not the problem" is said of what was measured and takes little. Each of these was said once, and was false.
func TestHealthy_DeniesNothingThatIsThere(t *testing.T) {
	work := active(9, "", "SELECT fill_the_month(1)")
	scans := grown(map[string]float64{"seq_scan": 300, "seq_tup_read": 300 * 400_000})
	for _, c := range []struct {
		name   string
		m      *measured
		denied string // part of a sentence that must not be said
		told   string // that must be told as unknown, or as a figure
	}{
		{"ScansThatNoStatementNames", plant(nil, scans, work), "is read whole", "Statements read all of public.t"},
		{"TemporaryFilesThatNoSampleMet", plant(nil, figures{counters.Databases: {"shop": {"temp_bytes": 1 << 30}}},
			work), "temporary files", "MB of temporary files a second"},
		{"DeadRowsThatNoStatementNames", plant(nil, bloatedTable, work), "as many dead rows", "may read dead rows of " +
			"public.fat"},
		{"OthersUseProcessorsThatNobodyWaitsFor", plant(func(m *measured) {
			m.host.Busy, m.host.Database, m.host.Others = new(0.95), new(0.05), new(0.9)
		}, nil, work), "do not take", "other processes take the processors: it takes 0"},
		{"ExplainedReads", plant(nil, nil, active(1, "IO:DataFileRead", "VACUUM (FREEZE) t")),
			"reading or writing", ""},
		{"GapsOfAProgram", plant(nil, nil, idleFor(0), work), "wait for their clients", ""},
		{"LocksOfSomebody", plant(blockedBy(active(1, "IO:WalSync", "COMMIT")), nil, active(2, lockWait, ""),
			active(3, lockWait, ""), work), "no session waits for a lock", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			healthy, missing, _ := said(c.m)
			if strings.Contains(healthy, c.denied) {
				t.Errorf("it says that %q is not the problem:\n%s", c.denied, healthy)
			}
			if !strings.Contains(healthy+"\n"+missing, c.told) {
				t.Errorf("nothing says %q:\n%s\n%s", c.told, healthy, missing)
			}
		})
	}
}

// What the ledger shows is not excluded: the database's own statements keep the processors busy.
func TestContradictions_ExcludeNothingThatTheLedgerShows(t *testing.T) {
	own := plant(func(m *measured) {
		split(2, 8)(m)
		m.host.Busy, m.host.Database, m.host.Others = new(1.0), new(0.98), new(0.02)
	}, nil, active(1, "", "SELECT * FROM t WHERE id = 1"), active(2, "", "SELECT * FROM t WHERE id = 1"))
	if c := runningAndProcessor(own); c.Verdict != Contradicts || strings.Contains(c.Excluded, "statements") ||
		!strings.Contains(c.Says, "own processes keep") {
		t.Errorf("%+v, want that the database itself uses them", c)
	}
	rolledBack := plant(nil, figures{counters.Databases: {"shop": {"xact_commit": 10, "xact_rollback": 990}}},
		idleFor(20_000_000), idleFor(20_000_000), active(3, "", "UPDATE t SET n = 1"))
	if c := roundTripsAndGaps(rolledBack); c.Verdict != Contradicts || strings.Contains(c.Excluded, "a slow "+
		"database") ||
		!slices.ContainsFunc(c.Figures, func(f Figure) bool { return f.Value == "99 %" }) {
		t.Errorf("%+v, want the rollbacks among its figures", c)
	}
	slow := plant(nil, slowCommit(100, 9), active(1, "IO:WalSync", ""), active(2, "IO:WalSync", ""),
		active(3, "IO:WalSync", ""), active(4, "IO:WalSync", ""))
	if c := commitsAndFlushes(slow); strings.Contains(c.Excluded, "a slow disk") {
		t.Errorf("%+v: a flush of 9 ms is slow", c)
	}
}

// A wait without a cause of its own is told with figures, and never stands before what has a reason.
func TestNoReason_IsToldWithFigures(t *testing.T) {
	for _, c := range []struct {
		name, event, query, want string
	}{
		{"Processor", "", "SELECT sum(x) FROM big WHERE f(x) = 1", "processor time"},
		{"Gaps", "gap", "UPDATE t", "client or network"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := active(1, c.event, c.query)
			if c.event == "gap" {
				s = idleFor(0)
			}
			_, _, findings := said(plant(nil, nil, s))
			i := slices.IndexFunc(findings, func(f Finding) bool { return f.Name == NoReason })
			if i < 0 || i != len(findings)-1 || findings[i].Level != Note ||
				!strings.Contains(findings[i].Title, c.want) ||
				len(findings[i].Evidence) < 2 || len(findings[i].Next) == 0 {
				t.Errorf("findings %+v, want the last one to say that no reason was found", findings)
			}
		})
	}
	_, _, findings := said(plant(nil, nil, active(1, "Extension:Extension", "SELECT * FROM far")))
	if len(findings) == 0 || findings[0].Name != ofExtensions.name || findings[0].Level != Problem {
		t.Errorf("findings %+v, want the extension", findings)
	}
}

// Where statements are not counted, that is what to do first.
func TestNoReason_AsksToCountStatements(t *testing.T) {
	for why, want := range map[string]bool{"": false, "pg_stat_statements is not installed": true} {
		_, _, findings := said(plant(func(m *measured) {
			if why != "" {
				m.inside.Missing = []statement.Missing{{Name: statement.Counters, Why: why}}
			}
		}, nil, active(1, "", "SELECT sum(x) FROM big WHERE f(x) = 1")))
		next := ""
		if len(findings) > 0 {
			next = strings.Join(findings[len(findings)-1].Next, "\n")
		}
		if strings.Contains(next, "let the server count statements") != want || !strings.Contains(next, why) {
			t.Errorf("%q is missing: next %q", why, next)
		}
	}
}

// An operation is judged by its own sessions, whatever has been found for all of them before.
func TestOperations_AreJudgedByThemselves(t *testing.T) {
	all := plant(nil, nil, longer(active(1, "", "SELECT 1 FROM a JOIN b ON a.x < b.x")))
	_, _, found := said(all)
	found = slices.DeleteFunc(found, func(f Finding) bool { return f.Name != longStatements.name })
	for text := range all.book.texts() {
		all.explain([]string{text}, true)
		all.addRepeated([]string{text})
	}
	w := &watch{operations: map[string]*book{"sale.post": all.book}}
	operations := w.ofOperations(all, all.delta)
	if len(found) != 1 || len(operations) != 1 || !slices.ContainsFunc(operations[0].Findings,
		func(f Finding) bool { return f.Name == longStatements.name && *f.Price == *found[0].Price }) {
		t.Errorf("of all %+v, of the operation %+v", found, operations)
	}
}

// The words of a finding about waits are those of its event.
func TestFindings_TellEachEventByItself(t *testing.T) {
	for event, want := range map[string]string{
		"LWLock:SubtransSLRU": "savepoints", "LWLock:LockManager": "partitions", "IPC:CheckpointDone": "CHECKPOINT",
		"IPC:BtreePage": "parallel", "LWLock:MultiXactGen": "foreign keys", "BufferPin:BufferPin": "cursor",
		"LWLock:WALInsert": "full-page images", "IO:SlruRead": "pg_stat_slru", "IPC:BgWorkerShutdown": "short " +
			"statements",
		"LWLock:Foam": "documentation", "Quantum:Foam": "documentation",
	} {
		_, _, findings := said(plant(nil, nil, active(1, event, "SELECT * FROM t WHERE id = 1")))
		if len(findings) == 0 || findings[0].Level != Problem {
			t.Errorf("%s: findings %+v", event, findings)
			continue
		}
		f := findings[0]
		if next := strings.Join(f.Next, "\n"); !strings.Contains(next, want) || !strings.Contains(f.Title, event) {
			t.Errorf("%s: %s, next %q, want %q", event, f.Title, f.Next, want)
		}
		if strings.Contains(strings.Join(f.Next, ""), "pg_test_fsync") {
			t.Errorf("%s: advice about flushes: %q", event, f.Next)
		}
	}
}

func TestLedger_OfAnIdleServerHasNoLinesAndIsNotNull(t *testing.T) {
	if l := newBook().ledger(nil, ""); l.Lines == nil {
		t.Error("null, want an empty list")
	}
}

// A scan has another reason than a missing index where an index begins with the column.
func TestScans_TellAnIndexThatIsThere(t *testing.T) {
	scans := grown(map[string]float64{"seq_scan": 500, "seq_tup_read": 100_000_000})
	text := plan.Column{Name: "name", Type: "text", Plain: true}
	table := &plan.Table{Name: "public.t", Plain: "t", Estimated: 200_000,
		Columns: []plan.Column{{Name: "id", Type: "integer"}, text, {Name: "n", Type: "integer"}},
		Indexes: []plan.Index{{Name: "t_id", First: "id", Valid: true, Method: "btree"},
			{Name: "t_name", First: "name", Valid: true, Method: "btree", Ops: "text_ops", Locale: "C"}}}
	other := *table
	other.Indexes = []plan.Index{{Name: "t_name", First: "name", Valid: true, Method: "btree", Collation: "POSIX",
		Other: true}}
	known := func(sql string, table *plan.Table) *measured {
		s := active(1, "", sql)
		s.Role, s.Database = 7, 1
		m := plant(nil, scans, s)
		m.tables = map[string]*plan.Table{"public.t": table}
		return m
	}
	off := &Settings{}
	off.ofUser(roleIn{0, 7}, "", "app", "enable_indexscan=off", nil)
	generic := &Settings{}
	generic.ofUser(roleIn{1, 7}, "shop", "app", "plan_cache_mode=force_generic_plan", nil)
	others := &Settings{}
	others.ofUser(roleIn{0, 8}, "", "nobody", "enable_indexscan=off", nil)
	for _, c := range []struct {
		sql, name, why string
		table          *plan.Table
		settings       *Settings
	}{
		{"SELECT * FROM t WHERE id = 7", plan.IndexNotUsed, "the planner thinks", table, others},
		{"SELECT * FROM t WHERE lower(name) = 'x'", plan.IndexNotUsed, "on lower(name)", table, nil},
		{"SELECT * FROM t WHERE id::text = 'x'", plan.IndexNotUsed, "converted to text", table, nil},
		{"SELECT * FROM t WHERE id = 7", plan.IndexNotUsed, "enable_indexscan is off", table, off},
		{"SELECT * FROM t WHERE id = $1", plan.IndexNotUsed, "generic plan of a prepared statement is for", table,
			generic},
		{"SELECT * FROM t WHERE name = 'x'", plan.IndexNotUsed, "under the collation POSIX", &other, nil},
		{"SELECT * FROM t WHERE name LIKE '%x%'", plan.IndexNotUsed, "begins with a wildcard", table, nil},
		{"WITH o AS MATERIALIZED (SELECT * FROM t) SELECT * FROM o WHERE id = 1", plan.IndexNotUsed, "MATERIALIZED",
			table, nil},
		{"SELECT * FROM t WHERE n > 7", wholeTables.name, "", table, nil},
	} {
		m := known(c.sql, c.table)
		if c.settings != nil {
			m.settings = c.settings
		}
		_, missing, findings := said(m)
		if len(findings) == 0 || findings[0].Name != c.name || findings[0].Level != Problem ||
			!strings.Contains(findings[0].Title, c.why) {
			t.Errorf("%s: %+v, want %s: %s", c.sql, findings, c.name, c.why)
		}
		if strings.Contains(missing, "no statement that was seen reads") {
			t.Errorf("%s: a statement was seen:\n%s", c.sql, missing)
		}
	}
}

// Commits with NOTIFY wait for a lock of their own, whatever its holder waits for.
func TestNotify_IsNamed(t *testing.T) {
	m := plant(func(m *measured) {
		m.book.takeLocks(lockLook{covers: tick, sessions: map[int]waits.Session{1: active(1, "IO:WalSync", "COMMIT")},
			blocked: []waits.Blocked{{PID: 2, Event: "object", Blockers: []int{1}, Key: waits.NotifyQueue}}}, nil)
	}, nil, active(1, "IO:WalSync", "COMMIT"), active(2, "Lock:object", "COMMIT"), active(3, "Lock:object", "COMMIT"))
	_, _, findings := said(m)
	if len(findings) == 0 || findings[0].Name != lockOfNotify.name || findings[0].Level != Problem {
		t.Errorf("found %+v, want NOTIFY's lock", findings)
	}
}

// Who uses the server's share of the processors.
func TestProcessors_OfTheServersOwnKinds(t *testing.T) {
	for name, uses := range map[string][]Use{
		processorsElsewhere.name: {{usedElsewhere, 0.8}, {usedHere, 0.18}},
		processorsByServer.name:  {{kindSender, 0.6}, {kindCheckpointer, 0.2}, {usedHere, 0.18}},
		autovacuumAtWork.name:    {{kindAutovacuum, 0.8}, {usedHere, 0.18}},
		processorsFull.name:      {{usedHere, 0.98}},
	} {
		m := plant(func(m *measured) {
			split(2, 8)(m)
			m.host.Busy, m.host.Database, m.host.Others, m.host.Server = new(1.0), new(0.98), new(0.02), uses
			m.background = []Background{{Kind: kindAutovacuum, AtWork: 2}}
		}, nil, active(1, "", "SELECT * FROM t WHERE id = 1"))
		_, _, findings := said(m)
		if len(findings) == 0 || findings[0].Name != name || findings[0].Level != Problem {
			t.Errorf("found %+v, want %s", findings, name)
		}
	}
}

// Checkpoints are blamed for what is waited for more while one runs.
func TestCheckpoints(t *testing.T) {
	planted := func(during, between float64) *measured {
		return plant(func(m *measured) {
			m.book.checkpoint = transfers{5, during * 5}
			m.book.between = transfers{5, between * 5}
		}, figures{counters.Checkpoints: {"all": {"num_requested": 3, "num_timed": 0}},
			counters.WAL: {"all": {"wal_fpi": 1000, "wal_bytes": 10 << 20}}},
			active(1, "IO:WalSync", "COMMIT"), active(2, "IO:DataFileRead", "SELECT * FROM t WHERE id = 1"))
	}
	if _, _, findings := said(planted(3.8, 0.2)); len(findings) == 0 || findings[0].Name != checkpoints.name ||
		findings[0].Level != Problem {
		t.Errorf("found %+v, want checkpoints", findings)
	}
	if _, _, findings := said(planted(2, 2)); slices.ContainsFunc(findings, func(f Finding) bool {
		return f.Name == checkpoints.name
	}) {
		t.Errorf("found %+v: it is the same between two", findings)
	}
}

// A setting of a role is a reason for the time of that role's sessions alone.
func TestSettings_OfARole(t *testing.T) {
	s := active(1, "", "SELECT * FROM t")
	s.Role, s.Database = 7, 1
	other := active(2, "", "SELECT * FROM u")
	other.Role, other.Database = 8, 1
	m := plant(nil, nil, s, other)
	set := &Settings{}
	set.ofUser(roleIn{0, 7}, "", "app", "enable_indexscan=off", map[string]serverSetting{"enable_indexscan": {"on", "",
		"on"}})
	set.ofUser(roleIn{0, 9}, "", "nobody", "enable_hashjoin=off", nil)
	set.ofUser(roleIn{0, 7}, "", "app", "search_path=x", nil)
	set.ofUser(roleIn{0, 7}, "", "app", "my.password=secret", nil)
	m.settings = set
	_, _, findings := said(m)
	if len(findings) == 0 || findings[0].Name != ownSettings.name || math.Abs(*findings[0].Price-0.5) > 1e-9 ||
		!strings.Contains(findings[0].Title, "Role app") || len(set.Differ) != 2 {
		t.Errorf("found %+v of %+v, want the role's half of the time", findings, set)
	}
}

func TestPerStatement(t *testing.T) {
	for _, c := range []struct {
		name, value, unit string
		want              bool
	}{
		{"log_statement", "all", "", true}, {"log_statement", "ddl", "", false},
		{"log_min_duration_statement", "0", "ms", true}, {"log_min_duration_statement", "-1", "ms", false},
		{"log_min_duration_statement", "5s", "", false}, {"log_min_duration_statement", "1000", "ms", false},
		{"auto_explain.log_min_duration", "0", "ms", true}, {"auto_explain.log_analyze", "on", "", true},
		{"pgaudit.log", "none", "", false}, {"pgaudit.log", "write", "", true}, {"work_mem", "0", "kB", false},
	} {
		if got := perStatement(c.name, c.value, c.unit) != ""; got != c.want {
			t.Errorf("%s = %s: %v, want %v", c.name, c.value, got, c.want)
		}
	}
}

// A prepared transaction is named, and its locks are not those of a session at work.
func TestPrepared_IsNamed(t *testing.T) {
	p := &waits.Prepared{GID: "order-42", Owner: "app", Database: "shop", XIDs: 9, Holds: "RowExclusiveLock of orders"}
	m := plant(func(m *measured) {
		m.book.takeLocks(lockLook{covers: tick, sessions: map[int]waits.Session{}, blocked: []waits.Blocked{
			{PID: 2, Blockers: []int{0}, Prepared: p}, {PID: 3, Blockers: []int{2}}}}, nil)
	}, nil, active(2, lockWait, ""), active(3, lockWait, ""), active(9, "", "SELECT * FROM t WHERE id = 1"))
	_, _, findings := said(m)
	if len(findings) == 0 || findings[0].Name != lockOfPrepared.name || findings[0].Level != Problem ||
		!strings.Contains(findings[0].Title, "order-42") ||
		!strings.Contains(strings.Join(findings[0].Evidence, "\n"), "RowExclusiveLock of orders") {
		t.Errorf("found %+v, want the prepared transaction order-42", findings)
	}
	for _, f := range findings {
		if f.Name == lockContention.name {
			t.Errorf("also at work: %+v", f)
		}
	}
}

// Sessions that talk all the time are idle to the server.
func TestTinyTransactions(t *testing.T) {
	planted := func(perS float64) *measured {
		return plant(func(m *measured) { m.talking = 6 }, figures{counters.Databases: {"shop": {
			"xact_commit": 10 * perS, "xact_rollback": 0}}}, active(1, "", "SELECT * FROM t WHERE id = 1"))
	}
	for perS, want := range map[float64]bool{2000: true, 100: false, 50_000: false} {
		_, _, findings := said(planted(perS))
		got := slices.ContainsFunc(findings, func(f Finding) bool { return f.Name == tinyTransactions.name })
		if got != want {
			t.Errorf("%.0f a second: %v, want %v", perS, got, want)
		}
	}
}

func TestMSText_IsNeverZero(t *testing.T) {
	for ms, want := range map[float64]string{0: "less than 0.01 ms", 0.004: "less than 0.01 ms", 0.5: "0.50 ms"} {
		if got := msText(ms); got != want {
			t.Errorf("%v: %s, want %s", ms, got, want)
		}
	}
}

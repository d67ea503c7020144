package diagnose

import (
	"fmt"
	"regexp"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// withLog is work and the log that it fills.
var withLog = append(slices.Clone(work), waits.WAL, waits.Sleep)

var maintains = func() func(string) bool {
	verbs := begins("VACUUM", "ANALYZE", "REINDEX", "CLUSTER", "REFRESH")
	return func(sql string) bool { return verbs(sql) || makesIndex.MatchString(sql) }
}()

// tempTablesCounted: programs that keep intermediate results in temporary tables count and index them by themselves.
var tempTablesCounted = cause{
	name: "temp-tables-counted",
	find: func(m *measured) (*Finding, string) {
		u := m.uses(withLog, func(sql string) bool { return maintains(sql) && ofTempTable.MatchString(sql) })
		if u.share == 0 {
			return nil, ""
		}
		return &Finding{
			Price: &u.share, Title: "Programs count and index their temporary tables before they read them",
			there: true, explains: u.statements, toLog: true,
			Mechanism: "Autovacuum does not see temporary tables: whoever wants statistics of one runs ANALYZE " +
				"itself, each time that it is filled. For a few rows that costs more than a better plan saves.",
			Evidence: []string{fmt.Sprintf("%s of the time is spent on: %s", human.Percent(u.share), u.largest)},
			Excluded: []string{"it is no maintenance of tables that others read"},
			Next: []string{"leave ANALYZE out where a table has a few rows or is read once",
				"plimsoll prove C35    what statistics of temporary tables are worth, and what counts them for less"},
		}, ""
	},
}

// ofTempTable is what names one by the schema of temporary tables.
var ofTempTable = regexp.MustCompile(`(?i)\bpg_temp(?:_\d+)?\s*\.`)

// maintenance of tables and indexes during the load.
var maintenance = cause{
	name:    "maintenance",
	healthy: "no client runs VACUUM, ANALYZE, REINDEX or CREATE INDEX on tables that others read",
	find: func(m *measured) (*Finding, string) {
		u := m.uses(withLog, func(sql string) bool { return maintains(sql) && !ofTempTable.MatchString(sql) })
		behind := m.behindStatements(u.statements)
		title, next := lockingOut(u.largest)
		return &Finding{
			Price: new(u.share + behind), Title: title, there: u.share+behind > 0,
			explains: u.statements, toLog: true,
			Mechanism: "VACUUM, REINDEX and the like read and write whole tables. They compete with all other " +
				"sessions for processors, disk and log, and some lock the table.",
			Evidence: []string{fmt.Sprintf("%s of the time is spent on: %s", human.Percent(u.share), u.largest)},
			Excluded: []string{"a client runs it, not autovacuum"},
			Next: append(next, "run it when few users are active, or leave it to autovacuum",
				"SET vacuum_cost_delay = '2ms' in the session of a VACUUM or ANALYZE makes it yield"),
		}, ""
	},
}

// exclusive are commands that lock out readers or writers, and those that do the same beside them.
var exclusive = []struct {
	is           *regexp.Regexp
	command, own string
}{
	{regexp.MustCompile(`(?i)^REFRESH\s+MATERIALIZED\s+VIEW\s+(?:CONCURRENTLY)?`), "REFRESH MATERIALIZED VIEW",
		"REFRESH MATERIALIZED VIEW CONCURRENTLY lets others read meanwhile; it needs a unique index"},
	{regexp.MustCompile(`(?i)^VACUUM\s*\(?[^;]*\bFULL\b`), "VACUUM FULL",
		"VACUUM without FULL makes room for new rows and locks nobody out; pg_repack writes a table anew beside " +
			"its users"},
	{regexp.MustCompile(`(?i)^CLUSTER\b`), "CLUSTER", "pg_repack writes a table anew beside its users"},
	{makesIndex, "CREATE INDEX", "CREATE INDEX CONCURRENTLY lets others write meanwhile"},
	{regexp.MustCompile(`(?i)^REINDEX\b`), "REINDEX", "REINDEX CONCURRENTLY lets others write meanwhile"},
}

// lockingOut says which command runs, and what does the same without locking others out.
func lockingOut(sql string) (title string, next []string) {
	title = "Maintenance runs during the load"
	concurrently := names(sql, "CONCURRENTLY")
	for _, one := range exclusive {
		if one.is.MatchString(sql) {
			if title += ": " + one.command; !concurrently {
				next = []string{one.own}
			}
			break
		}
	}
	return title, next
}

var makesIndex = regexp.MustCompile(`(?i)^CREATE\s+(UNIQUE\s+)?INDEX\b`)

var copiesOut = regexp.MustCompile(`(?i)^COPY\b.*\bTO\s+(STDOUT|PROGRAM)\b`)

// backup: whole tables are copied out of the server.
var backup = cause{
	name:    "backup",
	healthy: "no client runs a backup or an export during the load",
	find: func(m *measured) (*Finding, string) {
		u := m.uses(append(slices.Clone(work), waits.Client), copiesOut.MatchString)
		own := m.book.copying / max(m.ledger.TotalS, 1e-9)
		return &Finding{
			Price: new(u.share + own), Title: "A backup or an export runs during the load", explains: u.statements,
			there: u.share+own > 0,
			Mechanism: "Whole tables are read and sent to a client, which takes processor and disk; its transaction " +
				"keeps vacuum from removing rows until it ends.",
			Evidence: []string{fmt.Sprintf("%s of the time is spent on: %s; %s of the time its program is busy "+
				"between two statements", human.Percent(u.share), u.largest, human.Percent(own))},
			Excluded: []string{"it is not a query of the application: it copies a whole table"},
			Next:     []string{"take it from a replica, or when few users are active"},
		}, ""
	},
}

// longStatements that no other cause explains.
var longStatements = cause{
	name:    "long-statements",
	healthy: "no statement runs longer than 0.25 s by itself",
	find: func(m *measured) (*Finding, string) {
		times := amounts{}
		for sql, seconds := range m.book.longRunning {
			if !m.explained[sql] {
				times[sql] = seconds
			}
		}
		all := parts(times, partsKept)
		f := &Finding{
			Price: new(0.0), Title: "A few statements take long without waiting for anything",
			Mechanism: "A join without a usable condition, a join in the wrong order, or more rows than anybody " +
				"reads: the statement itself does too much work.",
			Excluded: []string{"they wait for no lock; as far as the figures tell, their tables' indexes, statistics " +
				"and dead rows are not the reason"},
			Next: []string{"EXPLAIN (ANALYZE, BUFFERS) the first of them: where do rows multiply?"},
		}
		for _, one := range all {
			share := one.S / max(m.ledger.TotalS, 1e-9) * m.gotProcessor()
			*f.Price += share
			f.explains = append(f.explains, one.Name)
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s of the time, in calls of more than %.2f s: %s",
				human.Percent(share), longStatement.Value, one.Name))
			f.Evidence = append(append(f.Evidence, m.within(one.Name)...), m.hasText(one.Name)...)
		}
		f.there = len(all) > 0
		f.partial = len(m.book.longRunning) > len(all) || m.gotProcessor() < 1
		if top := m.takesMost(); top != nil && *f.Price < problemFrom.Value {
			return top, ""
		}
		return f, ""
	},
}

// takesMost is one statement that takes most of the time by itself, in calls that are long for what an index finds;
// nil: none does.
func (m *measured) takesMost() *Finding {
	for i := range m.statements {
		l := &m.statements[i]
		if l.MeanMS == nil || *l.MeanMS*m.gotProcessor() < topMS.Value || l.Nested != nil && *l.Nested {
			continue
		}
		own := m.sampledAs(l.Text)
		u := m.uses([]waits.Class{waits.Running}, func(sql string) bool { return slices.Contains(own, sql) })
		price := u.share * m.gotProcessor()
		if price < topStatement.Value {
			continue
		}
		return &Finding{Price: &price, explains: u.statements, Statements: m.book.full(u.statements), there: true,
			partial: true, Title: "One statement takes most of the time, and no reason was found but its own work",
			Mechanism: "It does not wait. It reads, joins, sorts or computes more than a short operation should.",
			Evidence: append([]string{fmt.Sprintf("%s of the time is processor time of: %s", human.Percent(price),
				u.largest)}, append(m.within(u.largest), m.hasText(u.largest)...)...),
			Excluded: []string{"it waits for no lock, disk or client"},
			Next:     []string{"EXPLAIN (ANALYZE, BUFFERS) it: which line has most of the time, rows and loops?"}}
	}
	return nil
}

// gotProcessor is the part of running sessions' time in which they had a processor: a short statement that gets none,
// in the queue, by a quota or by the hypervisor, takes long, too.
func (m *measured) gotProcessor() float64 {
	ran, running := m.ledger.share(OnCPU), m.ledger.running()
	if _, why := m.queue(); why != "" || ran <= 0 {
		return 1
	}
	return ran / running
}

// bulkWriting: many rows are written at once.
var bulkWriting = cause{
	name:    "bulk-writing",
	text:    true,
	healthy: "no table gains or changes rows in bulk",
	find: func(m *measured) (*Finding, string) {
		if why := m.delta.Why(counters.Tables); why != "" {
			return nil, why
		}
		var best *Finding
		for _, key := range m.delta.Keys(counters.Tables) {
			rows := 0.0
			for _, column := range []string{"n_tup_ins", "n_tup_upd", "n_tup_del"} {
				if grew := m.delta.PerSecond(m.delta.Grew(counters.Tables, key, column)); grew != nil {
					rows += *grew
				}
			}
			u := m.uses(withLog, statementsOn(key, writes))
			least := bulkRows.Value
			if transactions := m.transactions(); transactions != nil {
				least = max(least, bulkEach.Value**transactions)
			}
			if rows < least || best != nil && *best.Price >= u.share {
				continue
			}
			best = &Finding{
				there: true, partial: true,
				Price: new(u.share), Title: "Rows are written in bulk into " + key,
				explains: u.statements, toLog: true,
				Mechanism: "A load of many rows fills the log and the shared memory, and other commits wait " +
					"behind it.",
				Evidence: []string{fmt.Sprintf("%.0f rows a second; %s of the time is spent on: %s", rows,
					human.Percent(u.share), u.largest)},
				Excluded: []string{},
				Next:     []string{"load in smaller batches, at a quiet hour, or with COPY"},
			}
		}
		if best != nil && *best.Price == 0 {
			return nil, best.Title + " (" + best.Evidence[0] + "), by no statement that was seen: what it takes is " +
				"not known"
		}
		return best, ""
	},
}

// largeResults: the server waits until clients read what they asked for.
var largeResults = cause{
	name:    "large-results",
	healthy: "no large result waits to be fetched",
	classes: inClient,
	find: func(m *measured) (*Finding, string) {
		u := m.uses([]waits.Class{waits.Client}, func(sql string) bool { return !copiesOut.MatchString(sql) })
		share := m.sending() * u.share / max(m.unexplainedShare(waits.Client), 1e-9)
		return &Finding{
			partial: m.sending() >= noteFrom.Value,
			Price:   new(share), Title: "Sessions wait for their clients to read large results",
			Mechanism: "What does not fit into the network's buffers waits in the server until the client reads. " +
				"The session holds its snapshot meanwhile.",
			Evidence: []string{fmt.Sprintf("%s of the time is Client:ClientWrite; most in: %s; %s rows read a second",
				human.Percent(share), u.largest, text(m.delta.PerSecond(m.delta.Sum(counters.Databases, "",
					"tup_returned")), "%.0f"))},
			Excluded: []string{"the server has the rows ready"},
			Next:     []string{"fetch fewer rows or columns, or page by page; see what the client does while it reads"},
		}, ""
	},
}

// sending is the share of the time in which sessions wait to send.
func (m *measured) sending() (share float64) {
	for key, w := range m.book.events {
		if key.event.Name == "ClientWrite" {
			share += w.seconds / max(m.ledger.TotalS, 1e-9)
		}
	}
	return share
}

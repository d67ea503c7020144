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

// maintenance of tables and indexes during the load.
var maintenance = cause{
	name:    "maintenance",
	healthy: "no client runs VACUUM, ANALYZE, REINDEX or CREATE INDEX during the load",
	find: func(m *measured) (*Finding, string) {
		u := m.uses(withLog, func(sql string) bool {
			return begins("VACUUM", "ANALYZE", "REINDEX", "CLUSTER", "REFRESH")(sql) || makesIndex.MatchString(sql)
		})
		behind := 0.0
		for _, s := range m.stories {
			if slices.Contains(u.statements, s.Root.Statement) {
				behind += s.Share
			}
		}
		return &Finding{
			Price: new(u.share + behind), Title: "Maintenance runs during the load", there: u.share+behind > 0,
			explains: u.statements, toLog: true,
			Mechanism: "VACUUM, REINDEX and the like read and write whole tables. They compete with all other " +
				"sessions for processors, disk and log, and some lock the table.",
			Evidence: []string{fmt.Sprintf("%s of the time is spent on: %s; others wait for its locks %s of the time",
				human.Percent(u.share), u.largest, human.Percent(behind))},
			Excluded: []string{"a client runs it, not autovacuum"},
			Next: []string{"run it when few users are active, or leave it to autovacuum",
				"SET vacuum_cost_delay = '2ms' in its session makes it yield"},
		}, ""
	},
}

var makesIndex = regexp.MustCompile(`(?i)^CREATE\s+(UNIQUE\s+)?INDEX\b`)

var copiesOut = regexp.MustCompile(`(?i)^COPY\b.*\bTO\s+(STDOUT|PROGRAM)\b`)

// backup: whole tables are copied out of the server.
var backup = cause{
	name:    "backup",
	healthy: "no client copies whole tables out during the load",
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
			f.Evidence = append(f.Evidence, m.within(one.Name)...)
		}
		f.there = len(all) > 0
		f.partial = len(m.book.longRunning) > len(all) || m.gotProcessor() < 1
		return f, ""
	},
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
	healthy: "sessions do not wait until clients read their results",
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

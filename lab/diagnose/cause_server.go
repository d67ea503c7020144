package diagnose

import (
	"fmt"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// ownPart is the part of the server's processor time that is not of other databases and of its own processes.
func (m *measured) ownPart() float64 {
	elsewhere, own := m.host.split()
	return max(0, 1-elsewhere-own)
}

// usesText is how the server's own use of processors divides.
func (h *Host) usesText() string {
	var texts []string
	for _, u := range h.Server {
		if u.Share >= noteFrom.Value/2 {
			texts = append(texts, u.Kind+" "+human.Percent(u.Share))
		}
	}
	return "of the server's processes, in all cores: " + nonEmpty(strings.Join(texts, ", "), "not known by kind")
}

// processorsByServer: processes of the server that serve no client use the processors.
var processorsByServer = cause{
	name:    "processors-taken-by-server-processes",
	healthy: "",
	classes: inRunning,
	find: func(m *measured) (*Finding, string) {
		waiting, r, why := m.queueAndRoom()
		if why != "" || len(m.host.Server) == 0 {
			return nil, why
		}
		_, part := m.host.split()
		autovacuum := valueOr(m.host.coresOf(kindAutovacuum), 0) / float64(m.host.Cores) / max(*m.host.Database, 1e-9)
		if part -= autovacuum; part < serverPart.Value {
			return nil, ""
		}
		f := &Finding{Price: new(waiting * r.own() * part), there: true,
			Title: "Processes of the server itself take the processors",
			Mechanism: "Checkpoints, senders of the log, decoding and replay run beside the sessions, which wait for " +
				"a processor meanwhile.",
			Evidence: []string{m.host.usesText()},
			Excluded: []string{"it is neither the sessions' own work nor another program"},
			Next:     []string{"fewer receivers that decode; rarer checkpoints; a standby for what need not be here"},
		}
		for i := range m.background {
			if b := &m.background[i]; valueOr(b.Cores, 0) > 0 && len(f.Evidence) < 4 {
				f.Evidence = append(f.Evidence, b.says()[0])
			}
		}
		return f, ""
	},
}

// processorsElsewhere: sessions of other databases of this server use the processors.
var processorsElsewhere = cause{
	name:    "processors-taken-by-other-databases",
	healthy: "",
	classes: inRunning,
	find: func(m *measured) (*Finding, string) {
		waiting, r, why := m.queueAndRoom()
		if why != "" || len(m.host.Server) == 0 {
			return nil, why
		}
		part, _ := m.host.split()
		if part < serverPart.Value {
			return nil, ""
		}
		return &Finding{Price: new(waiting * r.own() * part), there: true,
			Title:     "Sessions of other databases of this server take the processors",
			Mechanism: "All databases of a server share its processors. The ledger has the sessions of all of them.",
			Evidence:  []string{m.host.usesText()},
			Excluded:  []string{"it is no other program of the machine"},
			Next: []string{"SELECT datname, count(*) FROM pg_stat_activity WHERE state = 'active' GROUP BY 1    " +
				"which " +
				"database?", "plimsoll diagnose --dsn …    of that database, for its own tables and statements"},
		}, ""
	},
}

// autovacuumAtWork: its workers use processors and disks, or hold what sessions wait for.
var autovacuumAtWork = cause{
	name:    "autovacuum",
	healthy: "autovacuum was not at work",
	find: func(m *measured) (*Finding, string) {
		b := m.backgroundOf(kindAutovacuum)
		behind := 0.0
		for _, s := range m.stories {
			if s.Root.Process == kindAutovacuum {
				behind += s.Share
			}
		}
		table, each := m.vacuumedOften()
		if b == nil && behind == 0 && table == "" {
			return nil, ""
		}
		f := &Finding{Title: "Autovacuum works during the load", there: true, partial: true,
			Mechanism: "Autovacuum reads whole tables and indexes and writes what it cleans. It competes for " +
				"processors " +
				"and disk, and its locks delay DDL; against wraparound it does not yield.",
			Excluded: []string{"no client runs it"},
			Next: []string{"which table, and why now: autovacuum_vacuum_scale_factor of a large table that changes " +
				"much " +
				"makes it rarer and longer", "autovacuum_vacuum_cost_delay and _cost_limit slow it down; too slow, " +
				"and " +
				"dead rows grow"}}
		if b != nil {
			f.Evidence = b.says()
		}
		price, known := m.autovacuumPrice()
		price += behind
		switch {
		case table != "" && price < problemFrom.Value: // it is at work for a moment each time
			f.Title = "Autovacuum comes to " + table + " again and again"
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s was vacuumed or analyzed every %.1f s", table, each))
			f.Evidence = append(f.Evidence, m.ofTableText(table)...)
			f.Next = append(f.Next, "SHOW autovacuum_naptime; the table's own thresholds and scale factors (\\d+ "+
				table+")")
		case known || behind > 0:
			f.Price = new(price)
		case b.AtWork < busyWorkers.Value:
			return nil, "what autovacuum takes is not known: the server's machine is not visible, or pg_stat_io " +
				"does not " +
				"exist before 16"
		}
		if behind > 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("sessions wait %s of the time for locks that it holds",
				human.Percent(behind)))
		}
		return f, ""
	},
}

// vacuumedOften is the table that autovacuum comes to more often than its naptime lets it by PostgreSQL's own settings,
// and every how many seconds; empty: none.
func (m *measured) vacuumedOften() (table string, each float64) {
	most := 0.0
	for _, key := range m.delta.Keys(counters.Tables) {
		times := valueOr(m.delta.Grew(counters.Tables, key, "autovacuum_count"), 0) +
			valueOr(m.delta.Grew(counters.Tables, key, "autoanalyze_count"), 0)
		if times > most {
			table, most = key, times
		}
	}
	each = m.delta.For.Seconds() / max(most, 1)
	if most < vacuumsLeast.Value || each > vacuumsEvery.Value {
		return "", 0
	}
	return table, each
}

// autovacuumPrice is its part of the processors that sessions wait for, and of the reads and writes.
func (m *measured) autovacuumPrice() (price float64, known bool) {
	if waiting, r, why := m.queueAndRoom(); why == "" && len(m.host.Server) > 0 {
		cores := valueOr(m.host.coresOf(kindAutovacuum), 0)
		price += waiting * r.own() * cores / float64(m.host.Cores) / max(*m.host.Database, 1e-9)
		known = true
	}
	moved := func(only string) (sum float64) {
		for _, key := range m.delta.Keys(counters.Transfers) {
			if !strings.HasPrefix(key, "relation ") || !strings.HasSuffix(key, only) {
				continue
			}
			for _, column := range []string{"reads", "writes", "extends"} {
				sum += valueOr(m.delta.Grew(counters.Transfers, key, column), 0)
			}
		}
		return sum
	}
	if all := moved(""); all > 0 && m.delta.Why(counters.Transfers) == "" {
		price += m.unexplainedShare(waits.IO) * moved(kindAutovacuum) / all
		known = true
	}
	return price, known
}

package diagnose

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// catalogChurn: tables, mostly temporary ones, are created and dropped all the time.
var catalogChurn = cause{
	name:    "catalog-churn",
	healthy: "the catalogs change little",
	find: func(m *measured) (*Finding, string) {
		rows := m.churn()
		if rows == nil {
			return nil, "the statistics of the catalogs could not be read"
		}
		if *rows < churnRows.Value || m.ledger.TotalS == 0 {
			return nil, ""
		}
		dropping := m.droppedByCommits()
		f := &Finding{
			Price: new(m.book.define()/m.ledger.TotalS + dropping), there: true, partial: true,
			Title: "Tables are created and dropped all the time",
			Mechanism: "A temporary table with an index writes some twenty rows into the catalogs, takes locks, " +
				"makes all sessions refresh their caches, and leaves dead catalog rows that every session reads.",
			Evidence: []string{fmt.Sprintf("%.0f catalog rows are inserted or deleted a second", *rows)},
			Excluded: []string{"the price counts CREATE, DROP, ALTER and TRUNCATE, and commits that drop; what " +
				"other statements lose to it comes on top"},
			Next: []string{"plimsoll prove C12 C13    what is gained by a memory catalog and a pool of temp tables",
				"instead of DROP and CREATE, DELETE few rows and TRUNCATE many (plimsoll prove C15)"},
		}
		if dropping > 0 {
			f.Title = "Temporary tables are created and dropped (ON COMMIT DROP) all the time"
			f.Evidence = append(f.Evidence, fmt.Sprintf("commits drop the tables, which takes %s of the time",
				human.Percent(dropping)))
		}
		if m.book.define() > 0 {
			f.explains, f.toLog = m.uses(withLog, begins("CREATE", "DROP", "ALTER", "TRUNCATE")).statements, true
		}
		for _, part := range parts(m.book.verbs, len(m.book.verbs)) {
			if first, _, _ := strings.Cut(part.Name, " "); definitions[first] {
				f.Evidence = append(f.Evidence, fmt.Sprintf("%s takes %s of the time", part.Name,
					human.Percent(part.S/m.ledger.TotalS)))
			}
		}
		if grew := m.catalogGrowth(); grew != nil {
			f.Evidence = append(f.Evidence, fmt.Sprintf("the catalogs grew by %.0f KB", *grew/1024))
		}
		return f, ""
	},
}

var dropsAtCommit = regexp.MustCompile(`(?i)^CREATE\s+(?:LOCAL\s+|GLOBAL\s+)?TEMP(?:ORARY)?\s+TABLE\b.*\bON\s+` +
	`COMMIT\s+DROP\b`)

// droppedByCommits is the share of the time that commits work where they drop temporary tables: a plain commit waits
// for the log, and works for a moment.
func (m *measured) droppedByCommits() float64 {
	for text := range m.book.texts() {
		if dropsAtCommit.MatchString(nonEmpty(m.book.fullTexts[text], text)) {
			return m.uses(work, begins("COMMIT", "END")).share
		}
	}
	return 0
}

// catalogGrowth in bytes; nil: not measured.
func (m *measured) catalogGrowth() *float64 { return m.delta.Sum(counters.CatalogSizes, "", "bytes") }

// bloated is a table with more dead rows than live ones.
type bloated struct {
	name       string
	live, dead float64
	entries    float64 // of its indexes that were read and led to no row that is seen
	price      float64 // of statements that name it
	statement  string
	statements []string
}

// bloat lists bloated tables that statements use, the costliest first.
func (m *measured) bloat() (all []bloated, why string) {
	if why := m.delta.Why(counters.Tables); why != "" {
		return nil, why
	}
	for _, key := range m.delta.Keys(counters.Tables) {
		dead, live := m.delta.Now(counters.Tables, key, "n_dead_tup"), m.delta.Now(counters.Tables, key, "n_live_tup")
		if dead == nil || live == nil {
			continue
		}
		*dead *= 1 - m.pruned(key)
		entries := m.deadEntries(key)
		if *dead < deadRowsLeast.Value || *dead < deadRows.Value**live && (entries == 0 ||
			*dead < staleRows.Value**live) {
			continue
		}
		b := bloated{name: key, live: *live, dead: *dead, entries: entries}
		u := m.uses(work, statementsOn(key, queries))
		b.price, b.statement, b.statements = u.share, u.largest, u.statements
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b bloated) int {
		return cmp.Or(cmp.Compare(b.price, a.price), cmp.Compare(b.dead, a.dead), cmp.Compare(a.name, b.name))
	})
	return all, ""
}

// deadEntries of a table's indexes were read on the way to rows that are seen, many for each; 0: few.
func (m *measured) deadEntries(table string) float64 {
	found := valueOr(m.delta.Grew(counters.Tables, table, "idx_tup_fetch"), 0)
	read := 0.0
	for _, key := range m.delta.Keys(counters.Indexes) {
		if of := key[:strings.LastIndex(key, ".")]; of == table {
			read += valueOr(m.delta.Grew(counters.Indexes, key, "tup_read"), 0)
		}
	}
	if read < rowsPerScan.Value || read < deadEntries.Value*max(found, 1) {
		return 0
	}
	return read - found
}

// pruned is the part of a table's dead rows that whoever reads the page next removes, though statistics count them
// until the next vacuum: those of updates that changed no index. None while something holds them.
func (m *measured) pruned(table string) float64 {
	updated := m.delta.Grew(counters.Tables, table, "n_tup_upd")
	within := m.delta.Grew(counters.Tables, table, "n_tup_hot_upd")
	if updated == nil || within == nil || *updated <= 0 || m.holder() != nil {
		return 0
	}
	return min(1, *within / *updated)
}

// names says whether a statement names a table, as a word of its own.
func names(sql, table string) bool {
	outside := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '$' }
	for _, word := range strings.FieldsFunc(sql, outside) {
		if strings.EqualFold(word, table) {
			return true
		}
	}
	return false
}

// holder is what keeps dead rows alive; nil: nothing does for long.
func (m *measured) holder() *waits.Holder {
	var oldest *waits.Holder
	for _, h := range m.holders {
		long := h.For.Seconds() >= heldSeconds.Value || h.Kind == "replication slot" || h.Kind == "standby"
		if long && !h.Catalogs && float64(h.XIDs) >= heldXids.Value && (oldest == nil || h.XIDs > oldest.XIDs) {
			oldest = &h
		}
	}
	return oldest
}

// holding is what keeps dead rows alive that statements read: any transaction that is open for long, where few others
// began since.
func (m *measured) holding() *waits.Holder {
	if h := m.holder(); h != nil {
		return h
	}
	if all, why := m.bloat(); why != "" || len(all) == 0 || all[0].price == 0 {
		return nil
	}
	var oldest *waits.Holder
	for _, h := range m.holders {
		if h.For.Seconds() >= heldSeconds.Value && !h.Catalogs && h.XIDs > 0 && (oldest == nil ||
			h.XIDs > oldest.XIDs) {
			oldest = &h
		}
	}
	return oldest
}

const deadMechanism = "Dead rows stay in their pages and indexes until vacuum may remove them. Every scan reads " +
	"them, only to skip them."

// heldHorizon: something keeps vacuum from removing dead rows.
var heldHorizon = cause{
	name:    "held-horizon",
	healthy: "nothing keeps vacuum from removing dead rows for long",
	find: func(m *measured) (*Finding, string) {
		h := m.holding()
		if h == nil {
			return nil, ""
		}
		f := &Finding{
			Title:     fmt.Sprintf("A %s holds back vacuum: %s %s", h.Kind, h.Name, h.Application),
			Mechanism: deadMechanism + " Rows that died after the oldest open transaction began must stay.",
			Evidence: []string{fmt.Sprintf("%s, for %.0f s and %d transactions%s", nonEmpty(h.State, "open"),
				h.For.Seconds(), h.XIDs, lastStatement(h.Query))},
			Excluded: []string{"autovacuum cannot help: it must leave these rows"},
			Next: []string{"end that transaction, or drop the slot if nothing needs it; vacuum then follows by itself",
				"psql -c 'VACUUM (VERBOSE) TABLE'    says how many dead rows cannot be removed yet"},
		}
		all, why := m.bloat()
		if why != "" || len(all) == 0 || all[0].price == 0 {
			return f, "" // its price is unknown
		}
		f.there, f.partial = true, true
		f.Price, f.explains = new(all[0].price), all[0].statements
		f.Evidence = append(f.Evidence, all[0].evidence())
		return f, ""
	},
}

func lastStatement(sql string) string {
	if sql = normalizedText(sql); sql == "?" {
		return ""
	}
	return "; last statement: " + sql
}

func (b bloated) evidence() string {
	entries := ""
	if b.entries > 0 {
		entries = fmt.Sprintf(", and %.0f entries of its indexes were read that lead to no row", b.entries)
	}
	return fmt.Sprintf("%s has %.0f dead rows and %.0f live ones%s; %s of the time is spent on: %s", b.name, b.dead,
		b.live, entries, human.Percent(b.price), nonEmpty(b.statement, "no statement that was seen"))
}

// deadRowsRead: statements read tables that are not vacuumed.
var deadRowsRead = cause{
	name:    "dead-rows",
	healthy: "no table has twice as many dead rows as live ones",
	waste:   true,
	find: func(m *measured) (*Finding, string) {
		all, why := m.bloat()
		if why != "" || len(all) == 0 {
			return nil, why
		}
		if m.holding() != nil {
			return &Finding{Price: new(0.0), partial: true}, "" // that has a finding of its own
		}
		if all[0].price == 0 {
			return nil, "statements may read dead rows of " + all[0].name + ": " + all[0].evidence()
		}
		f := &Finding{
			there: true, partial: true,
			Price: new(all[0].price), Title: "Statements read dead rows of " + all[0].name, Mechanism: deadMechanism,
			explains: all[0].statements,
			Excluded: []string{"no old transaction holds them: vacuum may remove them"},
			Next: []string{"psql -c 'VACUUM (VERBOSE, ANALYZE) " + all[0].name + "'",
				"find out why autovacuum does not clean it: autovacuum, autovacuum_vacuum_scale_factor, the table's " +
					"own settings"},
		}
		for _, b := range all[:min(3, len(all))] {
			f.Evidence = append(f.Evidence, b.evidence())
		}
		return f, ""
	},
}

// churn is the number of catalog rows inserted and deleted per second; nil: not measured.
func (m *measured) churn() *float64 {
	return m.bothPerSecond(counters.Catalogs, "n_tup_ins", "n_tup_del")
}

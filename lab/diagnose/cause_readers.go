package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

var (
	lockingClause = regexp.MustCompile(`(?i)\bfor\s+(no\s+key\s+update|key\s+share|update|share)\b`)
	skipsLocked   = regexp.MustCompile(`(?i)\bskip\s+locked\b`)
)

// clauseOf a statement of the samples that locks the rows which it reads; empty: it locks none.
func (m *measured) clauseOf(sampled string) string {
	text := nonEmpty(m.book.fullTexts[sampled], sampled)
	found := lockingClause.FindStringSubmatch(text)
	if found == nil || !begins("SELECT")(text) { // WITH may change what it locks
		return ""
	}
	return "FOR " + strings.ToUpper(strings.Join(strings.Fields(found[1]), " "))
}

// flushedIn a statement of the samples: its own commit waits for the log, since its transaction ends with it.
func (b *book) flushedIn(text string) (seconds float64) {
	for key, w := range b.events {
		if key.class == waits.WAL && !key.gap && !strings.HasPrefix(strings.ToUpper(key.event.Name), "WALINSERT") {
			seconds += w.statements[text]
		}
	}
	return seconds
}

// locksOfReaders: statements that read lock all rows that they find, which writes into each of them and into the log.
var locksOfReaders = cause{
	name:  "rows-locked-by-readers",
	waste: true,
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for _, one := range parts(m.book.texts(), len(m.book.texts())) {
			clause := m.clauseOf(one.Name)
			u := m.uses(withLog, func(sql string) bool { return sql == one.Name })
			if clause == "" || u.share == 0 || best != nil && *best.Price >= u.share {
				continue
			}
			r, l := m.book.runners[one.Name], m.accountOf(one.Name)
			flushed := m.book.flushedIn(one.Name) / max(m.ledger.TotalS, 1e-9)
			alone := flushed >= u.share/10 && r.later <= r.first
			rows, many := "not counted", false
			if l != nil && l.PerCall.Rows != nil {
				rows, many = fmt.Sprintf("%.0f", *l.PerCall.Rows), *l.PerCall.Rows >= locksManyRows.Value
			}
			if !alone && (!many || skipsLocked.MatchString(nonEmpty(m.book.fullTexts[one.Name], one.Name))) {
				continue // who takes a row to change it, or some of a queue, means to
			}
			f := &Finding{Price: new(u.share), explains: u.statements, toLog: true, there: true, partial: true,
				Statements: m.book.full(u.statements), remark: !alone,
				Title: fmt.Sprintf("SELECT … %s locks each row that it reads: a read that writes rows and log", clause),
				Mechanism: "A lock of a row is written into the row, which goes to disk and into the log like a " +
					"change; several lockers of one make a MultiXact. Others who need the row wait until the " +
					"transaction ends.",
				Evidence: append([]string{fmt.Sprintf("%s of the time is spent on: %s; rows of a call: %s",
					human.Percent(u.share), u.largest, rows)}, m.within(u.largest)...),
				Excluded: []string{"not what it reads: the same without the clause writes nothing"},
				Next: []string{"lock where the row is changed afterwards in the same transaction, and only there; a " +
					"consistent list needs no locks: one statement has one snapshot, REPEATABLE READ has one for " +
					"several", "a mapper's default lock mode (PESSIMISTIC_READ, PESSIMISTIC_WRITE, with_for_update)"}}
			if alone {
				f.Title += " for nothing, since its transaction ends with it"
				f.Evidence = append(f.Evidence, fmt.Sprintf("%s of the time its own commits wait for the log, which "+
					"those of a read do not do: the locks are gone when the program has the rows",
					human.Percent(flushed)))
			}
			f.Evidence = append(f.Evidence, m.multixacts()...)
			best = f
		}
		return best, ""
	},
}

// multixacts that are looked up, as evidence.
func (m *measured) multixacts() (lines []string) {
	for _, key := range m.delta.Keys(counters.Caches) {
		if !strings.HasPrefix(strings.ToLower(key), "multixact") {
			continue
		}
		perS := m.delta.PerSecond(m.delta.Grew(counters.Caches, key, "blks_hit"))
		if perS != nil && *perS >= 1 {
			lines = append(lines, fmt.Sprintf("%.0f pages of %s are asked for a second", *perS, key))
		}
	}
	slices.Sort(lines)
	return lines
}

// clauseIn a story: how its holder, or who waits most, locks the rows that it reads, as a part of a title; empty: by
// changing them.
func (m *measured) clauseIn(s Story) string {
	all := []string{s.Root.Statement}
	if len(s.Statements) > 0 {
		all = append(all, s.Statements[0].Name)
	}
	for _, text := range all {
		if clause := m.clauseOf(text); clause != "" {
			return ", by SELECT … " + clause
		}
	}
	return ""
}

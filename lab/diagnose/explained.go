package diagnose

import (
	"slices"
	"strings"

	"plimsoll/ground/postgres/waits"
)

// explain statements: a problem names why they take their time, or also why they wait for the log.
func (m *measured) explain(statements []string, toLog bool) {
	if m.explained == nil {
		m.explained, m.explainedLog = map[string]bool{}, map[string]bool{}
	}
	for _, sql := range statements {
		m.explained[sql] = true
		m.explainedLog[sql] = m.explainedLog[sql] || toLog
	}
}

// known says whether a problem explains the time of a statement in a class.
func (m *measured) known(sql string, class waits.Class) bool {
	if class == waits.WAL {
		return m.explainedLog[sql]
	}
	return m.explained[sql]
}

// use of the sessions' time by some statements.
type use struct {
	share      float64
	largest    string
	statements []string
}

// work are the classes in which a session does something itself; what it waits for has causes of its own.
var work = []waits.Class{waits.Running, waits.IO, waits.Latch, waits.IPC}

// uses adds up the statements that nothing explains yet, in some classes.
func (m *measured) uses(classes []waits.Class, match func(sql string) bool) (u use) {
	times := amounts{}
	for key, w := range m.book.events {
		if !slices.Contains(classes, key.class) || key.gap {
			continue
		}
		for sql, seconds := range w.statements {
			if !m.known(sql, key.class) && match(sql) {
				times[sql] += seconds
			}
		}
	}
	all := parts(times, len(times))
	for _, one := range all {
		u.share += one.S / max(m.ledger.TotalS, 1e-9)
		u.statements = append(u.statements, one.Name)
	}
	if len(all) > 0 {
		u.largest = all[0].Name
	}
	return u
}

// unexplainedShare of the time in a class: without statements that a problem explains.
func (m *measured) unexplainedShare(class waits.Class) float64 {
	return m.uses([]waits.Class{class}, func(string) bool { return true }).share
}

// explainedRunning is the part of running sessions' time that problems explain.
func (m *measured) explainedRunning() float64 {
	all := m.book.secondsOf(waits.Running) / max(m.ledger.TotalS, 1e-9)
	if all <= 0 {
		return 0
	}
	return min(1, max(0, 1-m.unexplainedShare(waits.Running)/all))
}

// begins says whether a statement begins with one of some words.
func begins(words ...string) func(sql string) bool {
	return func(sql string) bool {
		first, _, _ := strings.Cut(strings.ToUpper(sql), " ")
		return slices.Contains(words, strings.Trim(first, "(;"))
	}
}

var (
	writes  = begins("INSERT", "UPDATE", "DELETE", "MERGE", "COPY", "WITH")
	queries = begins("SELECT", "UPDATE", "DELETE", "MERGE", "WITH", "EXECUTE")
)

// statementsOn accepts statements of a kind on a table.
func statementsOn(table string, kind func(string) bool) func(string) bool {
	_, name, qualified := strings.Cut(table, ".")
	if !qualified {
		name = table
	}
	return func(sql string) bool { return kind(sql) && names(sql, name) }
}

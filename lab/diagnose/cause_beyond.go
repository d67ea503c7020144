package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/statement"
)

// callsAtMost of a statement, and of those whose samples are its own; where they are not counted, each transaction is
// one; nil: not known.
func (m *measured) callsAtMost(l *statement.Account) *float64 {
	if l.Calls != nil {
		return new(max(*l.Calls, m.alikeOf(l.Text).calls))
	}
	if perS := m.transactions(); perS != nil {
		return new(*perS * m.ledger.ObservedS)
	}
	return nil
}

// rowsOf tables that anybody read or wrote, and what that takes at most: entries of an index that needs no row are
// counted with the index alone.
func (m *measured) rowsOf(tables []string) (rows, seconds float64) {
	for _, table := range tables {
		grew := func(column string) float64 { return valueOr(m.delta.Grew(counters.Tables, table, column), 0) }
		read := grew("seq_tup_read") + max(grew("idx_tup_fetch"), m.entriesRead(table))
		written := grew("n_tup_ins") + grew("n_tup_upd") + grew("n_tup_del")
		rows += read + written
		seconds += read*secondsPerFetch.Value + written*secondsPerWrite.Value
	}
	return rows, seconds
}

// entriesRead of all indexes of a table.
func (m *measured) entriesRead(table string) (entries float64) {
	for _, key := range m.delta.Keys(counters.Indexes) {
		if strings.HasPrefix(key, table+".") {
			entries += valueOr(m.delta.Grew(counters.Indexes, key, "tup_read"), 0)
		}
	}
	return entries
}

// excess of a statement is its processor time beyond what its rows and its calls take at most.
type excess struct {
	use     use
	seconds float64 // of processor time, as far as it got one
	calls   float64 // at most
	counted bool
	rows    float64
	beyond  float64 // part of the seconds
	price   float64
}

// excessOf a statement of a client; nil: it takes no part of the time that counts, or that is not known.
func (m *measured) excessOf(l *statement.Account) *excess {
	own := m.sampledAs(l.Text)
	calls := m.callsAtMost(l)
	if l.Nested != nil && *l.Nested || len(own) == 0 || calls == nil || unplanned(l.Text) {
		return nil
	}
	e := &excess{calls: max(1, *calls), counted: l.Calls != nil}
	e.use = m.uses([]waits.Class{waits.Running}, func(sql string) bool { return slices.Contains(own, sql) })
	e.seconds = e.use.share * m.ledger.TotalS * m.gotProcessor()
	if e.seconds <= 0 {
		return nil
	}
	rows, usual := m.rowsOf(l.Tables)
	usual += e.calls * secondsPerCall.Value
	e.rows, e.beyond = rows, max(0, 1-usual/e.seconds)
	e.price = e.use.share * e.beyond // with the queue for a processor, in which nobody is who needs none
	return e
}

// says what a row takes.
func (e *excess) says() string {
	if !e.counted {
		return fmt.Sprintf("%.3g s of processor time, in which at most %.0f rows of its tables were read or written; "+
			"what those rows take is %s of it at most (calls are not counted)", e.seconds, e.rows,
			human.Percent(1-e.beyond))
	}
	return fmt.Sprintf("%.3g ms of processor time in each of %.0f calls, at most %.0f rows of its tables in each; "+
		"what those rows take is %s of it at most",
		1000*e.seconds/e.calls, e.calls, e.rows/e.calls, human.Percent(1-e.beyond))
}

// beyondItsRows: a statement computes, compares or joins far more than it reads, and nothing else explains it.
var beyondItsRows = cause{
	name: "work-beyond-the-rows",
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for i := range m.statements {
			l := &m.statements[i]
			if len(l.Tables) == 0 || m.narrowed(l.Text) {
				continue // rows of functions are not counted; a setting that keeps a plan away has a finding of its own
			}
			e := m.excessOf(l)
			if e == nil || e.beyond < beyondPart.Value || 1000*e.seconds/e.calls < beyondMS.Value &&
				m.book.longRunning[e.use.largest] == 0 ||
				best != nil && *best.Price >= e.price {
				continue
			}
			f := &Finding{Price: &e.price, explains: e.use.statements, Statements: m.book.full(e.use.statements),
				partial: true,
				Mechanism: "Rows that are read and passed on take a microsecond each at most. Where a call takes " +
					"many times as long, it computes or compares something for each row, or for each pair of rows.",
				Evidence: append([]string{fmt.Sprintf("%s of the time is spent on: %s", human.Percent(e.use.share),
					e.use.largest), e.says()}, m.within(e.use.largest)...),
				Excluded: []string{"it waits for no lock, disk or client, and no table is read more than the " +
					"counters say"},
			}
			f.Title = "A statement takes far longer than the rows that it reads"
			if has := m.reasonsOf(l); len(has) > 0 {
				has = mostSpecific(has)
				f.Title += ": it has " + listOf(has)
				f.tell(has)
			}
			f.Next = append(f.Next, "EXPLAIN (ANALYZE, BUFFERS) it: which line has most of the time, rows and loops?")
			best = f
		}
		return best, ""
	},
}

// narrowed says that a setting which holds for a statement keeps the planner from a usual way for it.
func (m *measured) narrowed(text string) bool {
	return m.settings != nil && slices.ContainsFunc(m.settings.Differ, func(s Setting) bool {
		return s.narrows() && s.table == "" && slices.ContainsFunc(m.sampledAs(text), func(sampled string) bool {
			return m.affects(s, sampled)
		})
	})
}

// textOf a statement, as long as it is known.
func (m *measured) textOf(l *statement.Account) string {
	text := l.Text
	for _, sampled := range m.sampledAs(l.Text) {
		if full := m.book.fullTexts[sampled]; len(full) > len(text) {
			text = full
		}
	}
	return text
}

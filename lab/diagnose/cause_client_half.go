package diagnose

import (
	"fmt"
	"math"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/statement"
)

// again is a statement that is sent over and over.
type again struct {
	text     string // of the samples
	evidence []string
}

// sentAgain: a program asks for the parts of a whole one by one, as one that loops over rows does.
var sentAgain = cause{
	name: "statement-sent-again-and-again",
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for _, one := range append(m.seenAgain(), m.countedAgain()...) {
			if m.byForeignServer(one.text) || m.repeated[one.text] {
				continue // another server fetches its rows: its program has a finding there; or it has one here
			}
			share := m.shareWithGaps(one.text)
			if best != nil && *best.Price >= share {
				if best.explains[0] == one.text {
					best.Evidence = append(best.Evidence, one.evidence...)
				}
				continue
			}
			best = &Finding{Price: &share, Title: "One statement is sent again and again for parts of a whole (N+1)",
				Mechanism: "A program that asks for each row by itself pays a round trip, a plan and a snapshot for " +
					"each, and keeps its transaction and locks meanwhile. One statement for all rows pays once.",
				Evidence: append(one.evidence, fmt.Sprintf("%s of the time is this statement and the gaps behind "+
					"it: %s",
					human.Percent(share), one.text)),
				Excluded: []string{"each call is quick: not the plan of the statement is the reason, but the number " +
					"of calls"},
				Next: []string{"find the loop that sends it; fetch the rows at once: JOIN, WHERE key = ANY($1), or " +
					"what the program's library calls eager loading",
					"for rows that are written: INSERT of many rows, COPY, or the protocol's pipeline"},
				explains: []string{one.text}, Statements: m.book.full([]string{one.text})}
		}
		if best != nil && *best.Price >= problemFrom.Value {
			m.addRepeated(best.explains[:1])
		}
		return best, ""
	},
}

// addRepeated statements: a problem explains the gaps behind them, too.
func (m *measured) addRepeated(texts []string) {
	if m.repeated == nil {
		m.repeated = map[string]bool{}
	}
	for _, text := range texts {
		m.repeated[text] = true
	}
}

// byForeignServer: a statement that postgres_fdw sends, under the name that it gives itself.
func (m *measured) byForeignServer(text string) bool {
	seen := false
	for _, w := range m.book.events {
		for pair := range w.pairs {
			if pair.statement == text {
				if pair.application != "postgres_fdw" {
					return false
				}
				seen = true
			}
		}
	}
	return seen
}

// fetches rows of a cursor: one by one it is the same.
var fetches = begins("FETCH", "EXECUTE")

// shareWithGaps of a statement of the samples: what it takes, and the gaps behind it.
func (m *measured) shareWithGaps(text string) (share float64) {
	for key, w := range m.book.events {
		if key.class != waits.Lock {
			share += w.statements[text] / max(m.ledger.TotalS, 1e-9)
		}
	}
	return share
}

// seenAgain in the samples.
func (m *measured) seenAgain() (all []again) {
	for _, r := range m.half.Repeated {
		if float64(r.Most) < repeatsLeast.Value || unplanned(r.Statement) && !fetches(r.Statement) {
			continue
		}
		all = append(all, again{r.Statement, []string{fmt.Sprintf("the samples saw it begin at least %d times "+
			"within one "+
			"transaction, and again in %s", r.Most, human.Count(r.Transactions, "transaction"))}})
	}
	return all
}

// countedAgain by the server: many calls for each transaction, or one for each row of another statement.
func (m *measured) countedAgain() (all []again) {
	for i := range m.statements {
		l := &m.statements[i]
		texts := m.sampledAs(l.Text)
		if l.Calls == nil || l.Nested != nil && *l.Nested || len(texts) == 0 || unplanned(l.Text) && !fetches(l.Text) {
			continue
		}
		if parent := m.parentOf(l); parent != nil {
			all = append(all, again{texts[0], []string{fmt.Sprintf("%.0f calls, for %.0f rows of %.0f calls of: "+
				"%s", *l.Calls,
				*parent.PerCall.Rows**parent.Calls, *parent.Calls, normalizedText(parent.Text))}})
			continue
		}
		rate, lasted := m.half.TransactionsPerS, m.inside.Totals.LastedS
		if rate == nil || *rate*lasted < 1 {
			continue
		}
		if each := *l.Calls / (*rate * lasted); each >= repeatsLeast.Value {
			all = append(all, again{texts[0], []string{fmt.Sprintf("%.0f calls for each of the server's "+
				"transactions", each)}})
		}
	}
	return all
}

// parentOf a statement: one whose rows are as many as the calls of this one, each of which gives at most a row or two.
func (m *measured) parentOf(l *statement.Account) *statement.Account {
	const near, rowsMost, callsLeast = 0.05, 3, 100
	if l.PerCall.Rows == nil || *l.PerCall.Rows > rowsMost || *l.Calls < callsLeast {
		return nil
	}
	for i := range m.statements {
		p := &m.statements[i]
		if p.Calls == nil || p.PerCall.Rows == nil || p.ID == l.ID || p.Role != l.Role || p.Database != l.Database ||
			*p.PerCall.Rows < repeatsLeast.Value {
			continue
		}
		if rows := *p.PerCall.Rows * *p.Calls; math.Abs(rows-*l.Calls) <= near**l.Calls {
			return p
		}
	}
	return nil
}

// rolledBack: work is done for nothing.
var rolledBack = cause{
	name: "rollbacks",
	find: func(m *measured) (*Finding, string) {
		share := m.half.RolledBack
		if share == nil || *share < rollbacksLeast.Value {
			return nil, ""
		}
		if limited, _ := endedByLimit.find(m); limited != nil && (limited.grave ||
			priceOf(*limited) >= problemFrom.Value) {
			return nil, "" // that says why
		}
		f := &Finding{
			Title: "Transactions are rolled back",
			Mechanism: "What a transaction has read and written until then is lost, and most programs do it again. " +
				"The server counts it as work.",
			Evidence: []string{fmt.Sprintf("%s of the transactions are rolled back, of %s a "+
				"second", human.Percent(*share),
				text(m.half.TransactionsPerS, "%.0f"))},
			Excluded: []string{},
			Next: []string{"the server's log names the errors (log_min_messages, %e in log_line_prefix is their " +
				"SQLSTATE)",
				"a pool that ends each query with ROLLBACK is counted here as well, and costs nothing"},
		}
		repeats := m.addErrors(f)
		if locks := m.half.PredicateLocks; locks != nil && *locks > 0 {
			repeats = true
			f.Evidence = append(f.Evidence, fmt.Sprintf("%d predicate locks are held, which serializable "+
				"transactions alone "+
				"have", *locks))
			f.Next = append([]string{"BEGIN READ ONLY for those that only read: they then fail less, and let others " +
				"fail less"}, f.Next...)
		}
		if failed := m.failedPart(); !repeats && failed > 0 {
			f.Price = new(*share * failed)
			f.Title = "Transactions fail with errors and are rolled back"
			f.Evidence = append(f.Evidence, fmt.Sprintf("errors in the log are %s of the "+
				"rollbacks", human.Percent(failed)))
			f.Next[0] = "the server's log names the statements: let the program ask before it tries, as INSERT … ON " +
				"CONFLICT does"
		}
		m.addUnfinished(f)
		if repeats { // otherwise it may be how a program ends what it has read
			f.Price = share
			f.Title = "Transactions fail against each other and are done again"
			f.Next = append([]string{"change the rows that all need last and in the same order, by one UPDATE that " +
				"computes the new value; or READ COMMITTED with SELECT … FOR UPDATE where that is enough"}, f.Next...)
		}
		return f, ""
	},
}

// addUnfinished statements: the samples meet them, and the server hardly ever counts one that ends as it should. What
// they take is lost, also where no log tells their errors.
func (m *measured) addUnfinished(f *Finding) {
	times := amounts{}
	for text := range m.book.texts() {
		if lost := m.unfinished(text); lost >= noteFrom.Value*m.ledger.TotalS {
			times[text] = lost
		}
	}
	if len(times) == 0 {
		return
	}
	all, lost := parts(times, partsKept), 0.0
	for _, one := range all {
		lost += one.S
		f.explains = append(f.explains, one.Name)
	}
	f.Title = "A statement fails nearly each time, and its transaction is rolled back"
	f.Price, f.partial = new(max(priceOf(*f), lost/max(m.ledger.TotalS, 1e-9))), true
	f.Statements = m.book.full(f.explains)
	f.Evidence = append(f.Evidence, fmt.Sprintf("%s of the time is spent on calls that pg_stat_statements does not "+
		"count, as it counts those that end without an error: %s", human.Percent(lost/max(m.ledger.TotalS, 1e-9)),
		all[0].Name))
	f.Next = append([]string{"run it as its role: which error, or who cancels it (a timeout of the driver, a person)?"},
		f.Next...)
}

// failedPart of the rollbacks are errors that the log has; 0: fewer than half, or not known.
func (m *measured) failedPart() float64 {
	const half = 0.5
	n := m.delta.Sum(counters.Databases, "", "xact_rollback")
	if m.log == nil || n == nil || *n <= 0 {
		return 0
	}
	errors := 0
	for state, times := range m.log.Errors {
		if state != "25P02" { // of a transaction that has failed before
			errors += times
		}
	}
	if part := min(1, float64(errors) / *n); part >= half {
		return part
	}
	return 0
}

// addErrors of the log as evidence, and say whether transactions fail against each other.
func (m *measured) addErrors(f *Finding) (repeats bool) {
	if m.log == nil {
		return false
	}
	for _, state := range []string{"40001", "40P01", "55P03", "23505", "57014", cancelledByClient, "53400",
		"25P02"} {
		if n := m.log.Errors[state]; n > 0 {
			repeats = repeats || state == "40001" || state == "40P01"
			f.Evidence = append(f.Evidence, fmt.Sprintf("the server's log has SQLSTATE %s %d times", state, n))
		}
	}
	return repeats
}

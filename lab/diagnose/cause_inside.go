package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/diagnose/statement"
)

// ofSessions is time that the server counted, as a share of the sessions' time: the counters were read for longer than
// the samples last.
func (m *measured) ofSessions(seconds float64) float64 {
	t := m.inside.Totals
	if t == nil || t.LastedS <= 0 || m.ledger.TotalS <= 0 {
		return 0
	}
	return min(1, seconds*min(1, m.ledger.ObservedS/t.LastedS)/m.ledger.TotalS)
}

// mostly are the statements of the samples of which a part takes at least half of the time.
func (m *measured) mostly(part string) (statements []string) {
	const half = 0.5
	for i := range m.statements {
		if l := &m.statements[i]; l.PartOf(part) >= half {
			statements = append(statements, m.sampledAs(l.Text)...)
		}
	}
	return statements
}

// jitCompiles: plans are compiled for statements that are over sooner than their compilation.
var jitCompiles = cause{
	name: "jit-compilation",
	find: func(m *measured) (*Finding, string) {
		t := m.inside.Totals
		if t == nil || t.JITS == nil {
			return nil, "" // that source is missing, with its reason
		}
		f := &Finding{
			Price: new(m.ofSessions(*t.JITS)), Title: "Plans are compiled (JIT) for longer than that saves",
			Mechanism: "A plan whose estimated cost is above jit_above_cost is compiled into machine code before it " +
				"runs, each time anew. That pays for a statement of seconds, and is lost for one of milliseconds.",
			explains: m.mostly("compiling (JIT)"),
			Excluded: []string{"neither the rows nor the blocks of these statements: pg_stat_statements times the " +
				"compilation by itself"},
			Next: []string{"SET jit = off    in a session of that program, and time the statement again",
				"ALTER ROLE … SET jit = off    for the role of that program alone; or raise jit_above_cost"},
		}
		if t.JITFunctions != nil {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%.0f functions were compiled in %.2f s", *t.JITFunctions,
				*t.JITS))
		}
		f.Evidence = append(f.Evidence, m.largestPart(func(l *statement.Account) float64 {
			if l.JIT == nil {
				return 0
			}
			return l.JIT.S
		}, "compiling")...)
		return f, ""
	},
}

// largestPart is the statement with most of some time, in words.
func (m *measured) largestPart(of func(*statement.Account) float64, doing string) []string {
	var most *statement.Account
	for i := range m.statements {
		if l := &m.statements[i]; of(l) > 0 && (most == nil || of(l) > of(most)) {
			most = l
		}
	}
	if most == nil {
		return nil
	}
	line := fmt.Sprintf("%s of it in: %s", human.Seconds(of(most)), normalizedText(most.Text))
	if most.Calls != nil && most.MeanMS != nil && *most.Calls > 0 {
		line = fmt.Sprintf("%.2f ms of %s in each of %.0f calls of: "+
			"%s", 1000*of(most) / *most.Calls, doing, *most.Calls,
			normalizedText(most.Text))
	}
	return append([]string{line}, most.Says()...)
}

// callers are the statements of clients that run something: by the table that it belongs to, or, called, by its name.
func (m *measured) callers(inner []statement.Inner) (statements []string, calls float64, called bool) {
	called = true
	for i := range m.statements {
		l := &m.statements[i]
		if l.Nested != nil && *l.Nested {
			continue
		}
		words, found := statement.Words(l.Text), false
		for _, one := range inner {
			_, function, _ := strings.Cut(one.Name, "function ")
			_, plain, _ := strings.Cut(function, ".")
			belongs := one.Of != "" && slices.Contains(l.Tables, one.Of)
			called = called && !belongs
			found = found || belongs || plain != "" && words[plain]
		}
		if found {
			statements = append(statements, m.sampledAs(l.Text)...)
			if l.Calls != nil {
				calls += *l.Calls
			}
		}
	}
	return statements, calls, called
}

// hiddenWork runs within statements: functions, triggers, policies and foreign keys read tables that no client names.
var hiddenWork = cause{
	name: "hidden-work",
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for _, h := range m.inside.Hidden {
			callers, calls, called := m.callers(h.By)
			if called && h.Rows < rowsPerScan.Value*calls { // a function that a client calls is no secret
				continue
			}
			u := m.uses(work, func(sql string) bool { return slices.Contains(callers, sql) })
			can := h.Rows * secondsPerHiddenRow.Value / max(m.ledger.TotalS, 1e-9)
			if nested := m.nestedOn(h.Table); nested > 0 {
				can = m.ofSessions(nested)
			}
			price := min(u.share, can)
			if len(h.By) == 0 || best != nil && *best.Price >= price {
				continue
			}
			best = &Finding{
				Price: &price, Title: m.hiddenTitle(h),
				explains: u.statements, Statements: m.book.full(u.statements),
				Mechanism: "A function, a trigger, a policy or the check of a foreign key runs within a statement. " +
					"What it reads counts as the time of the statement that caused it.",
				Evidence: []string{fmt.Sprintf("%.0f rows of %s were read, and no statement of a client names it",
					h.Rows, h.Table), "it is read by: " + innerText(h.By), fmt.Sprintf("%s of the time is spent on: %s",
					human.Percent(u.share), nonEmpty(u.largest, "no statement that was seen"))},
				Excluded: []string{"not the plan of that statement: EXPLAIN does not show what runs within it"},
				Next:     innerNext(h),
			}
		}
		return best, ""
	},
}

// hiddenTitle names what reads a table that no statement names: first a foreign key without an index, then what belongs
// to a table that statements of clients use.
func (m *measured) hiddenTitle(h statement.Hidden) string {
	belongs := func(one statement.Inner) bool {
		return one.Of != "" && slices.ContainsFunc(m.statements, func(l statement.Account) bool {
			return (l.Nested == nil || !*l.Nested) && slices.Contains(l.Tables, one.Of)
		})
	}
	for _, one := range h.By {
		if one.Unindexed != "" {
			return fmt.Sprintf("The %s has no index on %s: its checks read all of %s", one.Name, one.Unindexed, h.Table)
		}
	}
	for _, one := range h.By {
		if belongs(one) {
			return fmt.Sprintf("The %s of %s reads %s, which the statements do not name", one.Name, one.Of, h.Table)
		}
	}
	return "Statements read " + h.Table + " though they do not name it"
}

// nestedOn is the time of statements within others that name a table, as the server counts it; 0: none, or not counted.
func (m *measured) nestedOn(table string) (seconds float64) {
	for i := range m.statements {
		if l := &m.statements[i]; l.Nested != nil && *l.Nested && slices.Contains(l.Tables, table) {
			seconds += l.S
		}
	}
	return seconds
}

func innerText(all []statement.Inner) string {
	var texts []string
	for _, one := range all[:min(partsKept, len(all))] {
		text := one.Name
		if one.Of != "" {
			text += " of " + one.Of
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// innerNext is what to do about hidden reads: first an index that a foreign key lacks.
func innerNext(h statement.Hidden) (next []string) {
	for _, one := range h.By {
		if one.Unindexed != "" {
			next = append(next, fmt.Sprintf("CREATE INDEX CONCURRENTLY ON %s (%s)    for %s: each row deleted from %s "+
				"reads all of it", h.Table, one.Unindexed, one.Name, one.Of))
		}
	}
	return append(next, "EXPLAIN (ANALYZE, BUFFERS) the statements inside: does "+h.Table+" have an index for them?",
		"auto_explain.log_nested_statements = on shows their plans; track_functions = all times the functions")
}

// missingWorkers: plans count on parallel workers that are not there.
var missingWorkers = cause{
	name: "parallel-workers-missing",
	find: func(m *measured) (*Finding, string) {
		var worst *statement.Account
		price := 0.0
		for i := range m.statements {
			l := &m.statements[i]
			if l.Workers == nil || l.Workers.Planned < workersLeast.Value {
				continue
			}
			own := m.sampledAs(l.Text)
			u := m.uses(work, func(sql string) bool { return slices.Contains(own, sql) })
			if p := u.share * (1 - l.Workers.Launched/l.Workers.Planned); p > price {
				worst, price = l, p
			}
		}
		if worst == nil {
			return nil, ""
		}
		return &Finding{
			Price: &price, Title: "Plans count on parallel workers that are not available",
			Mechanism: "The planner chose a plan for several processes. Where no worker is free, one process does " +
				"all " +
				"of it, by a plan that is slower for one.",
			Evidence: append([]string{fmt.Sprintf("%.0f workers planned and %.0f launched for: %s",
				worst.Workers.Planned, worst.Workers.Launched, normalizedText(worst.Text))}, worst.Says()...),
			Excluded: []string{},
			Next: []string{"raise max_parallel_workers (and max_worker_processes) where processors are idle",
				"otherwise SET max_parallel_workers_per_gather = 0 for that role: the planner then plans for one " +
					"process"},
		}, ""
	},
}

package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/lab/diagnose/statement"
)

// Waits for parallel workers: to begin and to end; and to answer, which is usual work where a statement is long.
var (
	startEvents  = []string{"BgWorkerStartup", "BgWorkerShutdown", "ParallelFinish"}
	answerEvents = []string{"ExecuteGather", "MessageQueueInternal", "MessageQueueReceive", "MessageQueueSend"}
)

// shortParallel: workers are started for statements that are over before they help.
var shortParallel = cause{
	name: "parallel-workers-for-short-statements",
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for text := range m.workersWaited(startEvents, answerEvents) {
			l := m.accountOf(text)
			events := m.workersWaited(startEvents)[text]
			if l != nil && l.MeanMS != nil { // it is known to be short
				events = m.workersWaited(startEvents, answerEvents)[text]
			}
			waited, event := 0.0, ""
			for _, one := range parts(events, len(events)) {
				waited, event = waited+one.S, cmp.Or(event, one.Name)
			}
			short := m.book.longRunning[text] == 0
			if l != nil && l.MeanMS != nil {
				short = *l.MeanMS*m.gotProcessor() <= shortParallelMS.Value
			}
			if !short {
				continue
			}
			u := m.uses(work, func(sql string) bool { return sql == text })
			part := waited / max(m.book.texts()[text], 1e-9)
			f := &Finding{Title: "Parallel workers are started for short statements: " + event, explains: u.statements,
				Statements: m.book.full(u.statements), partial: true,
				Mechanism: "A worker is a new process each time. It attaches to the server's memory and copies the " +
					"session's state before it helps, which takes longer than a short statement.",
				Evidence: []string{fmt.Sprintf("%s of the time is spent on: %s", human.Percent(u.share), text),
					fmt.Sprintf("%s of it are waits for workers to begin, to answer and to end", human.Percent(part))},
				Excluded: []string{"neither locks nor disks: it waits for its own workers"},
				Next: []string{"SHOW parallel_setup_cost; SHOW min_parallel_table_scan_size    for its role: 1000 " +
					"and 8MB " +
					"are PostgreSQL's own", "SET max_parallel_workers_per_gather = 0    for the role of short " +
					"statements"},
			}
			if each, known := launchedEach(l); known {
				part = max(part, min(1, each*workerMS.Value / *l.MeanMS))
				f.Evidence = append(f.Evidence, fmt.Sprintf("%.1f workers in each of %.0f calls of %.2f ms", each,
					*l.Calls, *l.MeanMS))
			}
			f.Evidence = append(f.Evidence, m.parallelSettings(text)...)
			f.Price = new(u.share * min(1, part))
			if part >= workersPart.Value && (best == nil || *f.Price > *best.Price) {
				best = f
			}
		}
		return best, ""
	},
}

// workersWaited is how long statements waited for their workers, by event.
func (m *measured) workersWaited(names ...[]string) map[string]amounts {
	all := map[string]amounts{}
	for key, w := range m.book.events {
		if key.event.Type != "IPC" || !slices.Contains(slices.Concat(names...), key.event.Name) {
			continue
		}
		for text, seconds := range w.statements {
			if text == others {
				continue
			}
			if all[text] == nil {
				all[text] = amounts{}
			}
			all[text].add(key.event.String(), seconds)
		}
	}
	return all
}

// accountOf a statement of the samples; nil: it has none.
func (m *measured) accountOf(sampled string) *statement.Account {
	return m.ledgerOf(wholeKey(matched(sampled), m.statements))
}

// launchedEach are the workers that a call started, as PostgreSQL 18 counts them.
func launchedEach(l *statement.Account) (each float64, known bool) {
	if l == nil || l.Workers == nil || l.Calls == nil || l.MeanMS == nil || *l.Calls <= 0 || *l.MeanMS <= 0 {
		return 0, false
	}
	return l.Workers.Launched / *l.Calls, true
}

// parallelSettings of the role that sends a statement, as evidence.
func (m *measured) parallelSettings(text string) (lines []string) {
	own := m.settingsOf(m.roleOf(text))
	for _, name := range []string{"parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size",
		"min_parallel_index_scan_size", "max_parallel_workers_per_gather"} {
		if value, set := own[name]; set {
			lines = append(lines, name+" = "+value+" for its role or database")
		}
	}
	return lines
}

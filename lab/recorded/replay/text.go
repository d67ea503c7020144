package replay

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/recorded/score"
	"plimsoll/web"
)

const (
	columns         = 100
	operationsShown = 10
)

// Says is the verdict in one line.
func (r *Result) Says() string {
	f := r.Fidelity
	text := fmt.Sprintf("replayed %s of %s of %s, %s", human.Share(f.Share()), human.Count(f.Read, "statement"),
		human.Count(int64(f.Sessions), "session"), r.pace())
	text += fmt.Sprintf("; %s as in the log", human.Percent1(f.AsInTheLog())) // a half counts
	if !f.Faithful() {
		text += fmt.Sprintf(", which is below %s: do not trust the score", human.Percent1(FaithfulFrom))
	}
	if r.Recorded != nil && r.Replayed != nil {
		text += fmt.Sprintf(": Apdex %s here, %s in the log", apdex.Text(r.Replayed.Apdex),
			apdex.Text(r.Recorded.Apdex))
	}
	if r.Stopped != "" {
		text += "; stopped " + r.Stopped
	}
	return text
}

func (r *Result) pace() string {
	switch r.Speed {
	case 0:
		return "as fast as its sessions can"
	case 1:
		return "at the pace of the log"
	}
	return fmt.Sprintf("at %g times the pace of the log", r.Speed)
}

// Text writes the result for a terminal: the verdict, how true the replay was, and the operations, the worst here
// first.
func (r *Result) Text(w io.Writer, details bool) error {
	var b strings.Builder
	for _, line := range human.Wrap(r.Says(), columns) {
		b.WriteString(line + "\n")
	}
	b.WriteString("\n")
	for _, note := range r.Notes() {
		text := strings.TrimLeft(note, " ")
		b.WriteString(human.Hanging(note[:len(note)-len(text)], text, columns, 0))
	}
	if r.Replayed != nil {
		most, shown := operationsShown, score.ShortName
		if details {
			most, shown = len(r.Replayed.Operations), human.PlainLine
		}
		b.WriteString("\n")
		if err := r.table(most, shown).Text(&b, ""); err != nil {
			return err
		}
		if left := len(r.Replayed.Operations) - most; left > 0 {
			fmt.Fprintf(&b, "%s more: --details\n", human.Count(left, "operation"))
		}
	}
	_, err := io.WriteString(w, human.Plain(b.String()))
	return err
}

// table of operations, there and here.
func (r *Result) table(most int, shown func(string) string) web.Table {
	t := web.Table{Title: "Operations: in the log, and here", Names: true, Columns: []string{"operation", "T s",
		"n log",
		"n here", "Apdex log", "Apdex here", "p50 log", "p50 here", "p95 log", "p95 here"}}
	known := map[string]score.Operation{}
	for _, op := range r.Recorded.Operations {
		known[op.Name] = op
	}
	for _, op := range r.Replayed.Operations[:min(most, len(r.Replayed.Operations))] {
		old := known[op.Name]
		t.Rows = append(t.Rows, []string{shown(op.Name), human.Figure(op.TargetS, 3), human.Thousands(old.N),
			human.Thousands(op.N), apdex.Text(old.Apdex), apdex.Text(op.Apdex), human.Figure(old.P50S, 3),
			human.Figure(op.P50S, 3), human.Figure(old.P95S, 3), human.Figure(op.P95S, 3)})
	}
	return t
}

// Notes say how true the replay was.
func (r *Result) Notes() (notes []string) {
	f := r.Fidelity
	for _, why := range byCount(f.LeftOut) {
		notes = append(notes, fmt.Sprintf("left out: %s: %s", human.Thousands(f.LeftOut[why]), why))
	}
	notes = append(notes, indented(f.Examples)...)
	notes = append(notes, fmt.Sprintf("errors: %s as in the log%s%s%s", human.Thousands(f.Alike),
		states("new here", f.New), states("missing here", f.Missing), states("others", f.Other)))
	notes = append(notes, indented(f.Messages)...)
	if f.RowsCompared {
		notes = append(notes, fmt.Sprintf("rows: %s of %s returned or changed as many as in the log (%s); %s of %s "+
			"are so in all of theirs", human.Thousands(f.Rows.Equal), human.Count(f.Rows.Compared, "statement"),
			human.Share(share(f.Rows.Equal, f.Rows.Compared)), human.Thousands(f.Calls.Same),
			human.Count(f.Calls.Read, "call")))
		notes = append(notes, indented(f.RowExamples)...)
	} else {
		notes = append(notes, "rows: a PostgreSQL log does not say how many a statement returned or changed")
	}
	if f.LateMS != nil {
		notes = append(notes, fmt.Sprintf("late: statements began %s ms after their time (p50), %s ms (p99), "+
			"at most %s ms",
			human.Figure(f.LateMS.P50, 3), human.Figure(f.LateMS.P99, 3), human.Figure(f.LateMS.Max, 3)))
	}
	if f.LateMS != nil {
		notes = append(notes, fmt.Sprintf("order: %s of the statements began when all had ended that had ended before "+
			"them in the log", human.Share(share(f.InOrder, f.Replayed))))
	}
	if f.ClockTickMS != nil {
		notes = append(notes, fmt.Sprintf("time: the log's clock ticks every %s ms: begins within a tick are not "+
			"known, and shorter times are not real", human.Figure(*f.ClockTickMS, 3)))
	}
	if m := f.Managed; m != (ManagedLocks{}) {
		notes = append(notes, fmt.Sprintf("managed locks: %s, %s, %s and %s in the log; the application server keeps "+
			"them, so none is taken here", human.Count(m.Locks, "lock"), human.Count(m.Waits, "wait"),
			human.Count(m.Timeouts, "timeout"), human.Count(m.Deadlocks, "deadlock")))
	}
	if f.Unnumbered > 0 {
		notes = append(notes, fmt.Sprintf("sessions: of %s the log never says the number (dbpid): they were told "+
			"apart by their clients", human.Thousands(int64(f.Unnumbered))))
	}
	if f.Found > 0 {
		notes = append(notes, fmt.Sprintf("values: %s numbers and keys came from answers of earlier "+
			"statements; where they are others here, they were bound anew, %s", human.Thousands(f.Found),
			times(f.Bound)))
	}
	if f.Made > 0 {
		notes = append(notes, fmt.Sprintf("transactions: %s of their begins and ends are not in the log as statements "+
			"and were made from its fields", human.Thousands(f.Made)))
	}
	if f.OtherRole > 0 {
		notes = append(notes, fmt.Sprintf("roles: %s played as the role of the connection: theirs is not there, or "+
			"may not be taken", human.Count(int64(f.OtherRole), "session")))
	}
	if r.Unread.Events > 0 {
		notes = append(notes, fmt.Sprintf("not read: %s (%s)", human.Count(r.Unread.Events, "entry"),
			human.Bytes(r.Unread.Bytes)))
	}
	return notes
}

func times(n int64) string { return human.Count(n, "time") }

func indented(all []string) (lines []string) {
	for _, text := range all {
		lines = append(lines, "  "+human.PlainLine(text))
	}
	return lines
}

func states(what string, counts map[string]int64) string {
	if len(counts) == 0 {
		return ""
	}
	var parts []string
	for _, state := range byCount(counts) {
		parts = append(parts, fmt.Sprintf("%s × %s", human.Thousands(counts[state]), state))
	}
	return fmt.Sprintf("; %s: %s", what, strings.Join(parts, ", "))
}

// byCount are the keys, the most frequent first.
func byCount(counts map[string]int64) []string {
	keys := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(keys, func(a, b string) int { return int(counts[b] - counts[a]) })
	return keys
}

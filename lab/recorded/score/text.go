package score

import (
	"fmt"
	"io"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/web"
)

// What fits a screen: the worst operations, and names of at most so many characters.
const (
	columns    = 100
	worstShown = 10
	nameMost   = 44
)

func whole(name string) string { return name }

// ShortName keeps the beginning and the last part of a name: Документ.ЗаказКлиента….ПровестиНаСервере.
func ShortName(name string) string {
	runes := []rune(name)
	if len(runes) <= nameMost {
		return name
	}
	last := []rune(name[strings.LastIndexByte(name, '.')+1:])
	last = last[max(0, len(last)-nameMost/2):]
	return string(runes[:nameMost-1-len(last)]) + "…" + string(last)
}

// Text writes the score for a terminal: the verdict first, then the worst operations and the hours; with details all
// operations.
func (r *Result) Text(w io.Writer, details bool) error {
	var b strings.Builder
	for _, text := range []string{r.Says(), r.Basis()} {
		b.WriteString(strings.Join(human.Wrap(text, columns), "\n") + "\n")
	}
	b.WriteString("\n")
	most, shown := worstShown, ShortName
	if details {
		most, shown = len(r.Operations), whole
	}
	if err := r.operationTable(most, shown).Text(&b, ""); err != nil {
		return err
	}
	if left := len(r.Operations) - most; left > 0 {
		fmt.Fprintf(&b, "%s more: --details\n", human.Count(left, "operation"))
	}
	b.WriteString("\n")
	if err := r.hourTable().Text(&b, ""); err != nil {
		return err
	}
	b.WriteString("\n")
	for _, note := range r.Notes() {
		b.WriteString(strings.Join(human.Wrap(note, columns), "\n") + "\n")
	}
	_, err := io.WriteString(w, human.Plain(b.String()))
	return err
}

// Says is the verdict.
func (r *Result) Says() string {
	return fmt.Sprintf("Apdex %s (%s to %s), %s: %s of %s from %s to %s; %s beyond 4T", apdex.Text(r.Apdex),
		apdex.Text(r.Interval.Low), apdex.Text(r.Interval.High), apdex.BandOf(r.Apdex), human.Count(r.Calls, "call"),
		human.Count(len(r.Operations), "operation"), minute(r.From), minute(r.To), human.Share(r.Beyond4T))
}

func minute(at time.Time) string { return at.Format("2006-01-02 15:04") }

// Basis says what the verdict rests on.
func (r *Result) Basis() string {
	switch {
	case r.Proposed:
		return "Targets marked * are proposed: what nine of ten calls kept in the calm half of the hours. They show " +
			"which " +
			"hours are worse than calm ones, not whether users are satisfied: name your own with --targets."
	case r.Register != nil && r.Register.Targets > 0:
		return r.Register.basis(len(r.Operations))
	}
	return "Targets are yours."
}

func (r *Result) operationTable(most int, shown func(string) string) web.Table {
	t := web.Table{Title: "Operations, the most frustrated calls first", Names: true, Columns: []string{"operation",
		"calls", "T s", "Apdex", "p50 s", "p95 s", "beyond 4T", "database", "locks", "statements"}}
	for _, op := range r.Operations[:min(most, len(r.Operations))] {
		target := human.Figure(op.TargetS, 3)
		if op.Proposed {
			target += "*"
		}
		t.Rows = append(t.Rows, append([]string{shown(op.Name), human.Thousands(op.N), target},
			op.columns(human.Figure(op.Statements, 3))...))
	}
	return t
}

func (r *Result) hourTable() web.Table {
	t := web.Table{Title: "Hours", Names: true, Columns: []string{"hour", "calls", "Apdex", "p50 s", "p95 s",
		"beyond 4T",
		"database", "locks", "timeouts", "deadlocks"}}
	for _, h := range r.Hours {
		t.Rows = append(t.Rows, append([]string{minute(h.Hour), human.Thousands(h.N)},
			h.columns(human.Thousands(h.Timeouts), human.Thousands(h.Deadlocks))...))
	}
	return t
}

// columns that both tables have, and others behind them.
func (f Figures) columns(others ...string) []string {
	return append([]string{apdex.Text(f.Apdex), human.Figure(f.P50S, 3), human.Figure(f.P95S, 3),
		human.Share(f.Beyond4T),
		human.Share(f.Database), human.Share(f.Waiting)}, others...)
}

// Notes say what the figures leave out.
func (r *Result) Notes() []string {
	var notes []string
	if r.Register != nil {
		notes = r.Register.notes()
	} else if r.Pauses != nil {
		notes = r.ofPauses()
		if r.Source == TechLog {
			notes = append(notes, "The log has no CALL events with a context, so what users did is guessed: log CALL.")
		}
	} else {
		notes = r.ofCalls()
	}
	if r.Resumed != nil {
		notes = append(notes, r.Resumed.text()...)
	}
	if r.Unread.Events > 0 {
		text := human.Count(r.Unread.Events, "event")
		if r.Unread.Bytes > 0 { // else it is not known
			text += " (" + human.Bytes(r.Unread.Bytes) + ")"
		}
		notes = append(notes, text+" could not be read:")
		for _, e := range r.Unread.Examples {
			notes = append(notes, fmt.Sprintf("  %s:%d: %s", e.File, e.Line, e.Why))
		}
	}
	return notes
}

// text says how the log was read on.
func (r *Resumed) text() (notes []string) {
	if r.Again {
		notes = append(notes, fmt.Sprintf("Read on from where it was read last: %s are new.",
			human.Count(r.New, "event")))
	}
	if r.Waiting > 0 {
		notes = append(notes, fmt.Sprintf("%s at the ends of files wait for what follows them, and are not counted "+
			"yet.", human.Bytes(r.Waiting)))
	}
	return append(notes, r.Notes...)
}

// ofCalls says what the figures of a technological log leave out.
func (r *Result) ofCalls() []string {
	notes := []string{"Times are those of calls on the application server: a user also waits for the network and the " +
		"client. Times and percentiles leave out calls whose locks timed out; the Apdex counts them as frustrated."}
	if r.TickMS != nil {
		notes = append(notes, fmt.Sprintf("The server's clock ticks every %s ms: shorter times are not real, and "+
			"longer ones are that inexact.", human.Figure(*r.TickMS, 3)))
	}
	if u := r.Unscored; u.Calls > 0 {
		notes = append(notes, fmt.Sprintf("%s without a context (%s) are the cluster's own and not scored.",
			human.Count(u.Calls, "call"), human.Seconds(u.CallsS)))
	}
	if u := r.Unscored; u.OfAll == 0 {
		notes = append(notes, "The log has no statements: log DBPOSTGRS events to see the database's share.")
	} else if u.Statements > 0 {
		notes = append(notes, fmt.Sprintf("%s of %s statements belong to no scored call.",
			human.Thousands(u.Statements), human.Thousands(u.OfAll)))
	}
	return notes
}

// Beyond these shares and times a note says that the figures may mislead.
const (
	nearMost    = 0.05
	leastMostMS = 5
)

// ofPauses says what the figures of a PostgreSQL log rest on and leave out.
func (r *Result) ofPauses() []string {
	p := r.Pauses
	notes := []string{fmt.Sprintf("An operation is what a session does without a pause of more than %s ms, from its "+
		"first statement to the end of its last; it is named by a comment of the application, else by the tables that "+
		"it writes or reads. What users wait for outside of the database is not in it. Operations that lost a lock, "+
		"deadlocked or were cancelled are frustrated and have no time.", human.Figure(p.GapMS, 3))}
	if p.Near > nearMost {
		notes = append(notes, fmt.Sprintf("%s of the pauses lie between half of that and twice as much: another --gap "+
			"would divide operations otherwise. Compare the score with both.", human.Share(p.Near)))
	}
	if p.LeastMS > leastMostMS {
		notes = append(notes, fmt.Sprintf("The log has only statements of %s ms and more "+
			"(log_min_duration_statement): quick operations are missing, so the Apdex is too low.",
			human.Figure(p.LeastMS, 3)))
	}
	if u := r.Unscored; u.Calls > 0 {
		notes = append(notes, fmt.Sprintf("%s (%s) only check a connection or control a session, and are not scored.",
			human.Count(u.Calls, "burst"), human.Seconds(u.CallsS)))
	}
	return notes
}

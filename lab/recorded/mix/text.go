package mix

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/web"
)

// What fits a screen.
const (
	columns   = 100
	shownMost = 20
	queryMost = 60
)

// Text writes the mix for a terminal; with details all statements.
func (m *Mix) Text(w io.Writer, details bool) error {
	var b strings.Builder
	most := shownMost
	if details {
		most = len(m.Statements)
	}
	b.WriteString(strings.Join(human.Wrap(m.Says(), columns), "\n") + "\n\n")
	t := web.Table{Title: "Statements, the most time first", Names: true,
		Columns: []string{"statement", "calls", "mean ms", "rows", "time", "share"}}
	for _, s := range m.Statements[:min(most, len(m.Statements))] {
		t.Rows = append(t.Rows, []string{short(s.Query), human.Thousands(s.Calls), human.Figure(s.MeanMS, 3),
			human.Figure(s.Rows, 3), human.Seconds(s.TotalMS / 1000), human.Share(s.Share)})
	}
	if err := t.Text(&b, ""); err != nil {
		return err
	}
	if left := len(m.Statements) - most; left > 0 {
		fmt.Fprintf(&b, "%s more: --details\n", human.Count(left, "statement"))
	}
	b.WriteString("\n")
	for _, note := range m.Notes() {
		b.WriteString(strings.Join(human.Wrap(note, columns), "\n") + "\n")
	}
	_, err := io.WriteString(w, human.Plain(b.String()))
	return err
}

// short beginning of a statement, on one line.
func short(query string) string {
	runes := []rune(strings.Join(strings.Fields(query), " "))
	if len(runes) <= queryMost {
		return string(runes)
	}
	return string(runes[:queryMost-1]) + "…"
}

// Says what it is.
func (m *Mix) Says() string {
	text := fmt.Sprintf("No Apdex: pg_stat_statements has sums. %s of %s took %s",
		human.Count(m.Calls, "call"), human.Count(len(m.Statements), "statement"), human.Seconds(m.TotalS))
	switch {
	case m.SpanS != nil:
		return text + fmt.Sprintf(" in %s between the snapshots: %s calls a second, %s sessions at work on average",
			human.Seconds(*m.SpanS), human.Figure(float64(m.Calls)/(*m.SpanS), 3), human.Figure(m.TotalS/(*m.SpanS), 3))
	case m.Since:
		return text + " between the snapshots"
	}
	return text + " since the statistics were reset"
}

// Notes say what cannot be said of it, and what was left out.
func (m *Mix) Notes() []string {
	notes := []string{"What sums cannot say: percentiles and slow hours (a mean hides both), which statements make " +
		"an operation of a user, the order of statements, sessions and transactions, and the values of parameters. " +
		"Score the server's log for the first three; 'plimsoll scenario --from-statements' makes a load of the mix, " +
		"for which you give the values."}
	for _, left := range []struct {
		n    int
		says string
	}{{m.Inner, "ran within others, as in functions: their time is that of these"},
		{m.Hidden, "have no text for the role that made the snapshot: it needs pg_read_all_stats"},
		{m.Gone, "were forgotten between the snapshots (pg_stat_statements.max): what they did is missing"},
		{m.Reset, "began again between the snapshots: what they did before that is missing"}} {
		if left.n > 0 {
			notes = append(notes, human.Count(left.n, "statement")+" "+left.says+".")
		}
	}
	if !m.Since {
		notes = append(notes, "One snapshot has all since the reset: two of them, an hour apart, show a busy hour.")
	}
	if m.Unread.Events > 0 {
		notes = append(notes, human.Count(m.Unread.Events, "row")+" could not be read:")
		for _, e := range m.Unread.Examples {
			notes = append(notes, fmt.Sprintf("  %s:%d: %s", e.File, e.Line, e.Why))
		}
	}
	return notes
}

package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/diagnose/statement"
)

// statementsShown in a report; --json has all that are kept.
const statementsShown = 6

// statementView is the ledger of one statement, in words.
type statementView struct {
	Title, Text string
	Lines       []string
	Unavailable string
}

// statementViews are those that carry the time.
func (d *Diagnosis) statementViews() (all []statementView) {
	for i := range d.Statements {
		l := &d.Statements[i]
		if l.Share < noteFrom.Value || len(all) == statementsShown {
			continue
		}
		all = append(all, viewOf(l))
	}
	return all
}

func viewOf(l *statement.Account) statementView {
	v := statementView{Title: fmt.Sprintf("%s of the time of all statements, %s", human.Percent(l.Share),
		human.Seconds(l.S)), Text: normalizedText(l.Text), Lines: l.Says()}
	if l.Nested != nil && *l.Nested {
		v.Title += ", within another statement"
	}
	if l.Role != "" {
		v.Title += fmt.Sprintf(", of %s in %s", l.Role, l.Database)
	}
	if l.ProcessorS != nil {
		v.Lines = append(v.Lines, fmt.Sprintf("%s of it without a wait: on a processor, or ready for one",
			human.Seconds(*l.ProcessorS)))
	}
	var waited []string
	for _, w := range l.Waits {
		waited = append(waited, fmt.Sprintf("%s %s", w.Name, human.Percent(w.Share)))
	}
	if len(waited) > 0 {
		v.Lines = append(v.Lines, "its samples: "+strings.Join(waited, ", "))
	}
	var missing []string
	for _, one := range l.Unavailable {
		missing = append(missing, fmt.Sprintf("%s (%s)", one.Name, one.Why))
	}
	v.Unavailable = strings.Join(missing, "; ")
	return v
}

func (d *Diagnosis) statementsText(b *strings.Builder) {
	all := d.statementViews()
	if len(all) == 0 {
		return
	}
	b.WriteString("\nINSIDE THE STATEMENTS that carry the time\n")
	for _, v := range all {
		fmt.Fprintf(b, "  %s: %s\n", v.Title, v.Text)
		for _, line := range v.Lines {
			fmt.Fprintf(b, "       %s\n", line)
		}
	}
	if why := unavailableOnce(all); why != "" {
		fmt.Fprintf(b, "  unavailable: %s\n", why)
	}
}

// unavailableOnce is what they lack, each once.
func unavailableOnce(all []statementView) string {
	var texts []string
	for _, v := range all {
		for _, one := range strings.Split(v.Unavailable, "; ") {
			if one != "" && !slices.Contains(texts, one) {
				texts = append(texts, one)
			}
		}
	}
	return strings.Join(texts, "; ")
}

// planView is a plan in words.
type planView struct {
	Title, Text string
	Lines       []string
}

// planViews are the plans that are kept, with what they were read for.
func (d *Diagnosis) planViews() (all []planView) {
	for _, p := range d.Plans {
		v := planView{Title: fmt.Sprintf("%s plan, cost %.0f", p.How, p.Cost), Text: normalizedText(p.Statement),
			Lines: p.Lines}
		if p.Role != "" {
			v.Title += ", as " + p.Role
		}
		if p.MS != nil {
			v.Title += fmt.Sprintf(", %.1f ms", *p.MS)
		}
		for _, r := range p.Remarks {
			v.Title += "; " + r.Text
		}
		all = append(all, v)
	}
	return all
}

// planLinesShown of each plan in a terminal; --json has all that are kept.
const planLinesShown = 8

func (d *Diagnosis) plansText(b *strings.Builder) {
	all := d.planViews()
	if len(all) == 0 {
		return
	}
	b.WriteString("\nPLANS of these statements, asked for without running them, or from the server's log\n")
	for _, v := range all {
		fmt.Fprintf(b, "  %s\n    %s\n", v.Text, v.Title)
		for _, line := range v.Lines[:min(planLinesShown, len(v.Lines))] {
			fmt.Fprintf(b, "      %s\n", line)
		}
		if more := len(v.Lines) - planLinesShown; more > 0 {
			fmt.Fprintf(b, "      %d more in --json\n", more)
		}
	}
}

// clientLines are the client's half in words.
func (d *Diagnosis) clientLines() (lines []string) {
	h := d.Clients
	for _, one := range []struct {
		x            *float64
		format, what string
	}{{h.TransactionsPerS, "%.1f", "transactions a second"}, {h.StatementsEach, "%.1f", "statements for each"},
		{h.SessionsPerS, "%.2f", "connections made a second"},
		{h.GapMS, "%.1f ms", "between the statements of a transaction, when it was sampled"}} {
		if one.x != nil {
			lines = append(lines, fmt.Sprintf(one.format, *one.x)+" "+one.what)
		}
	}
	if h.RolledBack != nil {
		lines = append(lines, human.Percent(*h.RolledBack)+" of the transactions are rolled back")
	}
	if h.PredicateLocks != nil && *h.PredicateLocks > 0 {
		lines = append(lines, fmt.Sprintf("%d predicate locks of serializable transactions", *h.PredicateLocks))
	}
	if h.Looks > 0 {
		lines = append(lines, fmt.Sprintf("no connection was idle at %d of %d looks", h.BusyLooks, h.Looks))
	}
	const shown = 3
	for _, r := range h.Repeated[:min(shown, len(h.Repeated))] {
		lines = append(lines, fmt.Sprintf("at least %d times within one transaction: %s", r.Most, r.Statement))
	}
	return lines
}

func (d *Diagnosis) clientsText(b *strings.Builder) {
	if lines := d.clientLines(); len(lines) > 0 {
		b.WriteString("\nTHE CLIENT'S HALF\n")
		for _, line := range lines {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
}

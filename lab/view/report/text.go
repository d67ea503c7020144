package report

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
)

// Text writes the run for a terminal, at most Width columns wide. Control characters in foreign text are removed.
func Text(w io.Writer, r *result.Result) error {
	var b strings.Builder
	head(&b, r)
	if err := scores(&b, r.Operations); err != nil {
		return err
	}
	if err := histogram(&b, r.Operations); err != nil {
		return err
	}
	if err := stages(&b, r.Stages); err != nil {
		return err
	}
	if err := intervals(&b, r); err != nil {
		return err
	}
	if err := costs(&b, r.Cost); err != nil {
		return err
	}
	if err := diagnosed(&b, r); err != nil {
		return err
	}
	foot(&b, r)
	_, err := io.WriteString(w, human.Plain(b.String()))
	return err
}

func head(b *strings.Builder, r *result.Result) {
	fmt.Fprintf(b, "\nRun %s  %s\n", r.ID, r.Started.Format("2006-01-02 15:04:05 MST"))
	if name := title(r); name != "" {
		b.WriteString(Wrap(name, "", ""))
	}
	b.WriteString("\n")
	b.WriteString(headline(r))
	b.WriteString(Wrap(fmt.Sprintf("%s users, %s operations in %s of steady state, %s%s%s", human.Thousands(r.Users),
		human.Thousands(r.Ops), human.Seconds(r.DurationS), rates(r),
		refusals(r.RefusedShare)+retried(r.Totals), standstillText(r)),
		"  ", "  ") + "\n")
	for _, reason := range r.InvalidReasons {
		b.WriteString(Wrap(reason, "  not valid: ", "             "))
	}
	for _, warning := range r.Warnings {
		b.WriteString(Wrap(warning, "  warning: ", "           "))
	}
	b.WriteString(Gates(r.Gates, len(r.Gates)+1))
	if len(r.InvalidReasons)+len(r.Warnings)+len(r.Gates) > 0 {
		b.WriteString("\n")
	}
}

func scores(b *strings.Builder, operations []result.Operation) error {
	t := table{left: map[int]bool{6: true}}
	t.add("key operation", "T ms", "count", "refused", "failed", "Apdex", "band", "p50 ms", "p95", "p99", "max")
	small := false
	for _, op := range operations {
		small = small || op.Ops > 0 && op.Ops < apdex.SmallGroup
		t.add(op.ID, human.Thousands(int64(op.TargetMS)), human.Thousands(op.Ops), human.Thousands(op.Refused),
			human.Thousands(op.Errors+op.Overload), markedScore(op.Apdex, op.Ops), string(op.Band),
			ofAll(op, p50), ofAll(op, p95), ofAll(op, p99), ofAll(op, longest))
	}
	if err := t.write(b); err != nil {
		return err
	}
	writeAnsweredOnly(b, operations)
	ownWaits(b, operations)
	if small {
		fmt.Fprintf(b, "  * fewer than %d operations: a small group, whose p99 is its maximum\n", apdex.SmallGroup)
	}
	b.WriteString("\n")
	return nil
}

func histogram(b *strings.Builder, operations []result.Operation) error {
	var t table
	t.add(append(append([]string{"answered within"}, apdex.Units[:]...), "p95/T", "replaced")...)
	for _, op := range operations {
		row := []string{op.ID}
		for _, n := range op.HistogramT {
			row = append(row, portion(n, op.HistogramT))
		}
		t.add(append(row, headroom(op), replaced(op))...)
	}
	return t.write(b)
}

// replaced is the share of an operation in whose place others were carried out.
func replaced(op result.Operation) string {
	if op.InsteadShare == nil {
		return unknown
	}
	return percent(op.InsteadShare)
}

// checked says what an audit that was done has looked at.
func checked(a result.Audit) string {
	if !a.Done {
		return ""
	}
	return fmt.Sprintf(" (%s%s, %.1f s)", human.Count(a.Checks, "check"), auditMode(a), a.DurationS)
}

func foot(b *strings.Builder, r *result.Result) {
	b.WriteString("\n")
	for _, op := range r.Operations {
		for _, e := range op.ErrorTexts[:min(3, len(op.ErrorTexts))] {
			b.WriteString(Wrap(fmt.Sprintf("%s x %s", human.Thousands(e.Count), e.Text), "  failed: "+op.ID+" ",
				"          "))
		}
	}
	for _, e := range r.Events {
		b.WriteString(Wrap(e.Text, fmt.Sprintf("  at %.1f s: ", e.AtS), "          "))
	}
	b.WriteString("  audit: " + auditLine(r.Audit) + checked(r.Audit) + "\n")
	if before := r.AuditBefore; before != nil {
		b.WriteString(Wrap(auditLine(*before), "  audit before the run: ", "    "))
	}
	if c := r.Reconciliation; c != nil {
		b.WriteString(Wrap(reconciled(c), "  reconciled: ", "    "))
	}
	for _, f := range r.Audit.Findings {
		b.WriteString(Wrap(f.Detail, "    "+f.Check+": ", "      "))
	}
	b.WriteString("\n")
	for _, f := range conditions(r) {
		b.WriteString(Wrap(f.Value, "  "+f.Name+": ", "    "))
	}
}

package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
)

// A summary fits on the smallest terminal in use, 80 × 25, below it the prompt; each part has a share of the lines.
const (
	SummaryLines  = 25
	factLines     = 2
	reasonLines   = 7 // of all reasons and warnings
	reasonEach    = 2
	worstShown    = 5
	limitLines    = 2
	stageLines    = 2
	headroomLeast = 10 // times as slow, without a change of the score, is worth a line
)

// Summary writes what matters of a run in at most SummaryLines lines: the verdict and why, the worst operations, what
// limited it, and where all of it is. Text has the rest.
func Summary(w io.Writer, r *result.Result, page string) error {
	var b strings.Builder
	b.WriteString("\n" + headline(r))
	b.WriteString(clip(facts(r), factLines))
	reasons, shown := reasonLines, worstShown
	if len(r.Gates) > 0 { // they take the place of others
		reasons, shown = reasonLines-2, worstShown-2
	}
	b.WriteString(why(r, reasons))
	b.WriteString(Gates(r.Gates, gateLines))
	if err := worst(&b, r, shown); err != nil {
		return err
	}
	if line := stageLine(r.Stages); line != "" {
		b.WriteString(clip(Wrap(line, "  ", "    "), stageLines))
	}
	b.WriteString(clip(Wrap(limit(r), "  ", "    "), limitLines))
	b.WriteString(clip(Wrap("audit: "+auditLine(r.Audit)+checked(r.Audit), "  ", "    "), 1))
	b.WriteString(clip(Wrap(ending(r), "", "  "), 1))
	if page != "" {
		b.WriteString("report: " + page + "\n") // never broken: it is for copying
	}
	_, err := io.WriteString(w, human.Plain(b.String()))
	return err
}

// headline has the verdict before the score: figures of a run that is not valid may not be quoted.
func headline(r *result.Result) string {
	score := fmt.Sprintf("APDEX %s  %s    %s %s", markedScore(r.Apdex, r.Ops), r.Band, intervalName(r),
		interval(r.Interval))
	if r.Valid {
		return "  " + score + "    valid\n"
	}
	return fmt.Sprintf("  %s: not to be quoted: Apdex %s, %s\n", strings.ToUpper(verdict(r)), markedScore(r.Apdex,
		r.Ops),
		r.Band)
}

func facts(r *result.Result) string {
	text := fmt.Sprintf("%s users, %s operations in %s of steady state, %s%s%s", human.Thousands(r.Users),
		human.Thousands(r.Ops), human.Seconds(r.DurationS), rates(r),
		refusals(r.RefusedShare)+retried(r.Totals), standstillText(r))
	if p := profile(r.Conditions.Load.Profile); p != "" {
		text += "; profile " + p
	}
	return Wrap(text, "  ", "  ")
}

// why has the reasons against the run and the warnings, as far as there is room.
func why(r *result.Result, most int) string {
	var texts []string
	for _, reason := range r.InvalidReasons {
		texts = append(texts, clip(Wrap(reason, "  not valid: ", "             "), reasonEach))
	}
	if only := scope(r.IntervalBasis); only != "" {
		texts = append(texts, clip(Wrap(only, "  interval: ", "            "), reasonEach))
	}
	for _, warning := range r.Warnings {
		texts = append(texts, clip(Wrap(warning, "  warning: ", "           "), reasonEach))
	}
	for _, e := range errorsOf(r) {
		texts = append(texts, clip(Wrap(e, "  failed: ", "          "), reasonEach))
	}
	var b strings.Builder
	used := 0
	for i, text := range texts {
		lines := strings.Count(text, "\n")
		if room := most - used; lines > room || lines == room && i < len(texts)-1 {
			fmt.Fprintf(&b, "  and %d more reasons, warnings and errors: --details\n", len(texts)-i)
			break
		}
		b.WriteString(text)
		used += lines
	}
	return b.String()
}

// errorsOf all operations, equal ones together, the most frequent first.
func errorsOf(r *result.Result) (texts []string) {
	times, who := map[string]int64{}, map[string][]string{}
	for _, op := range r.Operations {
		for _, e := range op.ErrorTexts {
			times[e.Text] += e.Count
			who[e.Text] = append(who[e.Text], op.ID)
		}
	}
	for _, text := range slices.SortedFunc(maps.Keys(times), func(a, b string) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), strings.Compare(a, b))
	}) {
		what := who[text][0]
		if n := len(who[text]); n > 1 {
			what = fmt.Sprintf("%d operations", n)
		}
		texts = append(texts, fmt.Sprintf("%s, %s times: %s", what, human.Thousands(times[text]), text))
	}
	return texts
}

// worstFirst are the operations that were carried out, by score and then by the share of T that the p95 takes.
func worstFirst(r *result.Result) []result.Operation {
	all := slices.DeleteFunc(slices.Clone(r.Operations), func(op result.Operation) bool { return op.Apdex == nil })
	slices.SortStableFunc(all, func(a, b result.Operation) int {
		return cmp.Or(cmp.Compare(*a.Apdex, *b.Apdex), cmp.Compare(shareOfTarget(b), shareOfTarget(a)))
	})
	return all
}

// shareOfTarget that the p95 takes; a failed operation takes more than any other.
func shareOfTarget(op result.Operation) float64 {
	switch {
	case op.P95OfTarget != nil:
		return *op.P95OfTarget
	case op.LatencyAll != nil && op.Ops > 0:
		return 1e9
	}
	return 0
}

// headroom is the column p95/T.
func headroom(op result.Operation) string {
	if op.P95OfTarget == nil {
		return unknown
	}
	return percent(op.P95OfTarget)
}

func worst(b *strings.Builder, r *result.Result, shown int) error {
	all := worstFirst(r)
	if len(all) == 0 {
		return nil
	}
	t := table{left: map[int]bool{5: true}}
	first := "key operation"
	if len(all) > shown {
		first = fmt.Sprintf("worst %d of %d key operations", shown, len(all))
	}
	t.add(first, "T ms", "count", "failed", "Apdex", "band", "p95 ms", "p95/T")
	for _, op := range all[:min(shown, len(all))] {
		t.add(op.ID, human.Thousands(int64(op.TargetMS)), human.Thousands(op.Ops),
			human.Thousands(op.Errors+op.Overload),
			markedScore(op.Apdex, op.Ops), string(op.Band), ofAll(op, p95), headroom(op))
	}
	if err := t.write(b); err != nil {
		return err
	}
	if text := farBelow(all); text != "" {
		b.WriteString(clip(Wrap(text, "  ", "    "), 1))
	}
	return nil
}

// farBelow says that all answers are so far below their targets that the score does not show their speed; empty: it
// does.
func farBelow(all []result.Operation) string {
	most := 0.0
	for _, op := range all {
		most = max(most, shareOfTarget(op))
	}
	if most == 0 || most*headroomLeast > 1 {
		return ""
	}
	return fmt.Sprintf("every p95 is below %s of its T: answers %.0f times as slow would score the same",
		percent(&most),
		1/most)
}

// limit is what takes most of the operations' time.
func limit(r *result.Result) string {
	d := r.Diagnosis
	switch {
	case d == nil || d.Samples == 0 || len(d.Ledger) == 0:
		return "limiting resource: not known, no database was watched; processors " + percent(r.Conditions.CPU.Machine)
	case len(d.Findings) > 0:
		return "limiting resource: " + findingText(d.Findings[0])
	}
	most := slices.MaxFunc(d.Ledger, func(a, b result.LedgerLine) int { return cmp.Compare(a.S, b.S) })
	return fmt.Sprintf("limiting resource: none found; most time goes to %s (%s); processors %s", most.Name,
		human.Percent1(most.Share), percent(r.Conditions.CPU.Machine))
}

// ending is the line that scripts look for.
func ending(r *result.Result) string {
	valid := "valid"
	if !r.Valid {
		valid = "not valid"
	}
	score := string(r.Band)
	if r.Apdex != nil {
		score = "Apdex " + apdex.Text(*r.Apdex) + " " + score
	}
	return fmt.Sprintf("result: %s, %d users, %s   (all tables: plimsoll report)", score, r.Users, valid)
}

// clip keeps the first lines of a wrapped text and marks what is left out.
func clip(text string, most int) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines)-1 <= most {
		return text
	}
	last := []rune(strings.TrimSuffix(lines[most-1], "\n"))
	return strings.Join(lines[:most-1], "") + string(last[:min(len(last), Width-2)]) + " …\n"
}

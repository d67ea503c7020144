package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/run/result"
)

// SidesMax is how many runs fit side by side on a terminal.
const SidesMax = 4

// SideBySide writes runs side by side, with the conditions in which they differ. It judges nothing: two runs also
// differ by chance.
func SideBySide(w io.Writer, all []*result.Result) error {
	var b strings.Builder
	b.WriteString("\n")
	for i, r := range all {
		fmt.Fprintf(&b, "  %s  run %s  %s  %s\n", side(i), r.ID, r.Started.Format("2006-01-02 15:04:05 MST"), r.Title)
	}
	b.WriteString("\n")
	if err := sums(all).write(&b); err != nil {
		return err
	}
	b.WriteString("\n")
	if err := operations(all).write(&b); err != nil {
		return err
	}
	b.WriteString("\n  These are single runs: ignore a difference no larger than that between two equal runs.\n\n")
	differing(&b, all)
	_, err := io.WriteString(w, human.Plain(b.String()))
	return err
}

// side names a run: A, B, …
func side(i int) string { return string(rune('A' + i)) }

func sums(all []*result.Result) *table {
	t := &table{}
	head := []string{""}
	for i := range all {
		head = append(head, side(i))
	}
	t.add(head...)
	row := func(name string, value func(*result.Result) string) {
		cells := []string{name}
		for _, r := range all {
			cells = append(cells, value(r))
		}
		t.add(cells...)
	}
	row("Apdex", func(r *result.Result) string { return markedScore(r.Apdex, r.Ops) })
	row("95 % interval", func(r *result.Result) string { return interval(r.Interval) })
	row("users", func(r *result.Result) string { return human.Thousands(r.Users) })
	row("operations per second", func(r *result.Result) string { return fmt.Sprintf("%.1f", r.OpsPerS) })
	row("failed", func(r *result.Result) string { return human.Thousands(r.Errors + r.Overload) })
	row("CPU of the database", func(r *result.Result) string { return percent(r.Conditions.CPU.Database) })
	row("audit", func(r *result.Result) string { return auditWord(r.Audit) })
	row("verdict", verdict)
	return t
}

// operations of all runs, in the order of the first run that has each.
func operations(all []*result.Result) *table {
	t := &table{}
	head := []string{"key operation"}
	for i := range all {
		head = append(head, "Apdex "+side(i))
	}
	for i := range all {
		head = append(head, "p50 "+side(i))
	}
	for i := range all {
		head = append(head, "p95 "+side(i))
	}
	t.add(head...)
	for _, id := range operationIDs(all) {
		row := []string{id}
		for _, cell := range []func(result.Operation) string{
			func(op result.Operation) string { return markedScore(op.Apdex, op.Ops) },
			func(op result.Operation) string { return ofAll(op, p50) },
			func(op result.Operation) string { return ofAll(op, p95) },
		} {
			for _, r := range all {
				row = append(row, cell(operationOf(r, id)))
			}
		}
		t.add(row...)
	}
	return t
}

func operationIDs(all []*result.Result) (ids []string) {
	seen := map[string]bool{}
	for _, r := range all {
		for _, op := range r.Operations {
			if !seen[op.ID] {
				seen[op.ID] = true
				ids = append(ids, op.ID)
			}
		}
	}
	return ids
}

// operationOf is empty if a run lacks it.
func operationOf(r *result.Result, id string) result.Operation {
	for _, op := range r.Operations {
		if op.ID == id {
			return op
		}
	}
	return result.Operation{ID: id}
}

// differing lists the conditions, and the server's settings, that differ.
func differing(b *strings.Builder, all []*result.Result) {
	sides := make([]map[string]string, len(all))
	var names []string
	seen := map[string]bool{}
	for i, r := range all {
		sides[i] = map[string]string{}
		for _, f := range append(conditions(r), settingFacts(r)...) {
			sides[i][f.Name] = f.Value
			if !seen[f.Name] {
				seen[f.Name] = true
				names = append(names, f.Name)
			}
		}
	}
	for _, name := range names {
		if measured[name] || same(sides, name) {
			continue
		}
		fmt.Fprintf(b, "  %s\n", name)
		for i := range all {
			b.WriteString(Wrap(cmp.Or(sides[i][name], "missing"), "    "+side(i)+": ", "       "))
		}
	}
}

// measured are conditions that resulted from the run.
var measured = map[string]bool{"CPU, share of all cores": true, "generator": true, memoryFact: true,
	footprintFact: true}

func same(sides []map[string]string, name string) bool {
	for _, s := range sides[1:] {
		if s[name] != sides[0][name] {
			return false
		}
	}
	return true
}

package diagnose

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/sqltext"
	"plimsoll/ground/postgres/waits"
	"plimsoll/ground/problem"
	"plimsoll/lab/diagnose/mssql"
)

// snapshotsOf is what two snapshots of an MS SQL Server say, as far as it stands in a ledger: BEFORE,AFTER. Nil if
// other names something else.
func snapshotsOf(other string) (d *Diagnosis, notes []string, err error) {
	before, after, two := strings.Cut(other, ",")
	if !two || strings.ContainsAny(other, ":=@ ") {
		if _, err := mssql.Read(other); err == nil {
			return nil, nil, problem.New(problem.Usage,
				errors.New("one snapshot says only what has happened since a start"),
				"take a second one later: --against before.json,after.json")
		}
		return nil, nil, nil
	}
	const hint = "docs/examples/mssql-snapshot.sql takes one"
	from, err := mssql.Read(before)
	if err != nil {
		return nil, nil, problem.New(problem.Usage, err, hint)
	}
	to, err := mssql.Read(after)
	if err != nil {
		return nil, nil, problem.New(problem.Usage, err, hint)
	}
	w, err := mssql.Subtract(from, to)
	if err != nil {
		return nil, nil, problem.New(problem.Usage, err, hint)
	}
	return ofWindow(w), windowNotes(w), nil
}

// ofWindow makes a ledger of the window: its waits by our classes, each with what stands for it in PostgreSQL, the time
// on processors, and that of tasks that were ready and waited for one.
func ofWindow(w *mssql.Window) *Diagnosis {
	seconds := w.Length.Seconds()
	events := map[string][]Event{}
	queued := 0.0
	for _, wait := range w.Waits {
		m := mssql.Of(wait.Type)
		queued += wait.SignalMS / 1000
		name := wait.Type
		if m.Stands != "" {
			name += " (here: " + m.Stands + ")"
		}
		s := (wait.MS - wait.SignalMS) / 1000
		class := string(m.Class)
		if m.Class == waits.Other && m.Known {
			class = onlyThere
		}
		if m.Class == waits.Running { // a turn has ended: all of it is waiting for a processor
			queued += s
			continue
		}
		events[class] = append(events[class], Event{Name: name, WaitsFor: m.Why, S: s})
	}
	if w.CPUS != nil {
		events[OnCPU] = []Event{{Name: "processors", S: *w.CPUS}}
	}
	if queued > 0 {
		events[forCPU] = []Event{{Name: "ready tasks (signal waits)", S: queued}}
	}
	d := &Diagnosis{Ledger: Ledger{ObservedS: seconds, Lines: []Line{}, Processor: "as the server counts"}}
	d.Server.Version = w.Version
	for _, all := range events {
		for _, e := range all {
			d.Ledger.TotalS += e.S
		}
	}
	total := max(d.Ledger.TotalS, 1e-9)
	for _, class := range slices.Sorted(maps.Keys(events)) {
		line := Line{Class: class, Name: nonEmpty(lineNames[class], class), Events: events[class]}
		for i := range line.Events {
			e := &line.Events[i]
			e.Share = e.S / total
			line.S += e.S
		}
		line.Share = line.S / total
		d.Ledger.Lines = append(d.Ledger.Lines, line)
	}
	d.Ledger.Sessions = d.Ledger.TotalS / max(seconds, 1e-9)
	perS := w.Transactions
	if perS != nil {
		x := *perS / max(seconds, 1e-9)
		perS = &x
	}
	d.Rates = []Rate{{transactionsRate, perS}}
	return d
}

// onlyThere are waits that nothing stands for in PostgreSQL.
const onlyThere = "waits that PostgreSQL does not have"

// What is shown of a window.
const (
	waitsFrom                            = 0.02 // of all waits
	filesShown, spinsShown, queriesShown = 5, 5, 5
	queryWidth                           = 80
)

// declared parameters stand before the text of a statement.
var declared = regexp.MustCompile(`^\s*\(@(?:[^()]|\([^()]*\))*\)`)

// windowNotes are what no ledger has a place for: what the longest waits mean, and become in PostgreSQL; the statements
// that took the most time; the transfers of each database's files; spin locks.
func windowNotes(w *mssql.Window) (notes []string) {
	per := func(ms, n float64) string {
		if n <= 0 {
			return "none"
		}
		return fmt.Sprintf("%.1f ms", ms/n)
	}
	all := 0.0
	for _, wait := range w.Waits {
		all += wait.MS
	}
	for _, wait := range w.Waits {
		if m := mssql.Of(wait.Type); m.Why != "" && wait.MS >= waitsFrom*all {
			notes = append(notes, fmt.Sprintf("%s, %s of the waits: %s", wait.Type, human.Percent(wait.MS/all), m.Why))
		}
	}
	for _, q := range w.Queries[:min(queriesShown, len(w.Queries))] {
		text := []rune(sqltext.WithoutValues(declared.ReplaceAllString(q.Text, "")))
		if len(text) > queryWidth {
			text = append(text[:queryWidth], '…')
		}
		notes = append(notes, fmt.Sprintf("query: %.1f s in %s of %.1f ms, %s of it on processors, %.0f pages each: %s",
			q.MS/1000, human.Count(int64(q.Calls), "call"), q.MS/q.Calls, human.Percent(q.CPUMS/q.MS), q.Pages/q.Calls,
			string(text)))
	}
	for _, f := range w.Files[:min(filesShown, len(w.Files))] {
		notes = append(notes, fmt.Sprintf("files of %s (%s): %.0f reads, %s each; %.0f writes, %s each", f.Base,
			strings.ToLower(f.Kind), f.Reads, per(f.ReadMS, f.Reads), f.Writes, per(f.WriteMS, f.Writes)))
	}
	for _, s := range w.Spinlocks[:min(spinsShown, len(w.Spinlocks))] {
		if s.Collisions > 0 {
			notes = append(notes, fmt.Sprintf("spin lock %s: %.0f collisions, %.0f spins each (PostgreSQL shows such "+
				"waits only as Timeout:SpinDelay)", s.Name, s.Collisions, s.Spins/s.Collisions))
		}
	}
	return notes
}

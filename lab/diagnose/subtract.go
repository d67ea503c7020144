package diagnose

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"maps"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/web"
)

// Difference is how much longer a transaction of one system waits for something than one of the other: a class, or an
// event of one.
type Difference struct {
	Class string `json:"class"`
	Name  string `json:"name"`
	// Milliseconds of a transaction; 0: none was sampled.
	OtherMS float64      `json:"other_ms"`
	ThisMS  float64      `json:"this_ms"`
	MoreMS  float64      `json:"more_ms"`
	Events  []Difference `json:"events,omitempty"`
}

// Against is this system's ledger less that of another.
type Against struct {
	Source  string `json:"source"`
	System  string `json:"system"`
	Version string `json:"version"`
	// Transactions a second; null: not counted.
	OtherPerS   *float64     `json:"other_per_s"`
	ThisPerS    *float64     `json:"this_per_s"`
	Differences []Difference `json:"differences"`
	Why         string       `json:"why,omitempty"` // there are none
	// PlanChanges: statements that have another plan here than there.
	PlanChanges []plan.Change `json:"plan_changes"`
	// Notes on what no ledger has a place for.
	Notes []string `json:"notes,omitempty"`
}

// Compare with the diagnosis of another system, which source names.
func (d *Diagnosis) Compare(source string, other *Diagnosis) {
	d.Against = &Against{Source: source, System: "PostgreSQL", Version: other.Server.Version,
		OtherPerS: other.transactionsPerS(),
		ThisPerS:  d.transactionsPerS(), Differences: Subtract(d, other)}
	d.Against.PlanChanges = append([]plan.Change{}, plan.Changes(plan.TwoRuns, other.Plans, d.Plans, matched,
		plan.Generic)...)
	for _, c := range d.Against.PlanChanges {
		d.Findings = append(d.Findings, changeFinding(c))
	}
	if d.Against.Differences == nil {
		d.Against.Differences = []Difference{}
		d.Against.Why = "one of the two counted no transactions, so their times cannot be compared"
	}
}

func (d *Diagnosis) transactionsPerS() *float64 {
	for _, r := range d.Rates {
		if r.Name == transactionsRate {
			return r.PerS
		}
	}
	return nil
}

// spent are milliseconds of a transaction by class, and by event within it.
type spent map[string]struct {
	ms     float64
	events amounts
}

// perTransaction is nil if none was counted.
func (d *Diagnosis) perTransaction() spent {
	perS := d.transactionsPerS()
	if perS == nil || *perS <= 0 {
		return nil
	}
	each := spent{}
	for _, line := range d.Ledger.Lines {
		one := each[line.Class]
		one.ms, one.events = 1000*line.Share*d.Ledger.Sessions / *perS, amounts{}
		for _, e := range line.Events {
			one.events[e.Name] += 1000 * e.Share * d.Ledger.Sessions / *perS
		}
		each[line.Class] = one
	}
	return each
}

// Subtract the ledger of another system with the same load from that of this one, transaction by transaction: shares
// add up to 100 % on both and hide what has grown. The class that grew most comes first. Nil: transactions were not
// counted.
func Subtract(this, other *Diagnosis) (all []Difference) {
	a, b := this.perTransaction(), other.perTransaction()
	if a == nil || b == nil {
		return nil
	}
	for class := range both(a, b) {
		one := difference(class, nonEmpty(lineNames[class], class), a[class].ms, b[class].ms)
		for event := range both(a[class].events, b[class].events) {
			one.Events = append(one.Events, difference(class, event, a[class].events[event], b[class].events[event]))
		}
		sortDifferences(one.Events)
		all = append(all, one)
	}
	sortDifferences(all)
	return all
}

func difference(class, name string, this, other float64) Difference {
	return Difference{Class: class, Name: name, OtherMS: other, ThisMS: this, MoreMS: this - other}
}

// both are the keys of two maps.
func both[V any, M ~map[string]V](a, b M) map[string]V {
	keys := map[string]V{}
	maps.Copy(keys, a)
	maps.Copy(keys, b)
	return keys
}

func sortDifferences(all []Difference) {
	slices.SortFunc(all, func(a, b Difference) int {
		return compareDown(math.Abs(a.MoreMS), math.Abs(b.MoreMS), a.Name, b.Name)
	})
}

// Load a diagnosis that was kept (--json).
func Load(file string) (*Diagnosis, error) {
	const hint = "keep one: plimsoll diagnose --json > FILE"
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read a diagnosis: %w", err), hint)
	}
	d := &Diagnosis{}
	if err = json.Unmarshal(text, d); err == nil && d.Schema != Schema {
		err = errors.New("its schema is " + nonEmpty(d.Schema, "missing") + ", not " + Schema)
	}
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read the diagnosis in %s: %w", file, err), hint)
	}
	return d, nil
}

// differenceLeast of a transaction is shown, in milliseconds.
const differenceLeast = 0.01

// Table of the differences that are large enough, and of the events below them.
func (a *Against) Table() web.Table {
	t := web.Table{Title: fmt.Sprintf("Milliseconds of a transaction, there (%s %s) and here", a.System, a.Version),
		Label: "Table of differences", Columns: []string{"part", "there", "here", "more"}, Names: true}
	row := func(indent string, d Difference) {
		if math.Abs(d.MoreMS) >= differenceLeast {
			t.Rows = append(t.Rows, []string{indent + d.Name, fmt.Sprintf("%.2f", d.OtherMS),
				fmt.Sprintf("%.2f", d.ThisMS), fmt.Sprintf("%+.2f", d.MoreMS)})
		}
	}
	for _, d := range a.Differences {
		row("", d)
		for _, e := range d.Events[:min(partsKept, len(d.Events))] {
			row("· ", e)
		}
	}
	return t
}

func (d *Diagnosis) againstText(b *strings.Builder) error {
	a := d.Against
	if a == nil {
		return nil
	}
	fmt.Fprintf(b, "\nAGAINST %s (%s %s): milliseconds of a transaction\n", a.Source, a.System, a.Version)
	if a.Why != "" {
		fmt.Fprintf(b, "  %s\n", a.Why)
		return nil
	}
	t := a.Table()
	t.Columns[0] = ""
	if err := t.Text(b, "  "); err != nil {
		return err
	}
	fmt.Fprintf(b, "  %s transactions a second there, %s here\n", text(a.OtherPerS, "%.0f"), text(a.ThisPerS, "%.0f"))
	for _, note := range a.Notes {
		b.WriteString(human.Hanging("  there  ", note, summaryWidth, 0))
	}
	return nil
}

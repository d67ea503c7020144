package layout

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"plimsoll/ground/host/probe"
	"plimsoll/ground/problem"
)

// ComparisonSchema of its JSON.
const ComparisonSchema = "plimsoll-topology-comparison-1"

// Comparison of two machines.
type Comparison struct {
	Schema string `json:"schema"`
	A      string `json:"a"`
	B      string `json:"b"`
	Rows   []Row  `json:"rows"`
}

// Row is one item of both.
type Row struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
	// Times is B's figure by A's; null: no figure of both.
	Times  *float64 `json:"times"`
	Differ bool     `json:"differ"`
	Says   string   `json:"says"` // what the difference means; empty: nothing known
}

// apart: two measurements of one machine, a quiet one, differ by less.
const apart = 1.25

// Load a report that was kept (--json).
func Load(file string) (*Report, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read a topology: %w", err),
			"keep one: plimsoll topology --json > FILE")
	}
	r := &Report{}
	if err := json.Unmarshal(text, r); err != nil || r.Schema != Schema {
		if err == nil {
			err = fmt.Errorf("its schema is %q, not %s", r.Schema, Schema)
		}
		return nil, problem.New(problem.Usage, fmt.Errorf("read the topology in %s: %w", file, err),
			"keep one: plimsoll topology --json > FILE")
	}
	return r, nil
}

// Compare two reports: first what the kernels show, then what probes measured.
func Compare(nameA string, a *Report, nameB string, b *Report) *Comparison {
	c := &Comparison{Schema: ComparisonSchema, A: nameA, B: nameB, Rows: []Row{}}
	for _, i := range a.Items {
		row := Row{Name: i.Name, A: i.short(), B: "not in this report"}
		for _, k := range b.Items {
			if k.Name == i.Name {
				row.B = k.short()
				row.Differ = i.Verdict != k.Verdict
				if _, measured := measures[i.Name]; !measured {
					row.Differ = row.Differ || i.Shows != k.Shows
				}
			}
		}
		if measure, measured := measures[i.Name]; measured {
			if x := measure(b) / measure(a); !math.IsNaN(x) && !math.IsInf(x, 0) {
				row.Times = &x
				row.Differ = row.Differ || x > apart || x < 1/apart
			}
		}
		if row.A == string(Unknown) || row.B == string(Unknown) {
			row.Differ, row.Times = false, nil
			row.Says = "not measured on both sides: nothing to compare"
		} else if row.Differ {
			row.Says = meanings[i.Name]
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

func (i Item) short() string {
	if i.Verdict == Unknown {
		return string(Unknown)
	}
	if i.Verdict == Trustworthy {
		return i.Shows
	}
	return fmt.Sprintf("%s (%s)", i.Shows, i.Verdict)
}

// measures are the figures of items, the least where there are many: it is the hardware's own. NaN: not measured.
var measures = map[string]func(*Report) float64{
	"clock": func(r *Report) float64 {
		return figureOf(r.Probes.Clock, func(c *probe.Timing) float64 { return c.ReadNS })
	},
	"sleep": func(r *Report) float64 {
		return figureOf(r.Probes.Clock, func(c *probe.Timing) float64 { return c.Sleep.Least })
	},
	"memory": func(r *Report) float64 { _, near := r.Far(); return near },
	"flush": func(r *Report) float64 {
		return figureOf(r.Probes.Flush,
			func(t *probe.Times) float64 { return t.Median })
	},
	"round trip": func(r *Report) float64 {
		return figureOf(r.Probes.Trip, func(t *probe.Times) float64 { return t.Least })
	},
	"cache lines": func(r *Report) float64 {
		if len(r.Probes.Lines) == 0 {
			return math.NaN()
		}
		most := 0.0
		for _, l := range r.Probes.Lines {
			most = max(most, l.Trip.Least)
		}
		return most
	},
}

func figureOf[T any](value *T, figure func(*T) float64) float64 {
	if value == nil {
		return math.NaN()
	}
	return figure(value)
}

// meanings of a difference, for a system that runs on both.
var meanings = map[string]string{
	"processors":          "plans, workers and the kernel's scheduler follow the count and the sockets",
	"caches":              "what fits into a cache of one may not fit into the other's",
	"NUMA nodes":          "the kernel places processes and memory on different nodes",
	"hypervisor":          "a different one decides when processors run",
	"clock":               "timing plans and transfers has a different cost",
	"sleep":               "commit_delay, autovacuum's pauses and timeouts last longer or shorter",
	"memory":              "each access to shared memory costs this many times as much",
	"cache lines":         "locks inside the server pass from core to core slower by this factor",
	"flush":               "commits that wait for the log differ by this factor",
	"round trip":          "each statement of an operation waits this long for the network",
	"server's processors": "one server may use less of its machine",
	"huge pages":          "one server spends memory and time on page tables",
}

// Text for a terminal.
func (c *Comparison) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "A  %s\nB  %s\n", c.A, c.B)
	differ := 0
	for _, row := range c.Rows {
		mark := "same"
		if row.A == string(Unknown) || row.B == string(Unknown) {
			mark = "not compared"
		}
		if row.Differ {
			mark = "differs"
			differ++
		}
		if row.Times != nil {
			mark += fmt.Sprintf(", B is ×%.2f", *row.Times)
		}
		fmt.Fprintf(&b, "\n%s: %s\n  A  %s\n", row.Name, mark, row.A)
		if row.B != row.A {
			fmt.Fprintf(&b, "  B  %s\n", row.B)
		}
		if row.Differ && row.Says != "" {
			fmt.Fprintf(&b, "  →  %s\n", row.Says)
		}
	}
	fmt.Fprintf(&b, "\n%d of %d items differ.\n", differ, len(c.Rows))
	_, err := io.WriteString(w, b.String())
	return err
}

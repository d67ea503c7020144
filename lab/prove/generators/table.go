package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"plimsoll/lab/prove/peers"
	"plimsoll/lab/stats"
)

// line summarizes a trial.
func (t trial) line() string {
	if t.Wrong != "" {
		return "no figures: " + t.Wrong
	}
	if t.Work.Kind == stalled {
		return fmt.Sprintf("p50 %.0f ms, p95 %.0f ms, p99 %.0f ms, max %.0f ms, %d never sent", t.Own.P50, t.Own.P95,
			t.Own.P99, t.Own.Max, t.Own.Dropped)
	}
	return fmt.Sprintf("%.0f requests/s, %.3f cores, %.0f MB", t.Rate, t.Cores, t.Resident/1e6)
}

// figure is a column of the tables.
type figure struct {
	name   string
	figure func(trial) float64
}

// costs of a generator; less is better.
var costs = []figure{
	{"CPU of a user, µs/s", func(t trial) float64 { return 1e6 * t.Cores / float64(t.Work.Users) }},
	{"CPU of a request, µs", perRequest},
	{"memory of a user, kB", func(t trial) float64 { return t.Resident / float64(t.Work.Users) / 1e3 }},
	{"memory in all, MB", func(t trial) float64 { return t.Resident / 1e6 }},
}

var speed = []figure{
	{"requests/s", func(t trial) float64 { return t.Rate }},
	{"CPU of a request, µs", perRequest},
	{"requests/s of a core", func(t trial) float64 { return 1e6 / perRequest(t) }},
	{"memory in all, MB", func(t trial) float64 { return t.Resident / 1e6 }},
}

var reported = []figure{
	{"p50, ms", func(t trial) float64 { return t.Own.P50 }},
	{"p95, ms", func(t trial) float64 { return t.Own.P95 }},
	{"p99, ms", func(t trial) float64 { return t.Own.P99 }},
	{"max, ms", func(t trial) float64 { return t.Own.Max }},
	{"never sent", func(t trial) float64 { return float64(t.Own.Dropped) }},
}

func perRequest(t trial) float64 { return 1e6 * t.Cores / t.Rate }

// tables of all trials, as Markdown.
func tables(w io.Writer, all []trial) error {
	var b strings.Builder
	compared(&b, "Users who think", all, thinking, costs)
	writeMemoryPerUser(&b, all)
	compared(&b, "Users who do not think", all, busy, speed)
	stalls(&b, all)
	writeFailures(&b, all)
	_, err := io.WriteString(w, b.String())
	return err
}

// group of trials that differ in the round only.
type group struct {
	generator string
	work      work
}

func groups(all []trial, kind string) (order []group, grouped map[group][]trial) {
	grouped = map[group][]trial{}
	for _, t := range all {
		if t.Work.Kind != kind || t.Wrong != "" {
			continue
		}
		g := group{t.Generator, t.Work}
		if grouped[g] == nil {
			order = append(order, g)
		}
		grouped[g] = append(grouped[g], t)
	}
	rank := func(name string) int {
		return slices.IndexFunc(generators, func(g peers.Tool) bool { return g.Name == name })
	}
	slices.SortStableFunc(order, func(a, b group) int {
		if a.work.Users != b.work.Users {
			return a.work.Users - b.work.Users
		}
		return rank(a.generator) - rank(b.generator)
	})
	return order, grouped
}

// compared prints medians with least and greatest, and how others differ from plimsoll.
func compared(b *strings.Builder, title string, all []trial, kind string, figures []figure) {
	order, grouped := groups(all, kind)
	if len(order) == 0 {
		return
	}
	head(b, title, append([]string{"users", "generator", "rounds"}, names(figures)...))
	for _, g := range order {
		row := []string{fmt.Sprint(g.work.Users), g.generator, fmt.Sprint(len(grouped[g]))}
		base := grouped[group{generators[0].Name, g.work}]
		for _, f := range figures {
			cell := spread(f, grouped[g])
			if g.generator != generators[0].Name {
				cell += ratioTo(f, base, grouped[g])
			}
			row = append(row, cell)
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
}

// ratioTo is the ratio to plimsoll with its interval; empty if there is nothing to compare.
func ratioTo(f figure, base, variant []trial) string {
	r, err := stats.RatioOf(values(f, base), values(f, variant))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(", ×%.3g (%.3g to %.3g)", r.Ratio, r.Low, r.High)
}

// writeMemoryPerUser writes the memory that each additional user takes.
func writeMemoryPerUser(b *strings.Builder, all []trial) {
	order, grouped := groups(all, thinking)
	if len(order) == 0 {
		return
	}
	resident := figure{figure: func(t trial) float64 { return t.Resident }}
	least := map[string]group{}
	head(b, "Memory of each further user", []string{"generator", "from", "to", "kB"})
	for _, g := range order {
		first, known := least[g.generator]
		if !known {
			least[g.generator] = g
			continue
		}
		more := (stats.Median(values(resident, grouped[g])) - stats.Median(values(resident, grouped[first]))) / float64(
			g.work.Users-first.work.Users)
		fmt.Fprintf(b, "| %s | %d | %d | %s |\n", g.generator, first.work.Users, g.work.Users, number(more/1e3))
	}
}

func stalls(b *strings.Builder, all []trial) {
	order, grouped := groups(all, stalled)
	if len(order) == 0 {
		return
	}
	head(b, fmt.Sprintf("%d requests/s, of %s, during which the application stops for %s", stallRate, stallLasting,
		stallFor),
		append([]string{"users", "generator", "rounds"}, names(reported)...))
	last := 0
	for _, g := range order {
		if g.work.Users != last {
			fmt.Fprintf(b, "| %d | *who was due waited* | | %d | %d | %d | %d | 0 |\n", g.work.Users,
				waitAtShare(0.5).Milliseconds(), waitAtShare(0.95).Milliseconds(), waitAtShare(0.99).Milliseconds(),
				stallFor.Milliseconds())
			last = g.work.Users
		}
		row := []string{fmt.Sprint(g.work.Users), g.generator, fmt.Sprint(len(grouped[g]))}
		for _, f := range reported {
			row = append(row, spread(f, grouped[g]))
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
}

// writeFailures lists trials without figures, and failed requests in the others.
func writeFailures(b *strings.Builder, all []trial) {
	for _, t := range all {
		if t.Wrong != "" {
			fmt.Fprintf(b, "\nNo figures: %s, %s: %s\n", t.Generator, t.Work, t.Wrong)
		} else if t.Refused+t.Own.Failed > 0 {
			fmt.Fprintf(b, "\n%s, %s: %d requests were refused, %d failed\n", t.Generator, t.Work, t.Refused,
				t.Own.Failed)
		}
	}
}

func head(b *strings.Builder, title string, columns []string) {
	fmt.Fprintf(b, "\n### %s\n\n| %s |\n|%s\n", title, strings.Join(columns, " | "),
		strings.Repeat("---|", len(columns)))
}

func names(figures []figure) (all []string) {
	for _, f := range figures {
		all = append(all, f.name)
	}
	return all
}

func values(f figure, trials []trial) (all []float64) {
	for _, t := range trials {
		all = append(all, f.figure(t))
	}
	slices.Sort(all)
	return all
}

func spread(f figure, trials []trial) string {
	all := values(f, trials)
	low, mid, high := number(all[0]), number(stats.Median(all)), number(all[len(all)-1])
	if low == high {
		return mid
	}
	return fmt.Sprintf("%s (%s to %s)", mid, low, high)
}

// number with three significant digits.
func number(x float64) string {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprint(x)
	}
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(x)))))
	return fmt.Sprintf("%.*f", digits, x)
}

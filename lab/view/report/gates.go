package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"plimsoll/lab/run/result"
	"plimsoll/web"
)

// gateLines of a summary: what they came to, and those that did not pass.
const gateLines = 5

// gateWide is what a gate's text may take of a line.
const gateWide = 44

// gateOrder: what did not pass stands first.
func gateOrder(all []result.Gate) []result.Gate {
	place := map[result.GateVerdict]int{result.GateFailed: 0, result.GateUndecided: 1, result.GatePassed: 2}
	return slices.SortedStableFunc(slices.Values(all), func(a, b result.Gate) int {
		return place[a.Verdict] - place[b.Verdict]
	})
}

// Gates for a terminal, at most so many lines; empty: there are none.
func Gates(given []result.Gate, most int) string {
	if len(given) == 0 {
		return ""
	}
	all := gateOrder(given)
	shown := all
	if len(all)+1 > most {
		shown = all[:max(0, most-2)]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  %s\n", result.GatesText(given))
	wide := 0
	for _, g := range shown {
		wide = max(wide, min(gateWide, utf8.RuneCountInString(g.Gate)))
	}
	for _, g := range shown {
		mark := strings.ToUpper(string(g.Verdict))
		if g.Verdict == result.GatePassed {
			mark = string(g.Verdict)
		}
		first := fmt.Sprintf("    %-9s  %-*s  ", mark, wide, cut(g.Gate, wide))
		b.WriteString(clip(Wrap(g.MeasuredText(), first, "               "), 1))
	}
	if left := len(all) - len(shown); left > 0 {
		fmt.Fprintf(&b, "    and %d more: --details\n", left)
	}
	return b.String()
}

// gateTable is that of the page.
func gateTable(r *result.Result) web.Table {
	t := web.Table{Title: result.GatesText(r.Gates), Label: "Gates", Names: true, Says: true,
		Columns: []string{"fails if", "measured", "95 % interval", "operations", "verdict"}}
	if len(r.Gates) == 0 {
		return t
	}
	for _, g := range gateOrder(r.Gates) {
		measured := unknown
		if g.Measured != nil {
			measured = g.Unit.Text(*g.Measured)
		}
		verdict := g.Verdict.Text()
		if g.Because != "" {
			verdict += ": " + g.Because
		}
		t.Rows = append(t.Rows, []string{g.Gate, measured, g.IntervalText(),
			fmt.Sprint(g.Operations), verdict})
	}
	return t
}

package statement

import (
	"fmt"
	"strings"

	"plimsoll/ground/human"
)

// Says what is known, in lines for people: calls, what each touches, and where its time goes.
func (l *Account) Says() (lines []string) {
	if l.Calls != nil && l.MeanMS != nil {
		lines = append(lines, fmt.Sprintf("%.0f calls of %.2f ms%s", *l.Calls, *l.MeanMS, l.touches()))
	}
	var texts []string
	for _, p := range l.Parts {
		if p.Share >= shownFrom {
			texts = append(texts, p.Name+" "+human.Percent(p.Share))
		}
	}
	if len(texts) > 1 {
		lines = append(lines, "of its time: "+strings.Join(texts, ", "))
	}
	for _, group := range []struct {
		what string
		all  []string
	}{{"runs the trigger", l.Triggers}, {"checks the policy", l.Policies}} {
		for _, one := range group.all[:min(3, len(group.all))] {
			lines = append(lines, group.what+" "+one)
		}
	}
	for _, f := range l.Functions[:min(3, len(l.Functions))] {
		lines = append(lines, fmt.Sprintf("function %s (%s): %.0f calls, %.2f s in "+
			"all", f.Name, f.By, f.Calls, f.TotalS))
	}
	return lines
}

// shownFrom this share of a statement's time a part is said.
const shownFrom = 0.01

// touches of each call.
func (l *Account) touches() string {
	var texts []string
	for _, one := range []struct {
		x    *float64
		what string
	}{{l.PerCall.Rows, "rows"}, {l.PerCall.RowsRead, "rows read of its tables"},
		{l.PerCall.Blocks, "blocks"}, {l.PerCall.Toast, "blocks of values stored apart"},
		{l.PerCall.TempBlocks, "blocks of temporary files"}, {l.PerCall.LogBytes, "bytes of log"},
		{l.PerCall.Images, "full-page images"}} {
		if one.x != nil && *one.x >= leastPerCall {
			texts = append(texts, human.Figure(*one.x, 3)+" "+one.what)
		}
	}
	if l.Workers != nil && l.Workers.Planned > 0 {
		texts = append(texts, fmt.Sprintf("%.0f parallel workers planned and %.0f launched in all", l.Workers.Planned,
			l.Workers.Launched))
	}
	if l.JIT != nil && l.JIT.Functions > 0 {
		texts = append(texts, fmt.Sprintf("%.0f functions compiled in all", l.JIT.Functions))
	}
	if len(texts) == 0 {
		return ""
	}
	return "; each: " + strings.Join(texts, ", ")
}

// leastPerCall that is said.
const leastPerCall = 0.005

package compare

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/web"
)

const page = "compare/page.html.tmpl"

var pages = web.Templates(page)

// whenFormat of a comparison's begin, for readers.
const whenFormat = "2006-01-02 15:04:05 MST"

// HTML writes the comparison as one file.
func (c *Comparison) HTML(w io.Writer) error {
	type shown struct {
		Side, Name, Statement string
		Drawn                 []difference
		Tables                []web.Table
		AtOneUser             string
	}
	var findings []shown
	for _, f := range c.Findings {
		s := shown{Side: f.Side, Name: f.Name, Statement: f.statement(c), Drawn: f.drawn()}
		add := func(title string, rows [][]string) {
			if len(rows) > 0 {
				s.Tables = append(s.Tables, f.table(title, rows))
			}
		}
		add("All operations together", f.summary())
		for _, t := range f.Tables {
			add(t.label(), f.rowsOf(t.Name))
		}
		add("Waiting sessions, ms per operation", f.waitRows(len(f.Waits)))
		if f.AtOneUser != nil {
			s.AtOneUser = f.AtOneUser.text(c.Plan.metric())
		}
		findings = append(findings, s)
	}
	frame, err := web.NewFrame("Comparison · "+c.Statement(), c.Started, "compare", c,
		web.ChartStyle()+web.Text("compare/page.css"))
	if err == nil {
		err = pages.ExecuteTemplate(w, page, struct {
			web.Frame
			Comparison           *Comparison
			Statement            string
			Evidence, Conditions []string
			Findings             []shown
			Runs                 web.Table
		}{frame, c, c.Statement(), c.evidence(), c.conditionLines(), findings,
			c.runTable()})
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (c *Comparison) runTable() web.Table {
	t := web.Table{Title: "In the order in which they ran", Label: "Table of runs",
		Columns: []string{"run", "phase", "round", "side", c.Plan.Metric, "void", "id"}}
	m := c.Plan.metric()
	for i, r := range c.Runs {
		value := "-"
		if v, known := r.figure("", m, c.dataOf(r.Phase, 0).common(m)); known && r.Void == "" {
			value = figureText(v, 1)
		}
		t.Rows = append(t.Rows, []string{fmt.Sprint(i + 1), string(r.Phase), fmt.Sprint(r.Round), r.Side, value, r.Void,
			r.Run})
	}
	return t
}

// drawnReach is the factor at either end of the drawing, unless an interval reaches farther; drawnMost is the largest.
const drawnReach, drawnMost = 1.1, 4.0

// difference is a row of the drawing: the interval of a metric's effect around the line of no difference.
type difference struct {
	Name, Effect string
	SVG          template.HTML
}

// drawn has a row for each metric that is a ratio. Places are shares of the width, so that the page's style decides how
// wide a row is. The effect stands next to it, so the picture is hidden from screen readers.
func (f Finding) drawn() (all []difference) {
	var rows []OperationRow
	for _, t := range f.Tables {
		for _, r := range t.Rows {
			if r.Operation == "" && r.Scale == verdict.Ratio && r.Verdict != verdict.TooFew {
				r.Operation = t.Title
				rows = append(rows, r)
			}
		}
	}
	most := math.Log(drawnReach)
	for _, r := range rows {
		most = max(most, min(math.Log(drawnMost), max(math.Abs(math.Log(r.Low)), math.Abs(math.Log(r.High)))))
	}
	x := func(ratio float64) string {
		return fmt.Sprintf("%.2f%%", 50*(1+max(-1, min(1, math.Log(ratio)/most))))
	}
	for _, r := range rows {
		class := "open"
		if r.Verdict == verdict.Worse || r.Verdict == verdict.Better {
			class = string(r.Verdict)
		}
		var b strings.Builder
		b.WriteString(`<svg aria-hidden="true"><line class="equal" x1="50%" x2="50%" y1="0" y2="26"/>`)
		fmt.Fprintf(&b, `<line class="interval" x1="%s" x2="%s" y1="13" y2="13"/>`, x(r.Low), x(r.High))
		fmt.Fprintf(&b, `<circle class="%s" cx="%s" cy="13" r="5"/></svg>`, class, x(r.Effect))
		all = append(all, difference{r.Operation, effectText(Metric{}, r.Row), template.HTML(b.String())})
	}
	return all
}

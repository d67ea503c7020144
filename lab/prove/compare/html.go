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

// HTML writes the comparison as one file.
func (c *Comparison) HTML(w io.Writer) error {
	type shown struct {
		Side, Name, Statement string
		Columns               []string
		Drawn                 template.HTML
		Tables                []struct {
			Title string
			Rows  [][]string
		}
		AtOneUser string
	}
	var findings []shown
	for _, f := range c.Findings {
		s := shown{Side: f.Side, Name: f.Name, Statement: f.statement(c), Columns: []string{"", "A", f.Side, columns[3],
			columns[4]}, Drawn: f.drawn()}
		add := func(title string, rows [][]string) {
			if len(rows) > 0 {
				s.Tables = append(s.Tables, struct {
					Title string
					Rows  [][]string
				}{title, rows})
			}
		}
		add("All operations together", f.summary())
		for _, t := range f.Tables {
			add(t.label(), f.rowsOf(t.Name))
		}
		add("Waiting sessions, ms per operation", f.waitRows(len(f.Waits)))
		if f.AtOneUser != nil {
			s.AtOneUser = f.AtOneUser.Says + ": mean latency " + effectText(f.AtOneUser.Row)
		}
		findings = append(findings, s)
	}
	frame, err := web.NewFrame("Comparison · "+c.Statement(), c.Started, "compare", c, web.Drawn())
	if err == nil {
		err = pages.ExecuteTemplate(w, page, struct {
			web.Frame
			Comparison           *Comparison
			Statement            string
			Evidence, Conditions []string
			Findings             []shown
			Runs                 [][]string
		}{frame, c, c.Statement(), c.evidence(), c.conditionLines(), findings, c.runRows()})
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (c *Comparison) runRows() (rows [][]string) {
	m := metricOf(c.Plan.Metric, nil)
	for i, r := range c.Runs {
		value := "-"
		if v, known := r.figure("", m, c.dataOf(r.Phase, 0).common(m)); known && r.Void == "" {
			value = figureText(v, 1)
		}
		rows = append(rows, []string{fmt.Sprint(i + 1), string(r.Phase), fmt.Sprint(r.Round), r.Side, value, r.Void,
			r.Run})
	}
	return rows
}

// Size of the drawing.
const (
	drawnWidth, rowHeight = 860.0, 24.0
	drawnLeft, drawnRight = 260.0, 190.0
)

// drawn has one bar for each metric that is a ratio: the interval of the effect around the middle line, which is no
// difference.
func (f Finding) drawn() template.HTML {
	var rows []OperationRow
	for _, t := range f.Tables {
		for _, r := range t.Rows {
			if r.Operation == "" && r.Scale == verdict.Ratio && r.Verdict != verdict.TooFew {
				r.Operation = t.Title
				rows = append(rows, r)
			}
		}
	}
	if len(rows) == 0 {
		return ""
	}
	most := math.Log1p(0.1)
	for _, r := range rows {
		most = max(most, min(math.Log(4), max(math.Abs(math.Log(r.Low)), math.Abs(math.Log(r.High)))))
	}
	width := drawnWidth - drawnLeft - drawnRight
	x := func(ratio float64) float64 {
		return drawnLeft + width/2*(1+max(-1, min(1, math.Log(ratio)/most)))
	}
	var b strings.Builder
	height := rowHeight * float64(len(rows)+1)
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %g %g" role="img" aria-label="Differences with intervals">`,
		drawnWidth, height)
	fmt.Fprintf(&b, `<line class="target" x1="%.1f" x2="%.1f" y1="0" y2="%g"/>`, x(1), x(1), height-rowHeight)
	for i, r := range rows {
		y := rowHeight * (float64(i) + 0.5)
		fmt.Fprintf(&b, `<text x="%g" y="%.1f" text-anchor="end">%s</text>`, drawnLeft-8, y+4,
			template.HTMLEscapeString(r.Operation))
		fmt.Fprintf(&b, `<line class="interval" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, x(r.Low), x(r.High), y, y)
		class := map[verdict.Verdict]string{verdict.Worse: "unsteady", verdict.Better: "passes"}[r.Verdict]
		if class == "" {
			class = "between"
		}
		fmt.Fprintf(&b, `<circle class="%s" cx="%.1f" cy="%.1f" r="5"/>`, class, x(r.Effect), y)
		fmt.Fprintf(&b, `<text x="%g" y="%.1f">%s</text>`, drawnWidth-drawnRight+8, y+4,
			template.HTMLEscapeString(effectText(r.Row)))
	}
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">no difference</text>`, x(1), height-6)
	return template.HTML(b.String() + "</svg>")
}

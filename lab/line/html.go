package line

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"plimsoll/web"
)

var page = template.Must(template.New("line").Parse(web.Text("line/page.html.tmpl")))

// chartStyle of what is drawn; colours are those of the other report.
const chartStyle = `
.chart { width: 100%; max-width: 860px; height: auto; font: 12px var(--font); }
.chart text { fill: var(--muted); } .chart .axis { stroke: var(--rule); } .chart .target { stroke: var(--orange); stroke-dasharray: 5 4; }
.chart .law { fill: none; stroke: var(--purple); stroke-width: 1.5; } .chart .passes { fill: var(--blue); } .chart .fails { stroke: var(--bad); stroke-width: 2; fill: none; }
.chart .unsteady { fill: var(--orange); } .chart .interval { stroke: var(--muted); } figure { margin: 0 0 16px; }`

// HTML writes the search as one file that needs nothing else and runs no script.
func (l *Line) HTML(w io.Writer) error {
	data, err := json.Marshal(l) // escapes <, > and & so that it cannot end its element
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	style := web.Style() + web.Text("report/page.css") + chartStyle
	sum := sha256.Sum256([]byte(style))
	rows := l.rows()
	for i := range rows {
		rows[i] = append(append([]string{fmt.Sprint(i + 1)}, rows[i]...), l.Trials[i].Run)
	}
	err = page.Execute(w, struct {
		Line          *Line
		Started       string
		Policy        string
		Style, Data   template.HTML
		Scores, Rates template.HTML
		Law           []string
		Rows          [][]string
		Conditions    []string
	}{
		l, l.Started.Format(time.RFC3339), "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'",
		template.HTML("<style>" + style + "</style>"), template.HTML(`<script type="application/json" id="line">` + string(data) + `</script>`),
		l.scoreChart(), l.rateChart(), strings.Split(strings.TrimSpace(l.law()), "\n"), rows, l.conditionLines(),
	})
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

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

// Pages, and the templates that they share.
const (
	searchPage     = "line/page.html.tmpl"
	comparisonPage = "line/comparison.html.tmpl"
	partsOfPages   = "line/parts.html.tmpl"
)

var pages = func() *template.Template {
	all := template.New("line")
	for _, name := range []string{partsOfPages, searchPage, comparisonPage} {
		template.Must(all.New(name).Parse(web.Text(name)))
	}
	return all
}()

// chartStyle holds the colours of the charts, the same as in the run's report.
const chartStyle = `
.chart { width: 100%; max-width: 860px; height: auto; font: 12px var(--font); }
.chart text { fill: var(--muted); }
.chart .axis { stroke: var(--rule); }
.chart .target { stroke: var(--orange); stroke-dasharray: 5 4; }
.chart .law { fill: none; stroke: var(--purple); stroke-width: 1.5; }
.chart .passes { fill: var(--blue); }
.chart .fails { stroke: var(--bad); stroke-width: 2; fill: none; }
.chart .unsteady { fill: var(--orange); }
.chart .interval { stroke: var(--muted); }
.chart .between { fill: none; stroke: var(--blue); }
figure { margin: 0 0 16px; }
.says { white-space: normal; min-width: 16em; text-align: left; }`

// Frame holds what all pages share. A page is self-contained and runs no script.
type Frame struct {
	Title, Started, Policy string
	Style, Data            template.HTML
}

// NewFrame embeds the value as JSON under an id.
func NewFrame(title string, started time.Time, id string, value any) (Frame, error) {
	data, err := json.Marshal(value) // escapes <, > and & so that it cannot end its element
	if err != nil {
		return Frame{}, err
	}
	style := web.Style() + web.Text("report/page.css") + chartStyle
	sum := sha256.Sum256([]byte(style))
	return Frame{
		title, started.Format(time.RFC3339), "default-src 'none'; style-src 'sha256-" +
			base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'",
		template.HTML("<style>" + style + "</style>"),
		template.HTML(`<script type="application/json" id="` + id + `">` + string(data) + `</script>`),
	}, nil
}

// drawn is a search prepared for the page.
type drawn struct {
	Of            string // the configuration, if there are several
	Scores, Rates template.HTML
	Law           []string
	Rows          [][]string
}

func (l *Line) drawn() drawn {
	rows := l.rows()
	for i := range rows {
		rows[i] = append(append([]string{fmt.Sprint(i + 1)}, rows[i]...), l.Trials[i].Run)
	}
	return drawn{l.Plan.Configuration, l.scoreChart(), l.rateChart(), strings.Split(strings.TrimSpace(l.law()), "\n"),
		rows}
}

// HTML writes the search as one file.
func (l *Line) HTML(w io.Writer) error {
	f, err := NewFrame("Load line · "+l.Statement(), l.Started, "line", l)
	if err == nil {
		err = pages.ExecuteTemplate(w, searchPage, struct {
			Frame
			Line       *Line
			Void       string
			Confidence []string
			Search     drawn
			Conditions []string
		}{f, l, l.void(), l.confidence(), l.drawn(), l.conditionLines()})
	}
	return reportProblem(err)
}

func reportProblem(err error) error {
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

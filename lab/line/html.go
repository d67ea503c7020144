package line

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"plimsoll/web"
)

// Pages, and the templates that they share.
const (
	searchPage     = "line/page.html.tmpl"
	comparisonPage = "line/comparison.html.tmpl"
	partsOfPages   = "line/parts.html.tmpl"
)

var pages = web.Templates(partsOfPages, searchPage, comparisonPage)

// pageSearch is a search prepared for the page.
type pageSearch struct {
	Scores, Rates template.HTML
	Law           []string
	Trials        web.Table
}

func (l *Line) forPage() pageSearch {
	t := l.table()
	t.Title, t.Label = "In the order in which they ran; each is stored as a run", "Table of trials"
	if l.Plan.Replay != nil {
		t.Title = "In the order in which they ran"
	}
	if l.Plan.Configuration != "" {
		t.Label += " of " + l.Plan.Configuration
	}
	t.Columns = append(t.Columns, "run")
	for i := range t.Rows {
		t.Rows[i] = append(t.Rows[i], l.Trials[i].Run)
	}
	return pageSearch{l.scoreChart(), l.rateChart(), strings.Split(strings.TrimSpace(l.law()), "\n"), t}
}

// HTML writes the search as one file.
func (l *Line) HTML(w io.Writer) error {
	f, err := web.NewFrame("Load line · "+l.Statement(), l.Started, "line", l, web.ChartStyle())
	if err == nil {
		err = pages.ExecuteTemplate(w, searchPage, struct {
			web.Frame
			Line       *Line
			Void       string
			Details    []string
			Search     pageSearch
			Conditions []string
		}{f, l, l.voidText(), l.details(), l.forPage(), l.conditionLines()})
	}
	return reportProblem(err)
}

func reportProblem(err error) error {
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

package diagnose

import (
	"fmt"
	"io"

	"plimsoll/web"
)

const htmlPage = "diagnose/page.html.tmpl"

var pages = web.Templates(htmlPage)

// pageStyle is added to what all pages share.
const pageStyle = `
.says { white-space: normal; min-width: 16em; text-align: left; }
pre { overflow-x: auto; }`

// HTML writes the diagnosis as one self-contained file, which runs no script. Foreign text, such as statements, is
// escaped for its place in the page.
func (d *Diagnosis) HTML(w io.Writer) error {
	f, err := web.NewFrame("Diagnosis · "+d.Server.Database, d.Started, "diagnosis", d,
		web.Style()+web.Text("report/page.css")+pageStyle)
	if err == nil {
		err = pages.ExecuteTemplate(w, htmlPage, struct {
			web.Frame
			D          *Diagnosis
			Says       string
			Ledger     web.Table
			Statements []statementView
			Plans      []planView
			Clients    []string
		}{f, d, d.Statement(), d.table(), d.statementViews(), d.planViews(), d.clientLines()})
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// Statement is the answer in one sentence.
func (d *Diagnosis) Statement() string {
	for _, f := range d.Findings {
		if f.Level == Problem {
			return f.Title + ": " + f.PriceText() + " of the time"
		}
	}
	if d.Ledger.TotalS == 0 {
		return "No session was active"
	}
	return "No problem was found"
}

// table of the ledger: each line, and the events below it that a terminal shows, too.
func (d *Diagnosis) table() web.Table {
	t := web.Table{Title: "Time of sessions that are active or within a transaction; the parts add up to it",
		Label: "Table of where the time goes", Columns: []string{"part", "time", "share", "most of all"}, Names: true,
		Says: true}
	add := func(name string, s, share float64, more string) {
		t.Rows = append(t.Rows, []string{name, fmt.Sprintf("%.1f s", s), fmt.Sprintf("%.1f %%", 100*share), more})
	}
	for _, line := range d.Ledger.Lines {
		add(line.Name, line.S, line.Share, "")
		for _, e := range line.Events {
			if e.Share >= noteFrom.Value/2 {
				add("· "+e.Name, e.S, e.Share, e.Timed.text()+belowEvent(e))
			}
		}
	}
	return t
}

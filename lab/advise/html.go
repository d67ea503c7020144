package advise

import (
	"fmt"
	"io"

	"plimsoll/web"
)

const htmlPage = "advise/page.html.tmpl"

var pages = web.Templates(htmlPage)

// HTML writes the report as one self-contained file, which runs no script. Foreign text, such as names and statements,
// is escaped for its place in the page.
func (r *Report) HTML(w io.Writer) error {
	f, err := web.NewFrame("Advice · "+r.Server.Database, r.At, "advice", r, web.Style()+web.Text("report/page.css"))
	if err == nil {
		err = pages.ExecuteTemplate(w, htmlPage, struct {
			web.Frame
			R    *Report
			Says string
		}{f, r, r.Statement()})
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// Statement is the first advice in a sentence.
func (r *Report) Statement() string {
	if len(r.Advice) == 0 || r.Advice[0].Level == Note {
		return "No problem was found"
	}
	return r.Advice[0].Title
}

// PriceText is level and price in words.
func (a Advice) PriceText() string { return string(a.Level) + a.priceText() }

// GainText is the expected gain in words; empty: not known.
func (a Advice) GainText() string { return a.ExpectedGain.text() }

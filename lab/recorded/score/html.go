package score

import (
	"fmt"
	"io"

	"plimsoll/lab/load/apdex"
	"plimsoll/web"
)

const pageName = "score/page.html.tmpl"

var page = web.Templates(pageName)

// HTML writes the score as one page.
func (r *Result) HTML(w io.Writer) error {
	frame, err := web.NewFrame("Production · Apdex "+apdex.Text(r.Apdex), r.From, "score", r, web.ChartStyle())
	if err == nil {
		hours, operations := r.hourTable(), r.operationTable(len(r.Operations), whole)
		hours.Title, hours.Label = "", hours.Title
		operations.Title, operations.Label = "", operations.Title
		err = page.ExecuteTemplate(w, pageName, struct {
			web.Frame
			Says, Basis       string
			Hours, Operations web.Table
			Notes             []string
		}{frame, r.Says(), r.Basis(), hours, operations, r.Notes()})
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

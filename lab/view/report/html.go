package report

import (
	"fmt"
	"io"

	"plimsoll/lab/run/result"
	"plimsoll/web"
)

const name = "report/page.html.tmpl"

var page = web.Templates(name)

// HTML writes the report as one self-contained file. Foreign text is escaped for its place in the page, and the
// page's policy allows only the scripts written here and loads nothing.
func HTML(w io.Writer, r *result.Result) error {
	v := newView(r)
	title := fmt.Sprintf("Apdex %s %s · %s users · %s", v.Score, r.Band, v.Users, r.ID)
	if !r.Valid {
		title = "Not valid · " + title
	}
	var err error
	v.Frame, err = web.NewFrame(title, r.Started, "result", r,
		web.Text("vendor/uplot/uPlot.min.css")+"\n"+web.Style()+web.Text("report/page.css"),
		web.Script{Open: `<script>`, Text: web.Text("vendor/uplot/uPlot.iife.min.js")},
		web.Script{Open: `<script type="importmap">`, Text: web.ImportMap()},
		web.Script{Open: `<script type="module">`, Text: web.Text("report/page.js")})
	if err == nil {
		err = page.ExecuteTemplate(w, name, v)
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

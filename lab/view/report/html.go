package report

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"plimsoll/lab/run/result"
	"plimsoll/web"
)

var page = template.Must(template.New("report").Parse(web.Text("report/page.html.tmpl")))

// HTML writes the report as one self-contained file. Foreign text is escaped for its place in the page; besides, the
// page's policy allows only the scripts written here and loads nothing.
func HTML(w io.Writer, r *result.Result) error {
	data, err := json.Marshal(r) // escapes <, > and & so that it cannot end its element
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	v := newView(r)
	v.Data = template.HTML(`<script type="application/json" id="result">` + string(data) + `</script>`)
	v.inline()
	if err := page.Execute(w, v); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// inline puts style and scripts into the page, and their digests into its policy.
func (v *view) inline() {
	style := web.Text("vendor/uplot/uPlot.min.css") + "\n" + web.Style() + web.Text("report/page.css")
	scripts := []struct{ open, text string }{
		{`<script>`, web.Text("vendor/uplot/uPlot.iife.min.js")},
		{`<script type="importmap">`, web.ImportMap()},
		{`<script type="module">`, web.Text("report/page.js")},
	}
	var all strings.Builder
	policy := "default-src 'none'; style-src " + digest(style) + "; script-src data:"
	for _, s := range scripts {
		all.WriteString(s.open + s.text + "</script>\n")
		policy += " " + digest(s.text)
	}
	v.Style = template.HTML("<style>" + style + "</style>")
	v.Scripts = template.HTML(all.String())
	v.Policy = policy + "; base-uri 'none'; form-action 'none'"
}

// digest of an inline element, as a Content Security Policy names it.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

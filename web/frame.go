package web

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"strings"
	"time"
)

// Frame is what all pages that are a file of their own share. Such a page loads nothing; its policy names the digests
// of its style and scripts, so that nothing else runs.
type Frame struct {
	Title, Policy        string
	Started, StartedText string // for programs, and for readers
	Style, Data, Scripts template.HTML
}

// Script is an element of a page, with its opening tag.
type Script struct{ Open, Text string }

// NewFrame embeds a value as JSON under an id.
func NewFrame(title string, started time.Time, id string, value any, style string, scripts ...Script) (Frame, error) {
	data, err := json.Marshal(value) // escapes <, > and & so that it cannot end its element
	if err != nil {
		return Frame{}, err
	}
	policy := "default-src 'none'; style-src " + digest(style)
	if len(scripts) > 0 {
		policy += "; script-src data:"
	}
	var all strings.Builder
	for _, s := range scripts {
		all.WriteString(s.Open + s.Text + "</script>\n")
		policy += " " + digest(s.Text)
	}
	return Frame{
		Title: title, Started: started.Format(time.RFC3339), StartedText: started.Format("2 January 2006, 15:04 MST"),
		Policy: policy + "; base-uri 'none'; form-action 'none'",
		Style:  template.HTML("<style>" + style + "</style>"), Scripts: template.HTML(all.String()),
		Data: template.HTML(`<script type="application/json" id="` + id + `">` + string(data) + `</script>`),
	}, nil
}

// digest of an inline element, as a Content Security Policy names it.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// ChartStyle is the style of pages without scripts, whose charts are drawn in Go.
func ChartStyle() string { return Style() + Text("report/page.css") + Text("frame/chart.css") }

// Templates are pages, each under the name of its file, with the head that all of them have, and their tables.
func Templates(names ...string) *template.Template {
	all := template.Must(template.New("head").Parse(Text("frame/head.html.tmpl")))
	template.Must(all.New("table").Parse(Text("frame/table.html.tmpl")))
	for _, name := range names {
		template.Must(all.New(name).Parse(Text(name)))
	}
	return all
}

package diagnose

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"time"

	"plimsoll/web"
)

var page = template.Must(template.New("diagnose").Parse(web.Text("diagnose/page.html.tmpl")))

// pageStyle is beside what all pages share.
const pageStyle = `
.says { white-space: normal; min-width: 16em; text-align: left; }
pre { overflow-x: auto; }`

// HTML writes the diagnosis as one self-contained file, which runs no script. Foreign text, such as statements, is
// escaped for its place in the page.
func (d *Diagnosis) HTML(w io.Writer) error {
	data, err := json.Marshal(d) // escapes <, > and & so that it cannot end its element
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	style := web.Style() + web.Text("report/page.css") + pageStyle
	sum := sha256.Sum256([]byte(style))
	err = page.Execute(w, struct {
		D                            *Diagnosis
		Title, Says, Started, Policy string
		Style, Data                  template.HTML
		Rows                         [][]string
	}{
		d, "Diagnosis · " + d.Server.Database, d.says(), d.Started.Format(time.RFC3339),
		"default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; base-uri 'none'; form-action 'none'",
		template.HTML("<style>" + style + "</style>"),
		template.HTML(`<script type="application/json" id="diagnosis">` + string(data) + `</script>`), d.rows(),
	})
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// says the verdict in a sentence.
func (d *Diagnosis) says() string {
	for _, f := range d.Findings {
		if f.Level == Problem {
			return f.Title + ": " + f.PriceText() + " of the time"
		}
	}
	if d.Ledger.TotalS == 0 {
		return "No session was at work"
	}
	return "No problem was found"
}

// rows of the ledger: each line, and the events below it that a terminal shows, too.
func (d *Diagnosis) rows() (rows [][]string) {
	cells := func(name string, s, share float64, more string) []string {
		return []string{name, fmt.Sprintf("%.1f s", s), fmt.Sprintf("%.1f %%", 100*share), more}
	}
	for _, line := range d.Ledger.Lines {
		rows = append(rows, cells(line.Name, line.S, line.Share, ""))
		for _, e := range line.Events {
			if e.Share >= noteFrom.Value/2 {
				rows = append(rows, cells("· "+e.Name, e.S, e.Share, belowEvent(e)))
			}
		}
	}
	return rows
}

package advise

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

var page = template.Must(template.New("advise").Parse(web.Text("advise/page.html.tmpl")))

// HTML writes the report as one self-contained file, which runs no script. Foreign text, such as names and statements,
// is escaped for its place in the page.
func (r *Report) HTML(w io.Writer) error {
	data, err := json.Marshal(r) // escapes <, > and & so that it cannot end its element
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	style := web.Style() + web.Text("report/page.css")
	sum := sha256.Sum256([]byte(style))
	err = page.Execute(w, struct {
		R                       *Report
		Title, Says, At, Policy string
		Style, Data             template.HTML
	}{
		r, "Advice · " + r.Server.Database, r.says(), r.At.Format(time.RFC3339),
		"default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; base-uri 'none'; form-action 'none'",
		template.HTML("<style>" + style + "</style>"),
		template.HTML(`<script type="application/json" id="advice">` + string(data) + `</script>`),
	})
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// says the first advice in a sentence.
func (r *Report) says() string {
	if len(r.Advice) == 0 || r.Advice[0].Level == Note {
		return "No problem was found"
	}
	return r.Advice[0].Title
}

// PriceText is level and price in words.
func (a Advice) PriceText() string { return string(a.Level) + a.priceText() }

// GainText is the expected gain in words; empty: not known.
func (a Advice) GainText() string { return a.ExpectedGain.text() }

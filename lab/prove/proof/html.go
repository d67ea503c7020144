package proof

import (
	"fmt"
	"io"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/prove/claims"
	"plimsoll/web"
)

const name = "proof/page.html.tmpl"

var page = web.Templates(name)

// shown is a claim as the page has it.
type shown struct {
	State
	Verdict claims.Verdict
	Class   string
	Short   []string // marks in a word
	Columns []column
	Drawn   lines
	Strips  []group
	Earlier []string
}

// column is a finding.
type column struct {
	Found
	When, Took, Class string
	Marks             []string
}

// HTML writes the page of all claims.
func HTML(w io.Writer, all []State, here Here, at time.Time) error {
	var tally claims.Tally
	type report struct {
		Letter, Title string
		Claims        []shown
	}
	var reports []report
	for _, s := range all {
		if len(reports) == 0 || reports[len(reports)-1].Title != s.Report {
			reports = append(reports, report{Letter: string(rune('A' + len(reports))), Title: s.Report})
		}
		one := show(s)
		tally.Add(one.Verdict, s.Stale())
		last := &reports[len(reports)-1]
		last.Claims = append(last.Claims, one)
	}
	counts := tally.Texts()
	frame, err := web.NewFrame(fmt.Sprintf("Claims · %s", strings.Join(counts, ", ")), at, "proof", all,
		web.ChartStyle()+web.Text("proof/page.css"))
	if err == nil {
		err = page.ExecuteTemplate(w, name, struct {
			web.Frame
			Here    Here
			Memory  string
			Tally   []string
			Stale   int
			Reports []report
		}{frame, here, human.Bytes(here.Machine.MemoryBytes), counts,
			tally.Stale(), reports})
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func show(s State) shown {
	v := shown{State: s, Verdict: s.Verdict(), Class: class(s.Verdict())}
	if s.Stale() {
		v.Class = "stale"
	}
	for i, f := range s.Found {
		c := column{Found: f, When: f.At.UTC().Format("2006-01-02 15:04 MST"),
			Took:  human.Roughly(time.Duration(f.TookS * float64(time.Second))),
			Class: class(f.Verdict), Marks: marks(f)}
		if i == 0 {
			for _, mark := range c.Marks {
				word, _, _ := strings.Cut(mark, ":")
				v.Short = append(v.Short, word)
			}
		}
		v.Columns = append(v.Columns, c)
		if v.Drawn.SVG == "" && f.Chart != nil {
			v.Drawn = draw(f.Chart)
		}
	}
	if len(s.Found) > 0 {
		v.Strips = stripGroups(s.Found)
	}
	for _, f := range s.Older {
		text := fmt.Sprintf("%s, %s, %s: %s", f.At.UTC().Format("2006-01-02 15:04 MST"), f.Engine, f.Words(),
			f.Measured)
		if all := marks(f); len(all) > 0 {
			text += " (" + strings.Join(all, ", ") + ")"
		}
		v.Earlier = append(v.Earlier, text)
	}
	return v
}

// marks of a finding that does not hold as it is.
func marks(f Found) (all []string) {
	if f.Stale != "" {
		all = append(all, "stale: recorded with another "+f.Stale)
	}
	if f.Partial {
		all = append(all, "stopped early")
	}
	return all
}

// class of a verdict in the style sheet.
func class(v claims.Verdict) string { return strings.ReplaceAll(string(v), " ", "-") }

// ClassOf an engine's own verdict, for the page.
func (c column) ClassOf(v claims.Verdict) string { return class(v) }

// WordsOf an engine's own verdict, for the page.
func (c column) WordsOf(e claims.EngineVerdict) string { return e.Verdict.Words(e.Answers) }

package rehearsal

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/trace"
)

const (
	linesShown = 12  // of a body
	lineShown  = 200 // characters of a line
)

// Text of a report: what was sent begins with >, what came back with <, what was set with =, what is wrong with !.
func (r *Report) Text(w io.Writer) error {
	p := &printer{}
	fmt.Fprintf(p, "scenario %s (%s): user %d, each operation once\n", r.Scenario, r.Digest, r.User)
	if r.Login != nil {
		p.part(*r.Login)
	}
	for _, one := range r.Operations {
		p.part(one)
	}
	if r.LeftOut > 0 {
		fmt.Fprintf(p, "\nleft out: %s of the application itself; 'plimsoll run' does them\n",
			human.Count(r.LeftOut, "operation"))
	}
	_, err := io.WriteString(w, p.String())
	return err
}

type printer struct{ strings.Builder }

func (p *printer) part(one Part) {
	verdict := one.Outcome
	switch {
	case !one.valid():
		verdict = strings.ToUpper(verdict)
	case one.Outcome == tally.Refused.String():
		verdict = "refused, a valid answer"
	}
	fmt.Fprintf(p, "\n%s: %s in %s ms%s\n", one.ID, verdict, human.Millis(one.MS), one.against())
	for _, e := range one.Events {
		switch {
		case e.Request != nil:
			p.request(*e.Request)
		case e.Statement != nil:
			p.statement(*e.Statement)
		}
		for _, v := range e.Sets {
			p.line("=", v.Name+" = "+v.Value)
		}
	}
	if one.Error != "" {
		p.line("!", one.Error)
	}
}

// against T: what the time means for Apdex.
func (p Part) against() string {
	switch t := p.TargetMS; {
	case t == 0 || !p.valid():
		return ""
	case p.MS <= t:
		return fmt.Sprintf(", within T of %s ms", human.Millis(t))
	case p.MS <= 4*t:
		return fmt.Sprintf(", above T of %s ms: tolerated", human.Millis(t))
	default:
		return fmt.Sprintf(", above 4 T of %s ms: frustrated", human.Millis(t))
	}
}

func (p *printer) request(r trace.Request) {
	p.line(">", r.Method+" "+r.URL)
	p.headers(">", r.Headers)
	p.body(">", r.Body, r.Bytes)
	if r.Answer == nil {
		p.line("!", r.Error)
		return
	}
	p.line("<", fmt.Sprintf("%d %s in %s ms, %s", r.Answer.Status, http.StatusText(r.Answer.Status),
		human.Millis(r.MS), human.Bytes(r.Answer.Bytes)))
	p.headers("<", r.Answer.Headers)
	p.body("<", r.Answer.Body, r.Answer.Bytes)
}

func (p *printer) headers(sign string, all http.Header) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, value := range all[name] {
			p.line(sign, name+": "+value)
		}
	}
}

// body shows its beginning.
func (p *printer) body(sign, text string, size int64) {
	if text == "" {
		return
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for _, line := range lines[:min(linesShown, len(lines))] {
		p.line(sign, line)
	}
	if len(lines) > linesShown || size > trace.BodyKept {
		p.line(sign, fmt.Sprintf("… %s in all", human.Bytes(size)))
	}
}

func (p *printer) statement(s trace.Statement) {
	for _, line := range strings.Split(strings.TrimSpace(s.SQL), "\n") {
		p.line(">", line)
	}
	for i, one := range s.Parameters {
		p.line(">", fmt.Sprintf("  $%d = :%s = %s", i+1, one.Name, orNull(one.Value)))
	}
	for _, one := range s.Results {
		p.result(one, s.MS)
	}
	if s.Error != "" {
		p.line("!", s.Error)
	}
}

func (p *printer) result(r trace.Result, ms float64) {
	p.line("<", fmt.Sprintf("%s, %s in %s ms", r.Command, human.Count(r.Rows, "row"), human.Millis(ms)))
	for _, row := range r.Values {
		var cells []string
		for i, value := range row {
			cells = append(cells, r.Columns[i]+" = "+orNull(value))
		}
		p.line("<", "  "+strings.Join(cells, ", "))
	}
	if rest := r.Rows - int64(len(r.Values)); len(r.Values) > 0 && rest > 0 {
		p.line("<", fmt.Sprintf("  … %s more", human.Count(rest, "row")))
	}
}

func orNull(value *string) string {
	return human.Known(value, "NULL", func(v string) string { return v })
}

// line with its sign, cut where it is long.
func (p *printer) line(sign, text string) {
	if runes := []rune(text); len(runes) > lineShown {
		text = string(runes[:lineShown]) + " …"
	}
	fmt.Fprintf(p, "  %s %s\n", sign, human.PlainLine(text))
}

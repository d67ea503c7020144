package conformance

import (
	"fmt"
	"io"
	"strings"
)

// Text writes the protocol for a terminal: a line for each step, and more where it did not end as expected.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\nCheck for a 1C server: %s at %s, role %s  %s\n\n", r.Server, r.Host, r.Role,
		r.At.Format("2006-01-02 15:04:05 MST"))
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "%-7s %-26s %s\n", s.Outcome, s.Name, s.Statement)
		line := func(name, text string) {
			if text != "" {
				fmt.Fprintf(&b, "        %-26s %-9s%s\n", "", name, text)
			}
		}
		if s.Outcome == OK {
			line("answer", s.Said)
			continue
		}
		line("expected", s.Expected)
		line("answer", s.Said)
		line("cure", s.Cure)
	}
	fmt.Fprintf(&b, "\n%d steps: %d ok, %d failed, %d notes, %d not played. Database %s is dropped.\n", len(r.Steps),
		r.OK, r.Failed, r.Notes, r.Blocked, r.Database)
	_, err := io.WriteString(w, b.String())
	return err
}

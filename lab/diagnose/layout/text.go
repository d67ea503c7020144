package layout

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"plimsoll/ground/human"
)

func duration(ns float64) string { return human.Took(time.Duration(ns)) }

// Text for a terminal.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Topology of %s, taken %s in %.1f s", cmp.Or(r.Machine.CPU, "this machine"),
		r.Taken.Format(time.DateTime), r.TookS)
	if r.Root != "/" {
		fmt.Fprintf(&b, " from the files below %s", r.Root)
	}
	b.WriteString("\n\n")
	for _, i := range r.Items {
		fmt.Fprintf(&b, "%-12s  %-22s %s\n", i.Verdict, i.Name, i.Shows)
		for _, reason := range i.Reasons {
			fmt.Fprintf(&b, "%38s %s\n", "because", reason)
		}
	}
	if len(r.Unavailable) > 0 {
		b.WriteString("\nUNAVAILABLE\n")
		for _, m := range r.Unavailable {
			fmt.Fprintf(&b, "  %s: %s\n", m.Name, m.Why)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

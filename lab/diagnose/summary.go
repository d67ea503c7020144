package diagnose

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/ground/human"
)

// What of a diagnosis fits on one screen.
const (
	summaryWidth    = 100
	summaryFindings = 3
	summaryLedger   = 5
)

// Summary writes what matters of a diagnosis on one screen: what takes the time and what to do, where the time goes,
// and what is not the problem. Text has the rest.
func (d *Diagnosis) Summary(w io.Writer) error {
	var b strings.Builder
	d.headline(&b)
	for i, f := range d.Findings[:min(summaryFindings, len(d.Findings))] {
		b.WriteString(human.Hanging(fmt.Sprintf("%3d. %s  ", i+1, f.PriceText()), fmt.Sprintf("%s  [%s]", f.Title,
			f.Level), summaryWidth, 2))
		if len(f.Evidence) > 0 {
			b.WriteString(human.Hanging("       seen  ", f.Evidence[0], summaryWidth, 1))
		}
		if len(f.Next) > 0 {
			b.WriteString(human.Hanging("       next  ", f.Next[0], summaryWidth, 1))
		}
	}
	if more := len(d.Findings) - summaryFindings; more > 0 {
		fmt.Fprintf(&b, "     and %s more\n", human.Count(more, "finding"))
	}
	d.mostTime(&b)
	if err := d.againstText(&b); err != nil {
		return err
	}
	if len(d.Healthy) > 0 {
		b.WriteString(human.Hanging("  not the problem: ", strings.Join(d.Healthy, "; "), summaryWidth, 3))
	}
	if n := d.disagree(); n > 0 {
		fmt.Fprintf(&b, "  %s of measurements that do not agree\n", human.Count(n, "pair"))
	}
	if n := len(d.Unavailable); n > 0 {
		fmt.Fprintf(&b, "  %s could not be measured\n", human.Count(n, "thing"))
	}
	b.WriteString("  evidence, statements, plans, locks and settings: --details\n")
	_, err := io.WriteString(w, human.Plain(b.String()))
	return err
}

// headline says how many causes there are, and of what.
func (d *Diagnosis) headline(b *strings.Builder) {
	b.WriteString("\n")
	switch {
	case d.Ledger.TotalS == 0:
		b.WriteString("  NOTHING TO DIAGNOSE: no session was active\n")
	case len(d.Findings) == 0:
		b.WriteString("  NO CAUSE of lost time was found\n")
	default:
		problems := 0
		for _, f := range d.Findings {
			if f.Level == Problem {
				problems++
			}
		}
		fmt.Fprintf(b, "  %s, %s, by price (share of the time of all active sessions)\n",
			strings.ToUpper(human.Count(problems, "problem")), human.Count(len(d.Findings)-problems, "note"))
	}
	fmt.Fprintf(b, "  PostgreSQL %s, database %s, watched for %s: %.2f active sessions on average, at most %d\n",
		d.Server.Version, d.Server.Database, human.Seconds(d.LastedS), d.Ledger.Sessions, d.Ledger.Most)
	if d.Stopped != "" {
		fmt.Fprintf(b, "  not complete: %s\n", d.Stopped)
	}
}

// mostTime lists the largest lines of the ledger.
func (d *Diagnosis) mostTime(b *strings.Builder) {
	lines := slices.SortedStableFunc(slices.Values(d.Ledger.Lines), func(x, y Line) int {
		return cmp.Compare(y.S, x.S)
	})
	var parts []string
	for _, l := range lines[:min(summaryLedger, len(lines))] {
		if l.S > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", l.Name, human.Percent(l.Share)))
		}
	}
	if len(parts) > 0 {
		b.WriteString(human.Hanging("  the time goes to: ", strings.Join(parts, ", "), summaryWidth, 2))
	}
}

// disagree counts the contradictions that were found.
func (d *Diagnosis) disagree() (n int) {
	for _, c := range d.Contradictions {
		if c.Verdict == Contradicts {
			n++
		}
	}
	return n
}

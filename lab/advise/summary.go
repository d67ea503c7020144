package advise

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/ground/human"
)

// What of a report fits on one screen.
const (
	summaryWidth  = 100
	summaryAdvice = 8
)

// Summary writes what to do on one screen, the most valuable first. Text has evidence, mechanism and the way back.
func (r *Report) Summary(w io.Writer) error {
	var b strings.Builder
	count := map[Level]int{}
	for _, a := range r.Advice {
		count[a.Level]++
	}
	b.WriteString("\n")
	if len(r.Advice) == 0 {
		b.WriteString("  NOTHING TO CHANGE: nothing that was examined needs it\n")
	} else {
		fmt.Fprintf(&b, "  %d HARMFUL, %s, %s\n", count[Harmful], strings.ToUpper(human.Count(count[Problem],
			"problem")), human.Count(count[Note], "note"))
	}
	fmt.Fprintf(&b, "  PostgreSQL %s, database %s%s\n", r.Server.Version, r.Server.Database, r.Server.machine())
	if r.Diagnosis != "" {
		b.WriteString(human.Hanging("  prices: ", r.Diagnosis, summaryWidth, 1))
	}
	for i, a := range r.Advice[:min(summaryAdvice, len(r.Advice))] {
		first := fmt.Sprintf("%3d. [%s%s]  ", i+1, a.Level, a.priceText())
		b.WriteString(human.Hanging(first, a.Title, summaryWidth, 1))
		do := "for a person to decide"
		if len(a.Do) > 0 {
			do = a.Do[0]
		}
		b.WriteString(human.Hanging("       "+a.ID+"  ", do, summaryWidth, 1))
	}
	if more := len(r.Advice) - summaryAdvice; more > 0 {
		fmt.Fprintf(&b, "     and %d more\n", more)
	}
	if n := len(r.Healthy); n > 0 {
		fmt.Fprintf(&b, "  nothing to do in %s\n", human.Count(n, "other matter"))
	}
	if n := len(r.Unavailable); n > 0 {
		fmt.Fprintf(&b, "  %s could not be examined\n", human.Count(n, "thing"))
	}
	b.WriteString("  evidence, mechanism, proof and the way back: --details\n")
	_, err := io.WriteString(w, human.Plain(b.String()))
	return err
}

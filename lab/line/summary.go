package line

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/ground/human"
)

// What of a search fits on one screen.
const (
	summaryWidth    = 100
	summaryEvidence = 3
)

// Summary writes what matters of a search on one screen: the answer, what it rests on, and what limits the system. Text
// has the trials and the conditions.
func (l *Line) Summary(w io.Writer) error {
	var b strings.Builder
	first := fmt.Sprintf("  LINE at Apdex %g: ", l.Plan.Target)
	b.WriteString("\n" + human.Hanging(first, l.Statement(), summaryWidth, 3))
	for _, line := range l.details() {
		b.WriteString(human.Hanging("  ", line, summaryWidth, 2))
	}
	if l.Limit != nil {
		b.WriteString(human.Hanging("  limited by: ", l.Limit.Resource, summaryWidth, 2))
		for _, line := range l.Limit.Evidence[:min(summaryEvidence, len(l.Limit.Evidence))] {
			b.WriteString(human.Hanging("    ", line, summaryWidth, 1))
		}
	}
	if void := l.voidText(); void != "" {
		b.WriteString(human.Hanging("  ", void, summaryWidth, 2))
	}
	if !l.Complete {
		fmt.Fprintf(&b, "  not complete: stopped (%s) after %s\n", l.StoppedBy(), human.Count(len(l.Trials), "trial"))
	}
	for _, line := range l.systemLines() {
		b.WriteString(human.Hanging("  ", line, summaryWidth, 1))
	}
	fmt.Fprintf(&b, "  search %s; %s%s and all conditions: --details\n", l.ID, human.Count(len(l.Trials), "trial"),
		tried(l.Trials))
	_, err := io.WriteString(w, human.Plain(b.String()))
	return err
}

// tried are the numbers of users of the trials.
func tried(trials []Trial) string {
	if len(trials) == 0 {
		return ""
	}
	all := numbers(trials)
	return fmt.Sprintf(" of %s to %s users", human.Thousands(slices.Min(all)), human.Thousands(slices.Max(all)))
}

// Summary writes what matters of several lines on one screen. Text has the evidence for each.
func (c *Comparison) Summary(w io.Writer) error {
	var b strings.Builder
	first := c.Lines[0].Line
	b.WriteString("\n" + human.Hanging("  LINES: ", c.Headline, summaryWidth, 4))
	fmt.Fprintf(&b, "  at Apdex %g, think time %s, from %s in turns\n", first.Plan.Target,
		thinkText(first.Plan.ThinkS), human.Count(c.Trials(), "trial"))
	if !c.Complete {
		fmt.Fprintf(&b, "  not complete: stopped (%s)\n", c.StoppedBy())
	}
	b.WriteString("\n")
	if err := c.table().Text(&b, "  "); err != nil {
		return err
	}
	for _, text := range []string{c.NothingFailed(), c.controlText()} {
		if text != "" {
			b.WriteString(human.Hanging("  ", text, summaryWidth, 2))
		}
	}
	fmt.Fprintf(&b, "\n  search %s; evidence and conditions of each: --details\n", c.ID)
	_, err := io.WriteString(w, human.Plain(b.String()))
	return err
}

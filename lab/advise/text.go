package advise

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/ground/human"
)

// Text writes the report for a terminal.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\nAdvice for PostgreSQL %s, database %s%s  %s\n", r.Server.Version, r.Server.Database,
		r.Server.machine(), r.At.Format("2006-01-02 15:04:05 MST"))
	if r.Diagnosis != "" {
		fmt.Fprintf(&b, "  prices: %s\n", r.Diagnosis)
	}
	if len(r.Advice) == 0 {
		b.WriteString("\n  none: nothing that was examined needs a change\n")
	}
	for i, a := range r.Advice {
		a.text(&b, i+1)
	}
	if len(r.Healthy) > 0 {
		b.WriteString("\nNOTHING TO DO\n")
		for _, line := range r.Healthy {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	if len(r.Unavailable) > 0 {
		b.WriteString("\nUNAVAILABLE\n")
		for _, u := range r.Unavailable {
			fmt.Fprintf(&b, "  %s: %s\n", u.Name, u.Why)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Server) machine() string {
	if s.MemoryBytes == nil {
		return ""
	}
	return ", machine with " + human.Bytes(float64(*s.MemoryBytes))
}

func (a Advice) text(b *strings.Builder, number int) {
	fmt.Fprintf(b, "\n%3d. %s  [%s%s]  %s\n", number, a.Title, a.Level, a.priceText(), a.ID)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(b, "       %-8s %s\n", name, text)
		}
	}
	for _, e := range a.Evidence {
		line("seen", e)
	}
	line("why", a.Mechanism)
	line("memory", a.Memory)
	line("gain", a.ExpectedGain.text())
	for _, d := range a.Do {
		line("do", d)
	}
	line("prove", a.Prove)
	line("revert", a.Revert)
}

func (a Advice) priceText() string {
	if a.Price == nil {
		return ""
	}
	return ", " + human.Share(*a.Price) + " of the time"
}

func (g *Range) text() string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf("%s to %s of the time, unless another wait takes its place", human.Share(g.Low),
		human.Share(g.High))
}

package diagnose

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"plimsoll/ground/human"
)

// Text writes the diagnosis for a terminal: what to do first, then where the time goes, then the rest.
func (d *Diagnosis) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\nDiagnosis of PostgreSQL %s, database %s  %s, %.0f s\n", d.Server.Version, d.Server.Database,
		d.Started.Format("2006-01-02 15:04:05 MST"), d.LastedS)
	if d.Stopped != "" {
		fmt.Fprintf(&b, "  not complete: %s\n", d.Stopped)
	}
	fmt.Fprintf(&b, "  %.2f active sessions on average, at most %d; %d of %d connections in use\n", d.Ledger.Sessions,
		d.Ledger.Most, d.Server.Sessions, d.Server.SessionsMax)
	d.findingsText(&b)
	if err := d.ledgerText(&b); err != nil {
		return err
	}
	if err := d.againstText(&b); err != nil {
		return err
	}
	d.statementsText(&b)
	d.plansText(&b)
	d.clientsText(&b)
	d.storiesText(&b)
	d.contradictionsText(&b)
	if err := d.hostText(&b); err != nil {
		return err
	}
	d.backgroundText(&b)
	d.settingsText(&b)
	d.restText(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (d *Diagnosis) findingsText(b *strings.Builder) {
	b.WriteString("\nFINDINGS, by price (share of the time of all active sessions)\n")
	if len(d.Findings) == 0 {
		b.WriteString("  none\n")
	}
	for i, f := range d.Findings {
		fmt.Fprintf(b, "\n%3d. %s  %s  [%s]\n", i+1, f.PriceText(), f.Title, f.Level)
		for _, line := range f.Evidence {
			fmt.Fprintf(b, "       seen      %s\n", line)
		}
		if culprit := f.Who(); culprit != "" {
			fmt.Fprintf(b, "       who       %s\n", culprit)
		}
		fmt.Fprintf(b, "       why       %s\n", f.Mechanism)
		for _, line := range f.Excluded {
			fmt.Fprintf(b, "       not       %s\n", line)
		}
		if f.Gain != nil {
			fmt.Fprintf(b, "       gain      %.0f to %.0f %% of the time, unless another wait takes its place\n",
				100*f.Gain.Low, 100*f.Gain.High)
		}
		for _, line := range f.Next {
			fmt.Fprintf(b, "       next      %s\n", line)
		}
	}
	if len(d.Healthy) > 0 {
		b.WriteString("\nNOT THE PROBLEM\n")
		for _, line := range d.Healthy {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
}

// PriceText is the price in words.
func (f Finding) PriceText() string {
	if f.Price == nil {
		return "price not known"
	}
	return human.Percent(*f.Price)
}

func (d *Diagnosis) ledgerText(b *strings.Builder) error {
	fmt.Fprintf(b, "\nWHERE THE TIME GOES: %.1f s of sessions that are active or within a "+
		"transaction\n", d.Ledger.TotalS)
	if d.Ledger.TotalS == 0 {
		b.WriteString("  no session was active\n")
		return nil
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, l := range d.Ledger.Lines {
		fmt.Fprintf(t, "  %s\t%5.1f %%\t%.1f s\n", l.Name, 100*l.Share, l.S)
		for _, e := range l.Events {
			if e.Share < noteFrom.Value/2 {
				continue
			}
			fmt.Fprintf(t, "    %s\t%5.1f %%\t%.1f s\t%s\n", e.Name, 100*e.Share, e.S, e.Timed.text()+belowEvent(e))
		}
	}
	fmt.Fprintf(t, "  sum\t%5.1f %%\t%.1f s\n", 100*d.Ledger.sum(), d.Ledger.TotalS)
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(b, "  running sessions are %s\n", d.Ledger.Processor)
	if d.Ledger.UnobservedS > 0 {
		fmt.Fprintf(b, "  %.1f s were not observed (no sample came through)\n", d.Ledger.UnobservedS)
	}
	return nil
}

// belowEvent is the object and the statement that an event costs most.
func belowEvent(e Event) string {
	var texts []string
	if len(e.Objects) > 0 {
		texts = append(texts, e.Objects[0].Name)
	}
	if len(e.Operations) > 0 {
		texts = append(texts, e.Operations[0].Name)
	}
	if len(e.Statements) > 0 {
		texts = append(texts, fmt.Sprintf("%s (%s)", e.Statements[0].Name, human.Percent(e.Statements[0].Share)))
	}
	return strings.Join(texts, "; ")
}

// sum of the shares: 1, whatever was measured.
func (l Ledger) sum() (all float64) {
	for _, line := range l.Lines {
		all += line.Share
	}
	return all
}

// storiesShown in a report.
const storiesShown = 3

func (d *Diagnosis) storiesText(b *strings.Builder) {
	if len(d.Stories) == 0 {
		return
	}
	b.WriteString("\nWHO BLOCKS WHOM\n")
	for _, s := range d.Stories[:min(storiesShown, len(d.Stories))] {
		fmt.Fprintf(b, "  %.2f minutes lost (%s) by up to %d sessions, one waited %.1f s, seen from %.0f s to %.0f s, "+
			"for %s\n", s.LostS/60, human.Percent(s.Share), s.Victims, s.LongS, s.FromS, s.ToS, s.Object)
		for _, line := range s.Tree {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
	if more := len(d.Stories) - storiesShown; more > 0 {
		fmt.Fprintf(b, "  %d more in --json\n", more)
	}
}

func (d *Diagnosis) contradictionsText(b *strings.Builder) {
	b.WriteString("\nDO THE MEASUREMENTS AGREE?\n")
	for _, c := range d.Contradictions {
		fmt.Fprintf(b, "  %-13s  %s: %s\n", c.Verdict, c.Name, c.Says)
		if c.Verdict != Contradicts {
			continue
		}
		for _, f := range c.Figures {
			fmt.Fprintf(b, "                   %s: %s\n", f.Name, f.Value)
		}
		fmt.Fprintf(b, "                 not       %s\n                 next      %s\n", c.Excluded, c.Next)
	}
}

func (d *Diagnosis) hostText(b *strings.Builder) error {
	if d.Host == nil {
		return nil
	}
	h := d.Host
	fmt.Fprintf(b, "\nTHE SERVER'S MACHINE\n  %d cores, busy %s (%s); database %s, others %s%s\n", h.Cores,
		share(h.Busy), percentages(h.PerCore), share(h.Database), share(h.Others), inParentheses(h.Who == nil,
			neighbourNames(h.Who)))
	fmt.Fprintf(b, "  steal %s, throttled %s; some process waited for a processor %s of the time, for memory %s, "+
		"for a disk %s\n", share(h.Steal), share(h.Throttled), share(h.CPUPressure), share(h.MemoryPressure),
		share(h.IOPressure))
	const disksShown = 3
	for _, disk := range h.Disks[:min(disksShown, len(h.Disks))] {
		fmt.Fprintf(b, "  disk %s: %.0f transfers/s, read %s, write %s, %.2f under way, busy "+
			"%s\n", disk.Name, disk.PerS,
			text(disk.ReadMS, "%.2f ms"), text(disk.WriteMS, "%.2f ms"), disk.Queue, human.Percent(disk.Busy))
	}
	return nil
}

func inParentheses(none bool, inner string) string {
	if none {
		return ""
	}
	return " (" + inner + ")"
}

func share(x *float64) string { return human.Known(x, notMeasured, human.Percent) }

func percentages(all []float64) string {
	var texts []string
	for _, x := range all {
		texts = append(texts, fmt.Sprintf("%.0f", 100*x))
	}
	const shown = 16
	if len(texts) > shown {
		texts = append(texts[:shown], "…")
	}
	return "each: " + nonEmpty(strings.Join(texts, " "), "not measured")
}

func (d *Diagnosis) restText(b *strings.Builder) {
	b.WriteString("\nRATES PER SECOND\n ")
	for _, r := range d.Rates {
		if r.PerS != nil {
			fmt.Fprintf(b, " %s %.4g;", r.Name, *r.PerS)
		}
	}
	b.WriteString("\n")
	if len(d.Unavailable) > 0 {
		b.WriteString("\nUNAVAILABLE\n")
		for _, s := range d.Unavailable {
			fmt.Fprintf(b, "  %s: %s\n", s.Name, s.Why)
		}
	}
	slowed := ""
	if d.Cost.Slowed {
		slowed = ", fewer than requested because samples took long"
	}
	fmt.Fprintf(b, "\nCost of this diagnosis: %d samples, %.1f a second%s; its queries took %.2f s (%.1f %% of the "+
		"time), the server's processes for it %s of processor time, this program %s.\n", d.Cost.Samples, d.Cost.PerS,
		slowed, d.Cost.QueriesS, 100*d.Cost.Share, text(d.Cost.BackendsS, "%.2f s"), text(d.Cost.OwnS, "%.2f s"))
}

package report

import (
	"fmt"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/run/result"
)

// A terminal shows only the larger lines of the ledger and the first findings; the JSON has all.
const (
	ledgerShown   = 0.01
	findingsShown = 5
)

// diagnosed says where the operations' time went, and what took it.
func diagnosed(b *strings.Builder, r *result.Result) error {
	d := r.Diagnosis
	switch {
	case d == nil:
		return nil
	case d.Samples == 0:
		b.WriteString(Wrap(d.Unavailable, "  where the time goes: unavailable: ", "    ") + "\n")
		return nil
	case len(d.Ledger) == 0:
		return nil
	}
	b.WriteString("\n")
	b.WriteString(Wrap(diagnosisNote(d), "  where the time of operations goes: ", "    "))
	var t table
	for _, line := range d.Ledger {
		if line.Share >= ledgerShown {
			t.add(line.Name, human.Seconds(line.S), human.Percent1(line.Share))
		}
	}
	if err := t.write(b); err != nil {
		return err
	}
	for _, f := range d.Findings[:min(findingsShown, len(d.Findings))] {
		b.WriteString(Wrap(findingText(f), "  "+f.Level+": ", "    "))
	}
	if len(d.Findings) == 0 {
		b.WriteString("  no cause of lost time was found\n")
	}
	return nil
}

func diagnosisNote(d *result.Diagnosis) string {
	return fmt.Sprintf("%s in all; %d samples of the database, %.1f a second, whose queries took %s of the time; %s "+
		"of its sessions' time is attributed to operations", human.Seconds(d.OperationsS), d.Samples, d.PerS,
		human.Percent1(d.Cost), human.Percent1(d.Attributed))
}

// findingText is a cause in one line: what it is, and its price.
func findingText(f result.TimeCause) string {
	text := f.Title + "; " + findingPrice(f)
	if len(f.Operations) > 0 {
		text += fmt.Sprintf("; mostly %s (%s of its time)", f.Operations[0].ID, human.Percent1(f.Operations[0].Share))
	}
	return text
}

func findingPrice(f result.TimeCause) string {
	if f.Price == nil {
		return "price not known"
	}
	text := human.Percent1(*f.Price) + " of the operations' time"
	if f.ApdexGain != nil {
		text += "; " + apdexGain(*f.ApdexGain)
	}
	return text
}

// apdexGain is how much the score would rise without the cause.
func apdexGain(g result.Gain) string {
	low, high := fmt.Sprintf("%.3f", g.Low), fmt.Sprintf("%.3f", g.High)
	switch {
	case high == "0.000":
		return "no measurable gain in Apdex without it"
	case low == "0.000":
		return "Apdex up to " + high + " higher without it"
	case low == high:
		return "Apdex " + high + " higher without it"
	}
	return "Apdex " + low + " to " + high + " higher without it"
}

// ledgerRow and findingRow are the page's.
type (
	ledgerRow  struct{ Name, Time, Share string }
	findingRow struct {
		Title, Level, Price string
		Evidence, Next      []string
	}
)

func (v *view) addDiagnosis(d *result.Diagnosis) {
	if d == nil || d.Samples == 0 {
		return
	}
	v.DiagnosisNote = diagnosisNote(d)
	for _, line := range d.Ledger {
		v.Ledger = append(v.Ledger, ledgerRow{line.Name, human.Seconds(line.S), human.Percent1(line.Share)})
	}
	for _, f := range d.Findings {
		v.Findings = append(v.Findings, findingRow{f.Title, f.Level, findingPrice(f), f.Evidence, f.Next})
	}
	v.HealthyAreas = d.Healthy
}

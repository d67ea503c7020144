package run

import (
	"plimsoll/lab/diagnose"
	"plimsoll/lab/run/live"
)

// liveWaits is how many events of each line a page shows.
const liveWaits = 3

// liveDiagnosis is a diagnosis under way, as the live picture shows it.
func liveDiagnosis(d *diagnose.Diagnosis) *live.Diagnosis {
	p := &live.Diagnosis{LastedS: d.LastedS, Samples: d.Ledger.Samples, All: ledgerOf("", d.Ledger),
		Operations: []live.Ledger{}, Findings: []live.Finding{}, Healthy: len(d.Healthy)}
	for _, o := range d.Operations {
		p.Operations = append(p.Operations, ledgerOf(o.ID, o.Ledger))
	}
	for _, f := range d.Findings {
		one := live.Finding{Name: f.Name, Title: f.Title, Level: string(f.Level), Price: f.Price, Why: f.Mechanism}
		if len(f.Evidence) > 0 {
			one.Seen = f.Evidence[0]
		}
		if len(f.Next) > 0 {
			one.Next = f.Next[0]
		}
		p.Findings = append(p.Findings, one)
	}
	return p
}

func ledgerOf(id string, l diagnose.Ledger) live.Ledger {
	all := live.Ledger{ID: id, TotalS: l.TotalS, Lines: []live.LedgerLine{}}
	for _, line := range l.Lines {
		one := live.LedgerLine{Class: line.Class, Name: line.Name, Share: line.Share}
		for _, e := range line.Events[:min(liveWaits, len(line.Events))] {
			one.Events = append(one.Events, live.LedgerEvent{Name: e.Name, Share: e.Share})
		}
		all.Lines = append(all.Lines, one)
	}
	return all
}

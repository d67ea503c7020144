package live

import (
	"cmp"
	"slices"
)

// Diagnosis is where the time of the database's sessions has gone since the steady state began, and what takes it.
type Diagnosis struct {
	LastedS    float64   `json:"lasted_s"`
	Samples    int       `json:"samples"`
	All        Ledger    `json:"all"`
	Operations []Ledger  `json:"operations"` // those that took most
	Findings   []Finding `json:"findings"`   // the costliest first
	Healthy    int       `json:"healthy"`    // areas that were looked at and are not the problem
}

// Ledger of one operation, or of all sessions: its lines add up to its time.
type Ledger struct {
	ID     string       `json:"id"`
	TotalS float64      `json:"total_s"`
	Lines  []LedgerLine `json:"lines"`
}

// LedgerLine is a class of waits, and its events that took most.
type LedgerLine struct {
	Class  string        `json:"class"`
	Name   string        `json:"name"`
	Share  float64       `json:"share"`
	Events []LedgerEvent `json:"events,omitempty"`
}

// LedgerEvent is a wait event.
type LedgerEvent struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"` // of the ledger's time
}

// Finding is a cause of lost time. Price is its share of the sessions' time; null: not known.
type Finding struct {
	Name  string   `json:"name"`
	Title string   `json:"title"`
	Level string   `json:"level"`
	Price *float64 `json:"price"`
	Why   string   `json:"why"`
	Seen  string   `json:"seen"`
	Next  string   `json:"next"`
}

// What is kept of a diagnosis: a page shows no more, and gets it every few seconds.
const (
	diagnosisOperations = 12
	diagnosisFindings   = 8
)

// SetDiagnosis sets what was found so far.
func (p *Picture) SetDiagnosis(d *Diagnosis) {
	slices.SortStableFunc(d.Operations, func(a, b Ledger) int { return cmp.Compare(b.TotalS, a.TotalS) })
	d.Operations = d.Operations[:min(diagnosisOperations, len(d.Operations))]
	d.Findings = d.Findings[:min(diagnosisFindings, len(d.Findings))]
	p.change(func() { p.diagnosis, p.diagnosed = d, p.next() })
}

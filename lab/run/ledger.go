package run

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"plimsoll/lab/diagnose"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/result"
)

// The remainder is not measured by itself: what answered operations took, without the rest.
const (
	ownName     = "the generator itself"
	outsideName = "application server and network (remainder)"
)

// lossesMost operations of a cause are named.
const lossesMost = 3

// diagnose puts the time of operations and that of the database's sessions together.
func (r *record) diagnose(all *result.Result) {
	if r.diagnosis == nil {
		return
	}
	found := r.diagnosis.found
	if found == nil || found.Ledger.Samples == 0 {
		all.Diagnosis = &result.Diagnosis{Unavailable: cmp.Or(r.diagnosis.err, errNoSteady).Error(),
			Ledger: []result.LedgerLine{}, Findings: []result.TimeCause{}, Healthy: []string{}}
		return
	}
	l := newLedgers(all.Operations, r.made.Tally, found)
	for i := range all.Operations {
		all.Operations[i].Ledger, all.Operations[i].Statements = l.linesOf(i), l.statementsOf(i)
	}
	all.Diagnosis = &result.Diagnosis{Samples: found.Ledger.Samples, PerS: found.Cost.PerS, Cost: found.Cost.Share,
		OperationsS: l.total, SessionsS: found.Ledger.TotalS, Attributed: found.Attributed, Ledger: l.sum(),
		Statements: l.statements(), Findings: l.causes(), Healthy: found.Healthy}
	if err := r.diagnosis.err; err != nil && !errors.Is(err, context.Canceled) && found.Stopped != "" &&
		!r.stoppedByUser && found.LastedS < found.AskedS/2 {
		all.Diagnosis.Unavailable = found.Stopped
	}
}

// ledgers of all operations of a run.
type ledgers struct {
	operations []result.Operation
	counted    []*tally.Operation
	database   []*diagnose.Operation // by operation; nil: none of its time was seen
	found      *diagnose.Diagnosis
	times      []float64 // seconds of answered operations
	total      float64
	known      bool // whom sessions served
}

func newLedgers(operations []result.Operation, counts *tally.Tally, found *diagnose.Diagnosis) *ledgers {
	l := &ledgers{operations: operations, counted: counts.Operations, found: found, known: len(found.Operations) > 0}
	for i, op := range operations {
		mean, _ := l.counted[i].Latency.Mean()
		l.times = append(l.times, mean.Seconds()*float64(l.counted[i].Latency.N()))
		l.total += l.times[i]
		var database *diagnose.Operation
		for j := range found.Operations {
			if found.Operations[j].ID == op.ID {
				database = &found.Operations[j]
			}
		}
		l.database = append(l.database, database)
	}
	return l
}

// linesOf are the ledger lines of one operation; nil if it is unknown which sessions served it.
func (l *ledgers) linesOf(i int) []result.LedgerLine {
	if l.times[i] <= 0 || !l.known {
		return nil
	}
	var lines []result.LedgerLine
	if database := l.database[i]; database != nil {
		lines = databaseLines(database.Ledger)
	}
	return whole(lines, l.counted[i].GeneratorWait.Sum.Seconds(), l.times[i])
}

func databaseLines(from diagnose.Ledger) (lines []result.LedgerLine) {
	for _, line := range from.Lines {
		name := "database: " + line.Name
		lines = append(lines, result.LedgerLine{Class: line.Class, Name: name, S: line.S})
	}
	return lines
}

// whole adds the generator's part and the remainder. Where samples say more than the operations took, since an
// operation that was sampled ended later or was not answered, the parts are of what was sampled.
func whole(lines []result.LedgerLine, own, total float64) []result.LedgerLine {
	sum := 0.0
	lines = append(lines, result.LedgerLine{Class: result.OfGenerator, Name: ownName, S: own})
	for _, line := range lines {
		sum += line.S
	}
	lines = slices.DeleteFunc(lines, func(line result.LedgerLine) bool { return line.S <= 0 })
	slices.SortStableFunc(lines, func(a, b result.LedgerLine) int { return cmp.Compare(b.S, a.S) })
	lines = append(lines, result.LedgerLine{Class: result.Outside, Name: outsideName, S: max(0, total-sum)})
	for i := range lines {
		lines[i].Share = lines[i].S / max(total, sum)
	}
	return lines
}

// sum of all operations. Without a timeline all sessions of the database count for them.
func (l *ledgers) sum() []result.LedgerLine {
	if l.total <= 0 {
		return []result.LedgerLine{}
	}
	var lines []result.LedgerLine
	add := func(more []result.LedgerLine) {
		for _, line := range more {
			i := slices.IndexFunc(lines, func(x result.LedgerLine) bool { return x.Class == line.Class })
			if i < 0 {
				lines = append(lines, line)
				continue
			}
			lines[i].S += line.S
		}
	}
	own := 0.0
	for i, operation := range l.database {
		own += l.counted[i].GeneratorWait.Sum.Seconds()
		if operation != nil {
			add(databaseLines(operation.Ledger))
		}
	}
	if !l.known {
		lines = databaseLines(l.found.Ledger)
	}
	return whole(lines, own, l.total)
}

// lost is the share of an operation's time that a share of its sessions' time is.
func (l *ledgers) lost(i int, price float64) float64 {
	switch {
	case l.times[i] <= 0:
		return 0
	case !l.known:
		return min(1, price*l.found.Ledger.TotalS/max(l.total, 1e-9))
	case l.database[i] == nil:
		return 0
	}
	sampled := l.database[i].Ledger.TotalS // of few operations more than they took
	return min(1, price*sampled/max(l.times[i], sampled))
}

// findingOf an operation; nil: it does not suffer.
func (l *ledgers) findingOf(i int, f *diagnose.Finding) *diagnose.Finding {
	if !l.known {
		return f
	}
	if l.database[i] == nil {
		return nil
	}
	for j := range l.database[i].Findings {
		if finding := &l.database[i].Findings[j]; finding.Name == f.Name {
			return finding
		}
	}
	return nil
}

// causes by price: those of the whole database, priced by what each operation loses.
func (l *ledgers) causes() []result.TimeCause {
	all := []result.TimeCause{}
	for j := range l.found.Findings {
		all = append(all, l.cause(&l.found.Findings[j]))
	}
	rank := func(c result.TimeCause) float64 { // that no reason was found stands behind those that were
		if c.Name == diagnose.NoReason {
			return -2
		}
		return priceOf(c)
	}
	slices.SortStableFunc(all, func(a, b result.TimeCause) int { return cmp.Compare(rank(b), rank(a)) })
	return all
}

func priceOf(c result.TimeCause) float64 {
	if c.Price == nil {
		return -1
	}
	return *c.Price
}

func (l *ledgers) cause(f *diagnose.Finding) result.TimeCause {
	c := result.TimeCause{Name: f.Name, Title: f.Title, Level: string(f.Level), Evidence: f.Evidence, Next: f.Next,
		Statements: f.Statements}
	if f.Price == nil || l.total <= 0 {
		return c
	}
	price, least, most := 0.0, 0.0, 0.0
	mean, low, high := make([]float64, len(l.times)), make([]float64, len(l.times)), make([]float64, len(l.times))
	for i := range l.operations {
		finding := l.findingOf(i, f)
		if finding == nil || finding.Price == nil {
			continue
		}
		mean[i] = l.lost(i, *finding.Price)
		low[i], high[i] = mean[i], mean[i]
		if finding.Gain != nil {
			low[i], high[i] = l.lost(i, finding.Gain.Low), l.lost(i, finding.Gain.High)
		}
		share := l.times[i] / l.total
		price, least, most = price+mean[i]*share, least+low[i]*share, most+high[i]*share
		if l.known && mean[i] > 0 {
			c.Operations = append(c.Operations, result.Loss{ID: l.operations[i].ID, S: mean[i] * l.times[i],
				Share: mean[i]})
		}
	}
	slices.SortStableFunc(c.Operations, func(a, b result.Loss) int { return cmp.Compare(b.S, a.S) })
	c.Operations = c.Operations[:min(lossesMost, len(c.Operations))]
	c.Price, c.PriceInterval = &price, &result.Range{Low: least, High: &most}
	if before, ok := l.score(make([]float64, len(l.times))); ok {
		lowest, _ := l.score(low)
		highest, _ := l.score(high)
		c.ApdexGain = &result.Gain{Low: max(0, lowest-before), High: max(0, highest-before)}
	}
	return c
}

// score if each answered operation were shorter by its share.
func (l *ledgers) score(shorter []float64) (float64, bool) {
	var all []apdex.Weighed
	for i, op := range l.operations {
		counted := l.counted[i]
		left := max(1e-3, 1-shorter[i])
		target := time.Duration(op.TargetMS * float64(time.Millisecond) / left)
		satisfied := counted.Latency.Below(target)
		tolerating := counted.Latency.Below(apdex.FrustrationFactor*target) - satisfied
		all = append(all, apdex.Weighed{Priority: op.Priority, Counts: apdex.Counts{Satisfied: satisfied,
			Tolerating: tolerating, Frustrated: counted.Apdex.N() - satisfied - tolerating}})
	}
	score, _, ok := apdex.Overall(all)
	return score, ok
}

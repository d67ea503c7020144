package compare

import (
	"fmt"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/lab/prove/compare/verdict"
)

// judgement about a further side. The metric that decides sees only what a system did, so a system must not win by what
// it leaves undone.
type judgement struct {
	verdict  verdict.Verdict
	headline verdict.Row // of the metric that decides
	because  string      // why the verdict is not that of the metric, for the statement
	settled  bool        // more pairs would not help
}

// judge each further side.
func (c *Comparison) judge(d data, alpha float64) []judgement {
	all := make([]judgement, len(d)-1)
	headlines, failed := c.rows(d, c.metric(d), alpha), c.rows(d, metricOf(failedShare, nil), alpha)
	c.shareError(d, headlines, failed)
	for i := range all {
		all[i] = judgement{verdict: headlines[i].Verdict, headline: headlines[i]}
		if c.Plan.Metric != failedShare {
			all[i].countFailures(failed[i])
		}
		if all[i].because == "" {
			all[i].countWork(c, d, i+1, alpha)
		}
		all[i].settled = all[i].settled || !undecided(all[i].verdict)
	}
	return all
}

// rows of one metric over all operations, one for each further side, corrected for their number.
func (c *Comparison) rows(d data, m Metric, alpha float64) []verdict.Row {
	rows := make([]verdict.Row, len(d)-1)
	for i := range rows {
		rows[i] = verdict.Of(d.series(0, "", m), d.series(i+1, "", m), c.rule(m, alpha))
	}
	verdict.Holm(pointers(rows))
	return rows
}

func pointers(rows []verdict.Row) (all []*verdict.Row) {
	for i := range rows {
		all = append(all, &rows[i])
	}
	return all
}

// shareError between the metric that decides and the failed share: either could call equal systems different. Where
// both find the same, neither has found it by chance (Y. Hochberg, 1988); else Holm corrects both.
func (c *Comparison) shareError(d data, headlines, failed []verdict.Row) {
	if c.Plan.Metric == failedShare || !d.mayFail(metricOf(failedShare, nil)) {
		return
	}
	h, f := slices.Clone(headlines), slices.Clone(failed)
	verdict.Holm(append(pointers(h), pointers(f)...))
	for i := range headlines {
		if same := headlines[i].Verdict == failed[i].Verdict && !undecided(failed[i].Verdict); !same {
			headlines[i], failed[i] = h[i], f[i]
		}
	}
}

// mayFail says whether the failed share can show a difference, so that its test takes a part of the error. Where no run
// failed in more than the margin, all are equal in it. Whose runs those are plays no part, or the error would grow.
func (d data) mayFail(failures Metric) bool {
	for i := range d {
		if slices.ContainsFunc(d.series(i, "", failures), func(v float64) bool { return v > failures.Amount }) {
			return true
		}
	}
	return false
}

// countFailures: the side that fails more often loses, however fast its other operations are.
func (j *judgement) countFailures(failed verdict.Row) {
	switch failed.Verdict {
	case verdict.Worse:
		j.verdict, j.because = verdict.Worse, fmt.Sprintf("%s of its operations failed, %s of those of A",
			human.Percent1(failed.Variant), human.Percent1(failed.Base))
	case verdict.Better:
		j.verdict, j.because = verdict.Better, fmt.Sprintf("%s of the operations of A failed, %s of its own",
			human.Percent1(failed.Base), human.Percent1(failed.Variant))
	case verdict.Inconclusive:
		if !undecided(j.verdict) {
			j.because = fmt.Sprintf("%s of its operations failed, %s of those of A, which may be chance",
				human.Percent1(failed.Variant), human.Percent1(failed.Base))
			j.verdict, j.headline.MorePairs = verdict.Inconclusive, failed.MorePairs
		}
	}
}

// work are the metrics in which a winner must not be worse.
var work = []struct{ metric, says string }{
	{refusedShare, "a control refused %[1]s of what %[2]s answered, %[3]s of what %[4]s answered"},
	{offMixShare, "%[1]s of the operations of %[2]s were outside the mix, %[3]s of those of %[4]s"},
	{throughput, "%[2]s answered %[1]s a second, %[4]s %[3]s"},
}

// countWork: systems that do not do the same work cannot be compared by how long it takes.
func (j *judgement) countWork(c *Comparison, d data, side int, alpha float64) {
	winner, loser, lost := side, 0, verdict.Worse
	switch j.verdict {
	case verdict.Better:
	case verdict.Worse:
		winner, loser, lost = 0, side, verdict.Better
	default:
		return
	}
	refuse := func(text string) { j.verdict, j.because, j.settled = verdict.Inconclusive, text, true }
	for _, w := range work {
		m := metricOf(w.metric, nil)
		if m.Name == c.Plan.Metric {
			continue
		}
		r := verdict.Of(d.series(0, "", m), d.series(side, "", m), c.rule(m, alpha))
		if r.Verdict != lost {
			continue
		}
		values := map[int]float64{0: r.Base, side: r.Variant}
		refuse(fmt.Sprintf(w.says, m.text(values[winner]), Letter(winner), m.text(values[loser]), Letter(loser)))
		return
	}
	if operation := d.leftOut(winner, loser); operation != "" {
		refuse(fmt.Sprintf("%s never did %s, which its mix asks for", Letter(winner), operation))
	}
}

// leftOut is an operation that one side never did although its mix has it, and the other did in at least half of its
// runs; empty: there is none.
func (d data) leftOut(side, other int) string {
	for _, operation := range d.operations() {
		planned := slices.ContainsFunc(d[side], func(r Replica) bool { return r.Figures[operation][weight] > 0 })
		done := func(r Replica) bool { return len(r.Figures[operation]) > 1 } // more than its weight
		if planned && !slices.ContainsFunc(d[side], done) {
			n := 0
			for _, r := range d[other] {
				if done(r) {
					n++
				}
			}
			if 2*n >= len(d[other]) && n > 0 {
				return operation
			}
		}
	}
	return ""
}

// metric that decides.
func (c *Comparison) metric(d data) Metric {
	var higher []string
	for _, side := range d {
		for _, r := range side {
			higher = append(higher, r.HigherBetter...)
		}
	}
	return metricOf(c.Plan.Metric, higher)
}

func (c *Comparison) rule(m Metric, alpha float64) verdict.Rule {
	r := verdict.Rule{Margin: c.Plan.Margin, HigherBetter: m.HigherBetter, Alpha: alpha}
	if m.Amount > 0 {
		r.Margin, r.Amount = m.Amount, true
	}
	return r
}

// decided is the first look at which every side was judged for good; 0: not yet.
func (c *Comparison) decided() int {
	rounds := c.dataOf(Load, 0).rounds()
	for _, look := range c.Plan.Looks {
		if look.Pairs > rounds {
			return 0
		}
		if !slices.ContainsFunc(c.judge(c.dataOf(Load, look.Pairs), look.Alpha), judgement.open) {
			return look.Pairs
		}
	}
	return 0
}

func (j judgement) open() bool { return !j.settled }

// open says whether more pairs could decide what is not decided.
func (c *Comparison) open() bool { return c.decided() == 0 }

func undecided(v verdict.Verdict) bool { return v == verdict.Inconclusive || v == verdict.TooFew }

// judged are the judgements that count: those of the look that decided, or of the last that was passed. A look in
// between would spend an error that the plan does not have. Before the first look every verdict is withheld.
func (c *Comparison) judged() (all []judgement, d data, alpha float64) {
	c.JudgedAfter = c.decided()
	if c.JudgedAfter == 0 {
		c.JudgedAfter = verdict.Passed(c.Plan.Looks, c.dataOf(Load, 0).rounds())
	}
	d = c.dataOf(Load, c.JudgedAfter)
	alpha = verdict.AlphaAt(c.Plan.Looks, d.rounds())
	all = c.judge(d, alpha)
	if c.JudgedAfter == 0 {
		for i := range all {
			all[i].headline.Withhold(c.Plan.Looks[0].Pairs - d.rounds())
			all[i].verdict, all[i].because = all[i].headline.Verdict, ""
		}
	}
	return all, d, alpha
}

// conclude computes the result from the runs.
func (c *Comparison) conclude() {
	all, d, alpha := c.judged()
	decided := c.decided()
	c.Findings = []Finding{}
	for i, j := range all {
		f := Finding{Side: Letter(i + 1), Name: c.Plan.Sides[i+1].Name, Verdict: j.verdict, Headline: j.headline,
			Because: j.because, Tables: c.tables(d, i+1, alpha), Waits: c.waits(d, i+1, alpha)}
		if c.JudgedAfter == 0 {
			f.withhold(c.Plan.Looks[0].Pairs - d.rounds())
		}
		if decided < c.Plan.Pairs {
			f.DecidedAfter = decided
		}
		if c.Plan.Control {
			f.AtOneUser = c.atOneUser(i+1, j.verdict)
		}
		c.Findings = append(c.Findings, f)
	}
	m := c.metric(d)
	c.Floor = nil
	if floor, known := verdict.Floor(d.series(0, "", m), m.Amount > 0, c.Plan.Seed); known {
		c.Floor = &floor
	}
	_, left := c.next()
	if c.Complete = !left; c.Complete {
		c.Stopped = ""
	}
}

// withhold the verdicts of all rows: the first look is so many pairs away.
func (f *Finding) withhold(pairs int) {
	for i := range f.Tables {
		for k := range f.Tables[i].Rows {
			f.Tables[i].Rows[k].Withhold(pairs)
		}
	}
	for i := range f.Waits {
		f.Waits[i].Withhold(pairs)
	}
}

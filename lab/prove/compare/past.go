package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/run/result"
	"plimsoll/lab/stats"
)

// PastSchema is the version of the JSON of a comparison with stored runs. Only names are added.
const PastSchema = "plimsoll.past/1"

// PastMarginDefault: runs of other days vary by more than those in turns.
const PastMarginDefault = 0.10

// Past compares new runs of a system with stored ones: has it become worse? The runs were not made in turns, so what
// changed on the machine in the meantime is not told from a change of the system; runs with other settings are refused,
// and the stored ones should come from many days.
type Past struct {
	Schema  string   `json:"schema"`
	Says    string   `json:"statement"`
	Metric  Metric   `json:"metric"` // that decides
	Margin  float64  `json:"margin"`
	Stored  []Dated  `json:"stored"`
	New     []Dated  `json:"new"`
	LeftOut []string `json:"left_out,omitempty"`
	// Sessions that the stored runs come from. BySession: sessions are compared, by the median of their runs.
	Sessions  int             `json:"sessions"`
	BySession bool            `json:"by_session,omitempty"`
	Verdict   verdict.Verdict `json:"verdict"`
	// Because says why it cannot be decided, or what decided instead of the metric.
	Because  string       `json:"because,omitempty"`
	Headline verdict.Past `json:"headline"`
	Failed   verdict.Past `json:"failed"` // the share of failed operations
	// Operations by the metric, each for itself corrected for their number; they do not decide.
	Operations []PastOperation `json:"operations"`
	// Differences in conditions for which the runs are not compared.
	Differences []string `json:"differences,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`

	groups [][]int // the sessions of the stored runs, by their places
}

// Dated is a run and when it was made.
type Dated struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started_at"`
}

// PastOperation is one key operation.
type PastOperation struct {
	Operation string `json:"operation"`
	verdict.Past
}

// OfPast compares new runs with stored ones by a metric.
func OfPast(stored, fresh []*result.Result, metric string, margin float64) *Past {
	p := &Past{Schema: PastSchema, Metric: metricOf(cmp.Or(metric, MetricDefault), nil), Margin: margin,
		Verdict: verdict.Inconclusive, Operations: []PastOperation{}}
	stored = p.usable(stored, fresh)
	p.Stored, p.New = dated(stored), dated(fresh)
	p.groups = sessions(stored)
	p.Sessions = len(p.groups)
	p.judge(stored, fresh)
	p.Says = p.statement()
	return p
}

// usable stored runs are valid ones, each once, that are not among the new ones.
func (p *Past) usable(stored, fresh []*result.Result) (all []*result.Result) {
	seen := map[string]bool{}
	for _, r := range fresh {
		seen[r.ID] = true
	}
	for _, r := range stored {
		switch {
		case seen[r.ID]:
			continue
		case !r.Valid:
			p.LeftOut = append(p.LeftOut, r.ID+": not valid")
		default:
			all = append(all, r)
		}
		seen[r.ID] = true
	}
	slices.SortStableFunc(all, func(a, b *result.Result) int { return a.Started.Compare(b.Started) })
	return all
}

func dated(runs []*result.Result) (all []Dated) {
	all = []Dated{}
	for _, r := range runs {
		all = append(all, Dated{r.ID, r.Started})
	}
	return all
}

func (p *Past) judge(stored, fresh []*result.Result) {
	undecided := func(format string, args ...any) { p.Because = fmt.Sprintf(format, args...) }
	for _, r := range fresh {
		if !r.Valid {
			undecided("run %s is not valid: %s", r.ID, strings.Join(r.InvalidReasons, "; "))
			return
		}
	}
	if len(stored) == 0 || len(fresh) == 0 {
		p.Verdict = verdict.TooFew
		undecided("there is no valid run in the baseline")
		return
	}
	if p.Differences = differences(stored, fresh); len(p.Differences) > 0 {
		undecided("the baseline was recorded with other settings: %s", strings.Join(p.Differences, "; "))
		return
	}
	d := data{replicas(stored), replicas(fresh)}
	if err := figures(d[0][0].Figures).decide(p.Metric.Name, "the stored run "+stored[0].ID+" has"); err != nil {
		undecided("%v", err)
		return
	}
	groups := [2][][]int{alone(len(stored)), alone(len(fresh))}
	// Where each stored run is of a day of its own, new runs of one day are no more than one either.
	if p.BySession = enoughSessions(p.Sessions) || p.Sessions > 1 && p.Sessions == len(stored); p.BySession {
		groups = [2][][]int{p.groups, sessions(fresh)}
	}
	p.compare(d, groups)
	p.warn(d)
}

// alone makes each run a group.
func alone(n int) (all [][]int) {
	for i := range n {
		all = append(all, []int{i})
	}
	return all
}

func replicas(runs []*result.Result) (all []Replica) {
	for i, r := range runs {
		all = append(all, Replica{Phase: Load, Round: i + 1, Run: r.ID, Figures: figuresOf(r)})
	}
	return all
}

// grouped has the median of each group.
func grouped(series []float64, groups [][]int) (all []float64) {
	for _, group := range groups {
		var figures []float64
		for _, at := range group {
			if isKnown(series[at]) {
				figures = append(figures, series[at])
			}
		}
		if len(figures) > 0 {
			all = append(all, stats.Median(figures))
		}
	}
	return all
}

func (p *Past) compare(d data, groups [2][][]int) {
	figure := func(operation string, m Metric, alpha float64) verdict.Past {
		rule := verdict.Rule{Margin: p.Margin, HigherBetter: m.HigherBetter, Alpha: alpha}
		if m.Amount > 0 {
			rule.Margin, rule.Amount = m.Amount, true
		}
		return verdict.OfPast(grouped(d.series(0, operation, m), groups[0]), grouped(d.series(1, operation, m),
			groups[1]), rule)
	}
	failures, alpha := metricOf(failedShare, nil), verdict.Alpha
	both := p.Metric.Name != failedShare && d.mayFail(failures)
	if both {
		alpha /= 2 // either could call equal systems worse
	}
	p.Headline, p.Failed = figure("", p.Metric, alpha), figure("", failures, alpha)
	p.Verdict = p.Headline.Verdict
	if both {
		p.countFailures()
	}
	operations := d.operations()
	for _, operation := range operations {
		one := figure(operation, p.Metric, verdict.Alpha/float64(len(operations)))
		if one.Runs[0] > 0 && one.Runs[1] > 0 {
			p.Operations = append(p.Operations, PastOperation{operation, one})
		}
	}
}

// countFailures: who fails more is worse, and where that is not known nothing passes.
func (p *Past) countFailures() {
	says := fmt.Sprintf("%s of the operations failed, %s in the baseline", human.Percent1(p.Failed.New),
		human.Percent1(p.Failed.Stored))
	switch {
	case p.Failed.Verdict == verdict.Worse:
		p.Verdict, p.Because = verdict.Worse, says
	case p.Headline.Verdict == verdict.NotWorse && p.Failed.Verdict != verdict.NotWorse:
		p.Verdict, p.Because = p.Failed.Verdict, says+", which may be chance"
	}
}

// warn of what the figures cannot show.
func (p *Past) warn(d data) {
	if p.BySession {
		return
	}
	switch {
	case p.Sessions == 1:
		p.Warnings = append(p.Warnings, "the baseline's runs are of one session: what differs between days is not in "+
			"it; add runs of other days")
	case differ(d.series(0, "", p.Metric), p.groups):
		p.Warnings = append(p.Warnings, fmt.Sprintf("the %d sessions of the baseline differ by more than their runs",
			p.Sessions))
		if p.Verdict == verdict.Worse || p.Verdict == verdict.NotWorse {
			p.Verdict = verdict.Inconclusive
			p.Because = fmt.Sprintf("the baseline's %d sessions differ from each other by more than their runs do, so "+
				"that a session counts once: %d are needed", p.Sessions, sessionsLeast())
		}
	default:
		p.Warnings = append(p.Warnings, fmt.Sprintf("the baseline's runs are of %d sessions and count each by "+
			"itself", p.Sessions))
	}
}

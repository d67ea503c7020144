package samples

import (
	"fmt"
	"math"
	"slices"
)

// Printed is the part of a run's JSON that samples can reproduce.
type Printed struct {
	DurationS    float64            `json:"duration_s"`
	Ops          int64              `json:"ops"`
	OK           int64              `json:"ok"`
	Refused      int64              `json:"refused"`
	Errors       int64              `json:"errors"`
	Overload     int64              `json:"overload"`
	Resent       int64              `json:"resent"`
	OpsPerS      float64            `json:"ops_per_s"`
	AllPerS      *float64           `json:"all_per_s"`
	Apdex        *float64           `json:"apdex"`
	Interval     *Range             `json:"interval"`
	Rate         *Range             `json:"ops_per_s_interval"`
	Standstills  []Standstill       `json:"standstills"`
	Availability *float64           `json:"availability"`
	Generator    printedGenerator   `json:"generator"`
	Operations   []printedOperation `json:"operations"`
}

type printedGenerator struct {
	LagMSP50 float64 `json:"lag_ms_p50"`
	LagMSP99 float64 `json:"lag_ms_p99"`
	LagMSMax float64 `json:"lag_ms_max"`
}

type printedOperation struct {
	Counts
	Latency    printedLatency   `json:"latency_answered_ms"`
	LatencyAll *printedLatency  `json:"latency_ms"`
	Answered   *printedRanges   `json:"latency_answered_ms_intervals"`
	All        *printedRanges   `json:"latency_ms_intervals"`
	OwnWait    *printedWait     `json:"own_wait"`
	Apdex      *float64         `json:"apdex"`
	Interval   *Range           `json:"interval"`
	HistogramT [5]int64         `json:"histogram_t"`
	Instead    map[string]int64 `json:"instead"`
}

type printedLatency struct {
	P50    *float64 `json:"p50"`
	P95    *float64 `json:"p95"`
	P99    *float64 `json:"p99"`
	Max    *float64 `json:"max"`
	Mean   *float64 `json:"mean"`
	StdDev *float64 `json:"stddev"`
}

type printedRanges struct {
	P50 *Range `json:"p50"`
	P95 *Range `json:"p95"`
	P99 *Range `json:"p99"`
}

type printedWait struct {
	MeanMS     float64 `json:"mean_ms"`
	MaxMS      float64 `json:"max_ms"`
	PoolMeanMS float64 `json:"pool_mean_ms"`
}

// NotInSamples is what a run prints and its samples do not carry.
const NotInSamples = "what disturbed the run, processors and memory, cost of statements, users and backlog over " +
	"time, audit and reconciliation"

const (
	exact = 1e-9
	// ofTimes is the relative error of a time in the run's histograms. A standard deviation of such times is off by no
	// more than that part of their quadratic mean, which can be many times the deviation.
	ofTimes    = 0.002
	leastOfMS  = 0.002
	scoresLeft = 1e-9
	// ofWidth is how far the ends of two intervals may lie apart, as a part of their width, or of that of the shares
	// behind them: the run counts an operation in the second in which it heard of its end, and latencies in ranges.
	ofWidth = 0.35
	// ofEnd of a standstill, in seconds.
	ofEnd = 0.001
)

// Against lists the figures that differ from the run's. A run with wrong books has no score.
func (f *Figures) Against(p Printed) (all []Difference) {
	count := func(name string, mine, its int64) { compare(&all, name, float64(mine), float64(its), 0, 0.5) }
	latency := func(name string, mine, its *float64) {
		if (mine == nil) != (its == nil) {
			all = append(all, Difference{name, value(mine), value(its)})
			return
		}
		compare(&all, name, value(mine), value(its), ofTimes, leastOfMS)
	}
	score := func(name string, mine, its *float64) {
		if its != nil {
			compare(&all, name, value(mine), *its, 0, scoresLeft)
		}
	}
	compare(&all, "duration_s", f.DurationS, p.DurationS, exact, 1e-6)
	compare(&all, "ops_per_s", f.OpsPerS, p.OpsPerS, exact, 1e-6)
	count("ops", f.Ops, p.Ops)
	count("ok", f.OK, p.OK)
	count("refused", f.Refused, p.Refused)
	count("errors", f.Errors, p.Errors)
	count("overload", f.Overload, p.Overload)
	count("resent", f.Resent, p.Resent)
	score("apdex", f.Apdex, p.Apdex)
	if p.AllPerS != nil {
		compare(&all, "all_per_s", f.AllPerS, *p.AllPerS, exact, 1e-6)
	}
	if p.Apdex != nil { // wrong books have no score
		compareRanges(&all, "interval", f.Interval, p.Interval, 0.002)
	}
	compareRanges(&all, "ops_per_s_interval", f.OpsPerSInterval, p.Rate, 0.01)
	if p.Availability != nil {
		f.againstStandstills(&all, p)
	}
	latency("lag_ms_p50", &f.LagMSP50, &p.Generator.LagMSP50)
	latency("lag_ms_p99", &f.LagMSP99, &p.Generator.LagMSP99)
	latency("lag_ms_max", &f.LagMSMax, &p.Generator.LagMSMax)
	for _, its := range p.Operations {
		mine, found := f.byID(its.ID)
		if !found {
			all = append(all, Difference{its.ID, 0, float64(its.Ops)})
			continue
		}
		named := func(figure string) string { return its.ID + " " + figure }
		count(named("ops"), mine.Ops, its.Ops)
		count(named("ok"), mine.OK, its.OK)
		count(named("refused"), mine.Refused, its.Refused)
		count(named("errors"), mine.Errors, its.Errors)
		count(named("overload"), mine.Overload, its.Overload)
		count(named("resent"), mine.Resent, its.Resent)
		count(named("satisfied"), mine.Satisfied, its.Satisfied)
		count(named("tolerating"), mine.Tolerating, its.Tolerating)
		count(named("frustrated"), mine.Frustrated, its.Frustrated)
		score(named("apdex"), mine.Apdex, its.Apdex)
		latency(named("p50"), mine.P50MS, its.Latency.P50)
		latency(named("p95"), mine.P95MS, its.Latency.P95)
		latency(named("p99"), mine.P99MS, its.Latency.P99)
		latency(named("max"), mine.MaxMS, its.Latency.Max)
		if its.Latency.Mean != nil && its.Latency.StdDev != nil {
			latency(named("mean"), mine.MeanMS, its.Latency.Mean)
			compare(&all, named("stddev"), value(mine.StdDevMS), *its.Latency.StdDev, 0,
				leastOfMS+ofTimes*math.Hypot(value(mine.MeanMS), value(mine.StdDevMS)))
		}
		if l := its.LatencyAll; l != nil {
			latency(named("p50 of all"), mine.AllMS[0], l.P50)
			latency(named("p95 of all"), mine.AllMS[1], l.P95)
			latency(named("p99 of all"), mine.AllMS[2], l.P99)
		}
		if w := its.OwnWait; w != nil {
			compare(&all, named("own_wait mean"), mine.OwnMeanMS, w.MeanMS, ofTimes, leastOfMS)
			compare(&all, named("own_wait max"), mine.OwnMaxMS, w.MaxMS, ofTimes, leastOfMS)
			compare(&all, named("own_wait pool_mean"), mine.OwnPoolMS, w.PoolMeanMS, ofTimes, leastOfMS)
		}
		if its.Apdex != nil {
			compareRanges(&all, named("interval"), mine.Interval, its.Interval, 0.002)
		}
		for i, figure := range []string{"p50", "p95", "p99"} {
			comparePercentile(&all, named(figure+" interval"), mine.Answered[i], its.Answered.percentileRange(i))
			comparePercentile(&all, named(figure+" of all interval"), mine.All[i], its.All.percentileRange(i))
		}
		for unit, n := range its.HistogramT {
			count(named(fmt.Sprintf("histogram_t %d", unit)), mine.HistogramT[unit], n)
		}
		for other, n := range its.Instead {
			count(named("instead "+other), mine.Instead[other], n)
		}
	}
	return all
}

// againstStandstills checks that no answer arrived in those of the run, that none of ours is missing in it or ends at
// another moment, and that its availability is what they leave. It may begin earlier, but not before the last answer:
// the run knows no order of what failed and what was answered in one second. It may begin later where the run heard
// late of who waited.
func (f *Figures) againstStandstills(all *[]Difference, p Printed) {
	left := 1.0
	for _, s := range p.Standstills {
		left -= (s.ToS - s.FromS) / p.DurationS
		from, _ := slices.BinarySearch(f.answers, int64(1e9*(s.FromS+ofEnd)))
		to, _ := slices.BinarySearch(f.answers, int64(1e9*(s.ToS-ofEnd)))
		if to > from {
			*all = append(*all, Difference{fmt.Sprintf("answers in the standstill from %.1f s", s.FromS),
				float64(to - from), 0})
		}
	}
	for i, s := range f.Standstills {
		if f.latest[i] < s.ToS && !slices.ContainsFunc(p.Standstills, func(its Standstill) bool {
			return its.FromS <= f.latest[i]+ofEnd && math.Abs(its.ToS-s.ToS) <= ofEnd
		}) {
			*all = append(*all, Difference{fmt.Sprintf("standstill from %.1f s", s.FromS), s.ToS - s.FromS, 0})
		}
	}
	compare(all, "availability", left, *p.Availability, 0, 1e-6)
}

func (r *printedRanges) percentileRange(i int) *Range {
	if r == nil {
		return nil
	}
	return [...]*Range{r.P50, r.P95, r.P99}[i]
}

// compareRanges looks whether the ends lie where they may, if there are two intervals.
func compareRanges(all *[]Difference, figure string, mine, its *Range, least float64) {
	if mine == nil || its == nil || mine.High == nil || its.High == nil {
		return
	}
	within := least + ofWidth*max(*mine.High-mine.Low, *its.High-its.Low)
	if its.Low < mine.lows[0]-within || its.Low > mine.lows[1]+within {
		*all = append(*all, Difference{figure + " low", mine.Low, its.Low})
	}
	if *its.High < mine.highs[0]-within || *its.High > mine.highs[1]+within {
		*all = append(*all, Difference{figure + " high", *mine.High, *its.High})
	}
}

// comparePercentile looks whether the ends lie among the latencies that they may be. Whether few operations bound one
// at all may hang on a single operation.
func comparePercentile(all *[]Difference, figure string, mine, its *Range) {
	if mine == nil || its == nil {
		return
	}
	off := func(x float64, ends [2]float64) bool {
		return x < ends[0]*(1-ofTimes)-leastOfMS || x > ends[1]*(1+ofTimes)+leastOfMS
	}
	if off(its.Low, mine.lows) {
		*all = append(*all, Difference{figure + " low", mine.Low, its.Low})
	}
	if its.High != nil && off(*its.High, mine.highs) {
		*all = append(*all, Difference{figure + " high", value(mine.High), *its.High})
	}
}

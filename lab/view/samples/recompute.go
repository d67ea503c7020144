package samples

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Figures of a run, computed from its samples. Names are those of the run's JSON.
type Figures struct {
	Run       string   `json:"run"`
	Users     int      `json:"users"`
	DurationS float64  `json:"duration_s"`
	Ops       int64    `json:"ops"`
	OK        int64    `json:"ok"`
	Refused   int64    `json:"refused"`
	Errors    int64    `json:"errors"`
	Overload  int64    `json:"overload"`
	Resent    int64    `json:"resent"`
	OpsPerS   float64  `json:"ops_per_s"`
	AllPerS   float64  `json:"all_per_s"`
	Apdex     *float64 `json:"apdex"`
	// Intervals are null where the steady state was too short for them.
	Interval        *Range        `json:"interval"`
	OpsPerSInterval *Range        `json:"ops_per_s_interval"`
	Standstills     []Standstill  `json:"standstills"`
	Availability    float64       `json:"availability"`
	LagMSP50        float64       `json:"lag_ms_p50"`
	LagMSP99        float64       `json:"lag_ms_p99"`
	LagMSMax        float64       `json:"lag_ms_max"`
	Bytes           int64         `json:"bytes"`
	Operations      []OfOperation `json:"operations"`
	Missing         int64         `json:"missing"`
	// CutAtS is where the file ends, since the process that wrote it died.
	CutAtS *float64 `json:"cut_at_s,omitempty"`

	answers []int64   // when valid answers came, ascending
	latest  []float64 // of each standstill: its latest begin in a run, or its end if the run may have none
}

// Counts of one key operation, named as in a run's result.
type Counts struct {
	ID         string `json:"id"`
	Ops        int64  `json:"ops"`
	OK         int64  `json:"ok"`
	Refused    int64  `json:"refused"`
	Errors     int64  `json:"errors"`
	Overload   int64  `json:"overload"`
	Resent     int64  `json:"resent"`
	Satisfied  int64  `json:"satisfied"`
	Tolerating int64  `json:"tolerating"`
	Frustrated int64  `json:"frustrated"`
}

// OfOperation are the figures of one key operation. Latency is that of answered operations; with AllMS failures are the
// longest, and null is one of them.
type OfOperation struct {
	Counts
	Apdex      *float64         `json:"apdex"`
	P50MS      *float64         `json:"p50_ms"`
	P95MS      *float64         `json:"p95_ms"`
	P99MS      *float64         `json:"p99_ms"`
	MaxMS      *float64         `json:"max_ms"`
	MeanMS     *float64         `json:"mean_ms"`
	StdDevMS   *float64         `json:"stddev_ms"`
	AllMS      [3]*float64      `json:"all_ms"` // p50, p95, p99
	OwnMeanMS  float64          `json:"own_wait_mean_ms"`
	OwnMaxMS   float64          `json:"own_wait_max_ms"`
	OwnPoolMS  float64          `json:"own_wait_pool_mean_ms"`
	Interval   *Range           `json:"interval"`
	Answered   [3]*Range        `json:"latency_answered_ms_intervals"` // of p50, p95, p99
	All        [3]*Range        `json:"latency_ms_intervals"`
	HistogramT [5]int64         `json:"histogram_t"`
	Instead    map[string]int64 `json:"instead,omitempty"`
}

// counter sums one operation.
type counter struct {
	OfOperation
	target    int64
	priority  int
	latencies []int64
	rows      []Row
	own, pool int64
	most      int64
}

var percentiles = [3]float64{0.50, 0.95, 0.99}

// Recompute reads the files of a run, one of each process that generated its load, and computes every figure from their
// rows.
func Recompute(paths ...string) (*Figures, error) {
	var rows []Row
	var head Head
	for i, path := range paths {
		h, err := Read(path, func(r Row) { rows = append(rows, r) })
		if err != nil {
			return nil, err
		}
		if i == 0 {
			head = h
			continue
		}
		if head, err = head.merge(h, path); err != nil {
			return nil, err
		}
	}
	return figuresOf(head, rows), nil
}

func figuresOf(head Head, rows []Row) *Figures {
	steady := float64(head.To-head.From) / 1e9
	f := &Figures{Run: head.Run, Users: head.Users, DurationS: steady, Missing: head.Missing}
	counters := map[string]*counter{}
	for _, op := range head.Operations {
		counters[op.ID] = &counter{target: op.Target, priority: op.Priority}
		counters[op.ID].ID = op.ID
	}
	var lags []int64
	arrived, finished := 0, 0
	scored := make([]Row, 0, len(rows))
	for _, r := range rows {
		inside := r.Due >= head.From && r.Due < head.To
		if inside {
			lags = append(lags, r.Sent-r.Due-r.Held)
			f.Bytes += r.Bytes
		}
		if planned := counters[r.Planned]; inside && r.Planned != r.Operation && planned != nil {
			if planned.Instead == nil {
				planned.Instead = map[string]int64{}
			}
			planned.Instead[r.Operation]++
		}
		c, listed := counters[r.Operation]
		if !listed { // it stays under the name that was chosen
			c, listed = counters[r.Planned]
		}
		if !listed {
			continue
		}
		scored = append(scored, r)
		if r.Done >= head.From && r.Done < head.To {
			finished++
			if answered(r) {
				arrived++
			}
		}
		if inside {
			c.count(r)
		}
	}
	if steady > 0 {
		f.OpsPerS, f.AllPerS = float64(arrived)/steady, float64(finished)/steady
		f.Standstills, f.latest = standstills(head, scored, arrived)
		for _, r := range scored {
			if answered(r) {
				f.answers = append(f.answers, r.Done)
			}
		}
		slices.Sort(f.answers)
		f.Availability = 1
		for _, s := range f.Standstills {
			f.Availability -= (s.ToS - s.FromS) / steady
		}
	}
	if head.Cut != 0 {
		at := float64(head.Cut) / 1e9
		f.CutAtS = &at
	}
	slices.Sort(lags)
	f.LagMSP50, f.LagMSP99 = value(rank(lags, 0.50)), value(rank(lags, 0.99))
	f.LagMSMax = value(rank(lags, 1))
	f.sum(head, counters)
	f.addIntervals(head, scored, counters)
	return f
}

func answered(r Row) bool { return r.Outcome == "ok" || r.Outcome == "refused" }

func (c *counter) count(r Row) {
	c.Ops++
	c.Resent += int64(r.Resent)
	c.rows = append(c.rows, r)
	own := r.Sent - r.Due - r.Held + r.Waited
	c.own, c.pool, c.most = c.own+own, c.pool+r.Waited, max(c.most, own)
	switch r.Outcome {
	case "ok":
		c.OK++
	case "refused":
		c.Refused++
	case "overload":
		c.Overload++
	default:
		c.Errors++
	}
	if !answered(r) {
		c.Frustrated++
		return
	}
	// In units of T: below 1 satisfied, below 4 tolerating.
	latency := r.Done - r.Due
	units := min(4, latency/c.target)
	c.HistogramT[units]++
	switch units {
	case 0:
		c.Satisfied++
	case 4:
		c.Frustrated++
	default:
		c.Tolerating++
	}
	c.latencies = append(c.latencies, latency)
}

// sum sums the operations and scores them: one of priority p weighs 1/p.
func (f *Figures) sum(head Head, counters map[string]*counter) {
	var points, weight float64
	for _, op := range head.Operations {
		c := counters[op.ID]
		c.finish()
		f.Ops += c.Ops
		f.OK += c.OK
		f.Refused += c.Refused
		f.Errors += c.Errors
		f.Overload += c.Overload
		f.Resent += c.Resent
		if c.priority > 0 {
			points += (float64(c.Satisfied) + float64(c.Tolerating)/2) / float64(c.priority)
			weight += float64(c.Ops) / float64(c.priority)
		}
		f.Operations = append(f.Operations, c.OfOperation)
	}
	if weight > 0 {
		score := points / weight
		f.Apdex = &score
	}
}

func (c *counter) finish() {
	if c.Ops > 0 {
		score := (float64(c.Satisfied) + float64(c.Tolerating)/2) / float64(c.Ops)
		c.Apdex = &score
	}
	slices.Sort(c.latencies)
	c.P50MS, c.P95MS, c.P99MS, c.MaxMS = rank(c.latencies, 0.50), rank(c.latencies, 0.95), rank(c.latencies, 0.99),
		rank(c.latencies, 1)
	for i, p := range percentiles {
		if at := int(math.Ceil(p * float64(c.Ops))); at > 0 && at <= len(c.latencies) {
			ms := milliseconds(c.latencies[at-1])
			c.AllMS[i] = &ms
		}
	}
	if n := float64(c.Ops); n > 0 {
		c.OwnMeanMS, c.OwnPoolMS, c.OwnMaxMS = milliseconds(c.own)/n, milliseconds(c.pool)/n, milliseconds(c.most)
	}
	if n := float64(len(c.latencies)); n > 0 {
		sum, squares := 0.0, 0.0
		for _, l := range c.latencies {
			sum += milliseconds(l)
		}
		mean := sum / n
		for _, l := range c.latencies {
			squares += (milliseconds(l) - mean) * (milliseconds(l) - mean)
		}
		deviation := math.Sqrt(squares / n)
		c.MeanMS, c.StdDevMS = &mean, &deviation
	}
}

// seconds of the steady state, each with what ended in it; what ended behind them belongs to the last.
func seconds(head Head, rows []Row) [][]Row {
	const second = int64(1e9)
	first, n := head.From/second, (head.To/second)-head.From/second
	if n < 1 {
		return nil
	}
	all := make([][]Row, n)
	for _, r := range rows {
		if at := r.Done/second - first; at >= 0 {
			at = min(at, n-1)
			all[at] = append(all[at], r)
		}
	}
	return all
}

func shares(all [][]Row, shareOf func(Row) share) []share {
	series := make([]share, len(all))
	for i, rows := range all {
		for _, r := range rows {
			s := shareOf(r)
			series[i].some, series[i].all = series[i].some+s.some, series[i].all+s.all
		}
	}
	return series
}

// addIntervals of the score, the rate and each operation.
func (f *Figures) addIntervals(head Head, scored []Row, counters map[string]*counter) {
	points := func(r Row) share {
		switch units := (r.Done - r.Due) / counters[r.Operation].target; {
		case !answered(r) || units >= 4:
			return share{0, 1}
		case units >= 1:
			return share{0.5, 1}
		}
		return share{1, 1}
	}
	judged := slices.DeleteFunc(slices.Clone(scored), func(r Row) bool { return r.Due < head.From || r.Due >= head.To })
	below, above := 0.0, 0.0
	weight := 0.0
	for _, op := range head.Operations {
		if op.Priority > 0 {
			weight += float64(counters[op.ID].Ops) / float64(op.Priority)
		}
	}
	for i := range f.Operations {
		op := &f.Operations[i]
		c := counters[op.ID]
		if c.Apdex == nil {
			continue
		}
		low, high := wilson(*c.Apdex, float64(c.Ops))
		if c.priority > 0 {
			w := float64(c.Ops) / float64(c.priority) / weight
			below, above = below+w*w*(*c.Apdex-low)*(*c.Apdex-low), above+w*w*(high-*c.Apdex)*(high-*c.Apdex)
		}
		bySecond := seconds(head, c.rows)
		op.Interval = wider(low, high, shares(bySecond, points))
		for k, p := range percentiles {
			answers := func(whole bool) func(int64) []share {
				return func(at int64) []share {
					return shares(bySecond, func(r Row) (s share) {
						if answered(r) && r.Done-r.Due <= at {
							s.some = 1
						}
						if whole || answered(r) {
							s.all = 1
						}
						return s
					})
				}
			}
			op.Answered[k] = percentileRange(c.latencies, 0, p, answers(false))
			if failed := int(c.Ops) - len(c.latencies); failed > 0 {
				op.All[k] = percentileRange(c.latencies, failed, p, answers(true))
			}
		}
	}
	if f.Apdex != nil {
		f.Interval = wider(max(0, *f.Apdex-math.Sqrt(below)), min(1, *f.Apdex+math.Sqrt(above)),
			shares(seconds(head, judged), func(r Row) share {
				s, priority := points(r), float64(counters[r.Operation].priority)
				if priority <= 0 {
					return share{}
				}
				return share{s.some / priority, s.all / priority}
			}))
	}
	f.addRate(head, scored)
}

// addRate is the interval of the valid answers per whole second.
func (f *Figures) addRate(head Head, scored []Row) {
	const second = int64(1e9)
	first := (head.From + second - 1) / second
	rate := make([]share, max(0, head.To/second-first))
	for i := range rate {
		rate[i].all = 1
	}
	for _, r := range scored {
		if at := r.Done/second - first; answered(r) && at >= 0 && at < int64(len(rate)) {
			rate[at].some++
		}
	}
	if d, ok := blockInterval(rate); ok {
		f.OpsPerSInterval = &Range{Low: max(0, d.low), High: &d.high, lows: d.lows, highs: d.highs}
	}
}

// rank is the least value that this share of the values does not exceed; nil if there is none.
func rank(sorted []int64, share float64) *float64 {
	if len(sorted) == 0 {
		return nil
	}
	at := sort.Search(len(sorted), func(i int) bool { return float64(i+1) >= share*float64(len(sorted)) })
	ms := milliseconds(sorted[min(at, len(sorted)-1)])
	return &ms
}

func value(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// Difference between a recomputed figure and the run's.
type Difference struct {
	Figure     string  `json:"figure"`
	Recomputed float64 `json:"recomputed"`
	Printed    float64 `json:"printed"`
}

// compare records a difference beyond the run's own rounding: its histograms keep values within one part in a thousand,
// and whole microseconds.
func compare(all *[]Difference, figure string, recomputed, printed, relative, absolute float64) {
	if math.Abs(recomputed-printed) > max(absolute, relative*max(math.Abs(recomputed), math.Abs(printed))) {
		*all = append(*all, Difference{figure, recomputed, printed})
	}
}

// byID finds an operation.
func (f *Figures) byID(id string) (op OfOperation, ok bool) {
	i := slices.IndexFunc(f.Operations, func(o OfOperation) bool { return cmp.Compare(o.ID, id) == 0 })
	if i < 0 {
		return op, false
	}
	return f.Operations[i], true
}

// Package metrics exports the live figures of a run: Prometheus reads them, and an OpenTelemetry collector is sent the
// same. They are sums of the run's snapshots, hence of all its generators.
package metrics

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run"
)

// Live is the figures of one run. The zero value shows none.
type Live struct {
	mu    sync.Mutex
	seen  bool
	began time.Time    // the ramp, from which sums count
	last  run.Snapshot // without its tally, which belongs to the run
	sums  []sum        // by operation
	score *float64
}

// latencyBounds are in seconds, the same for every run, so that runs and operations add up. They are those of
// plimsoll_request_seconds, which the application servers measure.
var latencyBounds = [...]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 90}

// sum of an operation since the ramp began.
type sum struct {
	outcomes [4]int64
	units    [5]uint64                      // answers by latency in units of T: 0-T … >4T
	answers  [len(latencyBounds) + 1]uint64 // by latency: up to each bound, and above
	seconds  float64                        // of answers
	zones    apdex.Counts                   // of the steady state
	apdex    *float64                       // of the steady state so far
}

// Take adds a second; it is fast enough for the loop that calls it.
func (l *Live) Take(s run.Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.seen {
		l.sums, l.began = make([]sum, len(s.Operations)), time.Now().Add(-s.At)
	}
	for i := range l.sums {
		l.sums[i].add(s.Page.Judged[i])
		l.sums[i].add(s.Page.Others[i])
		l.sums[i].apdex = score(s.Tally.Operations[i].Apdex.Score())
	}
	all, _, ok := s.Tally.Apdex()
	l.score = score(all, ok)
	s.Tally = nil
	l.seen, l.last = true, s
}

func score(x float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &x
}

func (s *sum) add(c tally.Cell) {
	for i, n := range c.Outcomes {
		s.outcomes[i] += n
	}
	for i, n := range c.Units {
		s.units[i] += uint64(n)
	}
	for _, us := range c.Latency {
		took := float64(us) / 1e6
		s.seconds += took
		bucket, _ := slices.BinarySearch(latencyBounds[:], took)
		s.answers[bucket]++
	}
	s.zones.Satisfied += c.Apdex.Satisfied
	s.zones.Tolerating += c.Apdex.Tolerating
	s.zones.Frustrated += c.Apdex.Frustrated
}

// at is how far the run is, since the start of the ramp.
func (l *Live) at() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last.At
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("plimsoll_run_"+name, help, labels, nil)
}

var (
	usersDesc   = desc("users", "Active users.")
	flightDesc  = desc("in_flight", "Most operations under way at once in the last second.")
	backlogDesc = desc("backlog", "Most operations that waited for a slot in the last second.")
	lagDesc     = desc("lag_seconds", "Largest lag of the generator in the last second.")
	elapsedDesc = desc("elapsed_seconds", "Since the ramp began.")
	phaseDesc   = desc("phase", "1 for the current phase of the load.", "phase")
	apdexDesc   = desc("apdex", "Apdex of the steady state so far, by priorities.")
	opDesc      = desc("operations_total", "Operations that ended since the ramp began.", "operation", "outcome")
	timeDesc    = desc("latency_target_units", "Time of answers from when the user was due, in units of the target T.",
		"operation")
	secondsDesc = desc("latency_seconds", "Time of answers from when the user was due.", "operation")
	zoneDesc    = desc("apdex_total", "Operations of the steady state by zone of the Apdex.", "operation", "zone")
	opApdexDesc = desc("operation_apdex", "Apdex of an operation in the steady state so far.", "operation")
	targetDesc  = desc("target_seconds", "Target T of an operation.", "operation")
)

// Describe is empty: the metrics depend on the run.
func (l *Live) Describe(chan<- *prometheus.Desc) {}

// Collect emits the metrics.
func (l *Live) Collect(to chan<- prometheus.Metric) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.seen {
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	p := l.last.Page
	gauge(usersDesc, float64(p.Users))
	gauge(flightDesc, float64(p.InFlight))
	gauge(backlogDesc, float64(p.Backlog))
	gauge(lagDesc, p.LagMax.Seconds())
	gauge(elapsedDesc, l.last.At.Seconds())
	gauge(phaseDesc, 1, string(l.last.Phase))
	if l.score != nil {
		gauge(apdexDesc, *l.score)
	}
	for i, op := range l.last.Operations {
		s := l.sums[i]
		gauge(targetDesc, op.Target.Seconds(), op.ID)
		if s.apdex != nil {
			gauge(opApdexDesc, *s.apdex, op.ID)
		}
		count := func(d *prometheus.Desc, n int64, label string) {
			to <- must(prometheus.NewConstMetricWithCreatedTimestamp(d, prometheus.CounterValue, float64(n), l.began,
				op.ID, label))
		}
		for o, n := range s.outcomes {
			count(opDesc, n, tally.Outcome(o).String())
		}
		count(zoneDesc, s.zones.Satisfied, "satisfied")
		count(zoneDesc, s.zones.Tolerating, "tolerating")
		count(zoneDesc, s.zones.Frustrated, "frustrated")
		target := max(op.Target.Seconds(), 1e-9)
		to <- l.histogram(timeDesc, op.ID, s.units[:], []float64{1, 2, 3, 4}, s.seconds/target)
		to <- l.histogram(secondsDesc, op.ID, s.answers[:], latencyBounds[:], s.seconds)
	}
}

// histogram is cumulative, as in Prometheus. The last of counts is above all bounds.
func (l *Live) histogram(d *prometheus.Desc, operation string, counts []uint64, bounds []float64,
	sum float64) prometheus.Metric {
	buckets, count := map[float64]uint64{}, uint64(0)
	for i, n := range counts {
		if count += n; i < len(bounds) {
			buckets[bounds[i]] = count
		}
	}
	return must(prometheus.NewConstHistogramWithCreatedTimestamp(d, count, sum, buckets, l.began, operation))
}

// must is for metrics whose labels the source gives.
func must(m prometheus.Metric, err error) prometheus.Metric {
	if err != nil {
		panic(err)
	}
	return m
}

// registry is read by all exporters.
func (l *Live) registry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(l)
	return registry
}

// Handler answers GET /metrics.
func (l *Live) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(l.registry(), promhttp.HandlerOpts{}))
	return mux
}

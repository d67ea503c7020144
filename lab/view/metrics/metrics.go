// Package metrics exports the live figures of a run: Prometheus reads them, and an OpenTelemetry collector is sent the
// same. They are sums of the run's snapshots, hence of all its generators.
package metrics

import (
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"plimsoll/lab/load/tally"
	"plimsoll/lab/run"
)

// Live is the figures of one run. The zero value shows none.
type Live struct {
	mu    sync.Mutex
	seen  bool
	last  run.Snapshot // without its tally, which belongs to the run
	sums  []sum        // by operation
	score *float64
}

// sum of an operation since the ramp began.
type sum struct {
	outcomes [4]int64
	units    [5]uint64 // answers by latency in units of T: 0-T … >4T
	seconds  float64   // of answers
	apdex    *float64  // of the steady state so far
}

// Take adds a second; it is fast enough for the loop that calls it.
func (l *Live) Take(s run.Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.seen {
		l.sums = make([]sum, len(s.Operations))
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
		s.seconds += float64(us) / 1e6
	}
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
		for o, n := range s.outcomes {
			to <- prometheus.MustNewConstMetric(opDesc, prometheus.CounterValue, float64(n), op.ID,
				tally.Outcome(o).String())
		}
		to <- s.histogram(op.ID, op.Target.Seconds())
	}
}

// histogram in units of T, cumulative as in Prometheus.
func (s sum) histogram(operation string, target float64) prometheus.Metric {
	buckets, count := map[float64]uint64{}, uint64(0)
	for i, n := range s.units {
		if count += n; i < len(s.units)-1 {
			buckets[float64(i+1)] = count
		}
	}
	return prometheus.MustNewConstHistogram(timeDesc, count, s.seconds/max(target, 1e-9), buckets, operation)
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

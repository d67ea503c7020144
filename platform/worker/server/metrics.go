package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/durability"
	"plimsoll/platform/data/temptable"
	"plimsoll/platform/worker/session"
)

// latencyBuckets are in seconds, from the time of a cached list to OperationTimeout.
var latencyBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 90}

// metrics are what GET /metrics shows. Database counts come from the profile; figures of pool, queue and sessions are
// read on each request.
type metrics struct {
	registry     *prometheus.Registry
	requests     *prometheus.CounterVec
	seconds      *prometheus.HistogramVec
	queue        prometheus.Histogram
	lockTimeouts *prometheus.CounterVec
	handler      http.Handler
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(
			prometheus.CounterOpts{Name: "plimsoll_requests_total", Help: "Requests by operation and status."},
			[]string{"operation", "status"}),
		seconds: prometheus.NewHistogramVec(
			prometheus.HistogramOpts{Name: "plimsoll_request_seconds", Help: "Time from the header of a request to " +
				"its answer, including waiting.", Buckets: latencyBuckets}, []string{"operation"}),
		queue: prometheus.NewHistogram(
			prometheus.HistogramOpts{Name: "plimsoll_queue_seconds", Help: "Time requests waited for a slot.",
				Buckets: latencyBuckets}),
		lockTimeouts: prometheus.NewCounterVec(
			prometheus.CounterOpts{Name: "plimsoll_lock_timeouts_total",
				Help: "Lock timeouts."}, []string{"operation"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.queue, m.lockTimeouts, &figures{s},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return m
}

func (m *metrics) observe(operation string, status int, took time.Duration) {
	m.requests.WithLabelValues(operation, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(operation).Observe(took.Seconds())
	m.lockTimeouts.WithLabelValues(operation) // from the first request on: 0 is a figure, a missing series is none
}

// snapshot is the state of pool, sessions and temp tables at one moment.
type snapshot struct {
	*Server
	pool database.Pool
	data session.Figures
	temp temptable.Counters
	log  durability.Figures
}

func (s *Server) snapshot() *snapshot {
	return &snapshot{s, s.db.Pool(), s.sessions.Figures(), s.db.TempTables(), s.db.FlushFigures()}
}

func gauge[N int | int32 | int64 | float64](name, help string, value N) prometheus.Metric {
	return figure(prometheus.GaugeValue, name, help, float64(value))
}

func counter[N int | int32 | int64 | float64](name, help string, value N) prometheus.Metric {
	return figure(prometheus.CounterValue, name, help, float64(value))
}

func figure(kind prometheus.ValueType, name, help string, value float64) prometheus.Metric {
	return prometheus.MustNewConstMetric(prometheus.NewDesc("plimsoll_"+name, help, nil, nil), kind, value)
}

// figures are the current metrics of the worker.
func (f *snapshot) figures() []prometheus.Metric {
	return []prometheus.Metric{
		gauge("requests_working", "Requests being processed.", len(f.gate.slots)),
		gauge("requests_working_max", "Requests that may be processed at once.", cap(f.gate.slots)),
		gauge("requests_waiting", "Requests waiting for a slot.", f.gate.load()),
		gauge("sessions", "Open sessions.", f.Sessions()),
		gauge("session_data_memory_bytes", "Session data in memory.", f.data.MemoryBytes),
		gauge("session_data_memory_max_bytes", "Limit of session data in memory.", f.data.MemoryMax),
		gauge("session_data_disk_bytes", "Session data in files.", f.data.DiskBytes),
		counter("session_data_hits_total", "Accesses to session data that was in memory.", f.data.Hits),
		counter("session_data_reads_total", "Accesses to session data that was in a file.", f.data.Reads),
		counter("session_data_read_seconds_total", "Time spent reading files of session data.",
			f.data.ReadTime.Seconds()),
		counter("session_data_spills_total", "Sessions whose data went to a file.", f.data.Spills),
		counter("session_data_spill_seconds_total", "Time spent writing files of session data.",
			f.data.SpillTime.Seconds()),
		counter("session_data_refused_total", "Values that did not fit.", f.data.Refused),
		counter("session_data_lost_total", "Files of session data that could not be read back.", f.data.Lost),
		gauge("pool_connections_max", "Maximum number of connections to the database.", f.pool.Max),
		gauge("pool_connections", "Connections to the database.", f.pool.Total),
		gauge("pool_connections_idle", "Idle connections.", f.pool.Idle),
		counter("pool_acquires_total", "Connections acquired.", f.pool.Acquires),
		counter("pool_waits_total", "Acquisitions that had to wait.", f.pool.Waits),
		counter("pool_wait_seconds_total", "Time spent waiting for connections.", f.pool.WaitTime.Seconds()),
		counter("pool_opened_total", "Connections opened.", f.pool.Opened),
		counter("pool_ended_by_age_total", "Connections closed at the end of their lifetime.", f.pool.EndedByAge),
		gauge("flush_answers_waiting", "Answers waiting for the database to flush its log.", f.log.Waiting),
		counter("flush_answers_total", "Answers that had to wait for a flush.", f.log.Answers),
		counter("flush_answers_unknown_total", "Answers given up while waiting: the database crashed or was promoted.",
			f.log.Unknown),
		counter("flush_rounds_total", "Rounds in which the worker flushed the log, or asked how far it was flushed.",
			f.log.Rounds),
		counter("flushes_total", "Flushes of the log requested by the worker.", f.log.Flushes),
		counter("flush_wait_seconds_total", "Time that answers waited for flushes.", f.log.WaitTime.Seconds()),
		counter("temp_tables_created_total", "Temp tables created by the pool.", f.temp.Created),
		counter("temp_tables_reused_total", "Temp tables reused from the pool.", f.temp.Reused),
		counter("temp_tables_dropped_total", "Temp tables dropped to make room in the pool.", f.temp.Dropped),
		counter("temp_tables_truncated_total", "TRUNCATEs of temp tables.", f.temp.Truncates),
		counter("temp_tables_deleted_from_total", "DELETEs of all rows of temp tables.", f.temp.Deletes),
		counter("temp_tables_truncates_spared_total", "TRUNCATEs skipped because the "+
			"temp table was empty.", f.temp.Skipped),
	}
}

// Figures of the profile, by operation.
var profileFigures = []struct {
	desc   *prometheus.Desc
	figure func(Operation) int64
}{
	{prometheus.NewDesc("plimsoll_statements_total", "Statements sent to the database.", []string{"operation"}, nil),
		func(o Operation) int64 {
			return o.Database.Statements
		}},
	{prometheus.NewDesc("plimsoll_round_trips_total", "Round trips to the database.", []string{"operation"}, nil),
		func(o Operation) int64 {
			return o.Database.RoundTrips
		}},
	{prometheus.NewDesc("plimsoll_retries_total",
		"Units of work repeated after a deadlock, a serialization failure or a lost connection.",
		[]string{"operation"}, nil), func(o Operation) int64 {
		return o.Database.Retries
	}},
}

// figures is the collector of what is read on each request.
type figures struct{ server *Server }

func (c *figures) Describe(to chan<- *prometheus.Desc) {
	for _, f := range c.server.snapshot().figures() {
		to <- f.Desc()
	}
	for _, f := range profileFigures {
		to <- f.desc
	}
}

func (c *figures) Collect(to chan<- prometheus.Metric) {
	for _, f := range c.server.snapshot().figures() {
		to <- f
	}
	for name, o := range c.server.Profile() {
		for _, f := range profileFigures {
			to <- prometheus.MustNewConstMetric(f.desc, prometheus.CounterValue, float64(f.figure(o)), name)
		}
	}
}

package server

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/ground/human"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/temptable"
)

// traceHeader with the value 1 requests a trace; the answer has it as JSON in the same header.
const (
	traceHeader = "Plimsoll-Trace"
	// traceHeaderMax is the header size that clients accept; a longer trace is sent without its trips.
	traceHeaderMax = 6 << 10
)

// phases of a request, in order.
type phases struct{ body, queue, work, flush time.Duration }

func (p phases) total() time.Duration { return p.body + p.queue + p.work + p.flush }

// trace is what one request cost. Unknown values are "unavailable", not zero.
type trace struct {
	Operation  string             `json:"operation"`
	Status     int                `json:"status"`
	TotalMS    float64            `json:"total_ms"`
	BodyMS     float64            `json:"body_ms"`
	QueueMS    float64            `json:"queue_ms"`
	WorkMS     float64            `json:"work_ms"`
	FlushMS    float64            `json:"flush_ms"`    // waiting for the log, without slot and connection
	AcquireMS  float64            `json:"acquire_ms"`  // of it: waiting for a connection
	DatabaseMS float64            `json:"database_ms"` // of it: round trips
	Statements int64              `json:"statements"`
	RoundTrips int64              `json:"round_trips"`
	Retries    int64              `json:"retries"`
	TempTables temptable.Counters `json:"temp_tables"`
	WALBytes   any                `json:"wal_bytes"`
	BackendCPU any                `json:"backend_cpu_ms"`
	WorkerCPU  any                `json:"worker_cpu_ms"`
	Trips      []trip             `json:"trips,omitempty"`
}

type trip struct {
	MS         float64  `json:"ms"`
	Statements []string `json:"statements"`
}

const unavailable = "unavailable"

// traced reports whether a request is traced, and whether the client requested it.
func (s *Server) traced(r *http.Request) (traced, shown bool) {
	if r.Header.Get(traceHeader) == "1" {
		return true, true
	}
	return s.config.TraceSample > 0 && rand.IntN(s.config.TraceSample) == 0, false
}

// threadTime is the processor time of the current thread.
func threadTime() (time.Duration, bool) {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &usage) != nil {
		return 0, false
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), true
}

// processorTime measures the processor time of do, which gets a thread to itself.
func processorTime(do func()) any {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, known := threadTime()
	do()
	after, _ := threadTime()
	if !known {
		return unavailable
	}
	return human.MS(after - before)
}

func newTrace(operation string, status int, p phases, cost database.Counters, t *database.Trace, workerCPU any) *trace {
	result := &trace{
		Operation: operation, Status: status, TotalMS: human.MS(p.total()),
		BodyMS: human.MS(p.body), QueueMS: human.MS(p.queue),
		WorkMS: human.MS(p.work), FlushMS: human.MS(p.flush),
		AcquireMS: human.MS(t.Acquire), Statements: cost.Statements,
		RoundTrips: cost.RoundTrips, Retries: cost.Retries,
		TempTables: cost.TempTables, WALBytes: unavailable, BackendCPU: unavailable, WorkerCPU: workerCPU,
	}
	if t.WALBytes != nil {
		result.WALBytes = *t.WALBytes
	}
	if t.BackendCPU != nil {
		result.BackendCPU = human.MS(*t.BackendCPU)
	}
	var talked time.Duration
	for _, step := range t.Trips {
		talked += step.Took
		result.Trips = append(result.Trips, trip{human.MS(step.Took), step.Statements})
	}
	result.DatabaseMS = human.MS(talked)
	return result
}

// line is the header's value; names of statements are ours and need no escaping.
func (t *trace) line() string {
	text, err := json.Marshal(t)
	if err == nil && len(text) > traceHeaderMax {
		short := *t
		short.Trips = nil
		text, err = json.Marshal(short)
	}
	if err != nil {
		return ""
	}
	return string(text)
}

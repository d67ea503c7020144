package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/run/result"
)

// Metric is a figure that is compared.
type Metric struct {
	Name         string `json:"name"`
	Title        string `json:"title"`
	Unit         string `json:"unit,omitempty"`
	HigherBetter bool   `json:"higher_better,omitempty"`
	// Amount: this metric's margin and differences are amounts, not shares.
	Amount float64 `json:"amount,omitempty"`
	// Share: the figure is a share from 0 to 1.
	Share bool `json:"share,omitempty"`
	// average: the figure over all operations is the geometric mean, weighted by the mix.
	average bool
}

// weight: the share of an operation in the mix is among its figures.
const weight = "weight"

const wal = "wal_bytes"

// Figures of what a system leaves undone.
const (
	failedShare  = "failed_share"
	refusedShare = "refused_share"
	offMixShare  = "off_mix_share"
	throughput   = "ops_per_s"
)

// TraceSample is how many requests of the ERP there are to one that is traced for its log: rare operations are traced a
// few times in each run, and four more round trips in each of twenty requests are lost in the noise.
const TraceSample = 20

// MetricDefault decides the verdict by default.
const MetricDefault = "latency_ms"

// Smaller differences of scores, and of shares, count as equal.
const (
	apdexMargin  = 0.02
	failedMargin = 0.01
	// workMargin: chance decides which operations are refused, and how often each comes.
	workMargin = 0.05
)

// Metrics of a run.
var Metrics = []Metric{
	{Name: MetricDefault, Title: "mean latency", Unit: "ms", average: true},
	{Name: "latency_ms_p50", Title: "latency p50", Unit: "ms", average: true},
	{Name: "latency_ms_p95", Title: "latency p95", Unit: "ms", average: true},
	{Name: "latency_ms_p99", Title: "latency p99", Unit: "ms", average: true},
	{Name: "apdex", Title: "Apdex", HigherBetter: true, Amount: apdexMargin},
	{Name: throughput, Title: "throughput", Unit: "/s", HigherBetter: true},
	{Name: failedShare, Title: "failed, or refused for overload", Amount: failedMargin, Share: true},
	{Name: refusedShare, Title: "refused by a control", Amount: workMargin, Share: true},
	{Name: offMixShare, Title: "operations outside the mix", Amount: workMargin, Share: true},
	{Name: "database_cpu_ms", Title: "database CPU per operation", Unit: "ms"},
	{Name: sampledCPU, Title: "database CPU of an operation, from samples of its sessions", Unit: "ms"},
	{Name: sampledWaits, Title: "waits of an operation in the database, from samples of its sessions", Unit: "ms"},
	{Name: "workers_cpu_ms", Title: "workers' CPU per operation", Unit: "ms"},
	{Name: wal, Title: "WAL per request", Unit: "B"},
	{Name: "statements", Title: "statements per operation"},
	{Name: "round_trips", Title: "round trips per operation"},
	{Name: "rows", Title: "rows written per operation"},
	{Name: "temp_tables", Title: "temp tables per operation"},
	{Name: "truncates", Title: "truncated temp tables per operation"},
	{Name: "waits", Title: "waiting sessions, on average"},
}

// Figures from looks at the sessions: the operating system counts a backend's time and not an operation's.
const (
	sampledCPU   = "database_cpu_sampled_ms"
	sampledWaits = "database_waits_sampled_ms"
)

// setSampled splits the time of one answer in the database: on a processor, and waiting, also for a processor. Where
// the samples cannot tell these apart neither is known.
func (f figures) setSampled(operation string, ledger []result.LedgerLine, answers int64) {
	if len(ledger) == 0 || answers == 0 {
		return
	}
	var ran, waited float64
	for _, line := range ledger {
		switch line.Class {
		case diagnose.Unsplit:
			return
		case diagnose.OnCPU:
			ran += line.S
		case result.OfGenerator, result.Outside: // not in the database
		default:
			waited += line.S
		}
	}
	ran, waited = 1000*ran/float64(answers), 1000*waited/float64(answers)
	f.set(operation, sampledCPU, &ran)
	f.set(operation, sampledWaits, &waited)
}

// MetricNames lists the names of all metrics.
func MetricNames() (names []string) {
	for _, m := range Metrics {
		names = append(names, m.Name)
	}
	return names
}

// metricOf returns the metric of a name. A command's figure is better when higher if its name ends in _per_s, if it is
// a score, or if the command says so.
func metricOf(name string, higher []string) Metric {
	for _, m := range Metrics {
		if m.Name == name {
			return m
		}
	}
	return Metric{Name: name, Title: strings.ReplaceAll(name, "_", " "),
		HigherBetter: slices.Contains(higher, name) || strings.HasSuffix(name, "_per_s")}
}

type figures map[string]map[string]float64

func (f figures) set(operation, name string, value *float64) {
	if value == nil || math.IsNaN(*value) || math.IsInf(*value, 0) {
		return
	}
	if f[operation] == nil {
		f[operation] = map[string]float64{}
	}
	f[operation][name] = *value
}

// decide fails where the metric that decides is not among the figures: no further run could have it.
func (f figures) decide(metric, who string) error {
	of := []string{""}
	if metricOf(metric, nil).average {
		of = slices.Collect(maps.Keys(f))
	}
	for _, operation := range of {
		if _, found := f[operation][metric]; found {
			return nil
		}
	}
	there := slices.Sorted(maps.Keys(f[""]))
	hint := contract
	if len(there) > 0 {
		hint = human.NearestHint(metric, there,
			"--metric names the figure that decides; there are: "+strings.Join(there, ", "))
	}
	return problem.New(problem.Usage, fmt.Errorf("%s no figure %q, which decides the verdict", who, metric), hint)
}

// figuresOf a run.
func figuresOf(r *result.Result) figures {
	f := figures{}
	f.set("", "apdex", r.Apdex)
	f.set("", throughput, &r.OpsPerS)
	f.set("", "database_cpu_ms", r.Cost.DatabaseMS)
	f.set("", "workers_cpu_ms", r.Cost.WorkersMS)
	f.set("", wal, r.Cost.WALBytes)
	f.outcomes("", r.Totals)
	f.offMix(r.Operations)
	for _, op := range r.Operations {
		f.set(op.ID, weight, &op.Weight)
		if op.Ops == 0 {
			continue
		}
		rate := float64(op.OK+op.Refused) / max(1e-9, r.DurationS)
		f.latencies(op, 1000*r.Conditions.Load.TimeoutS)
		f.outcomes(op.ID, op.Totals)
		f.set(op.ID, "apdex", op.Apdex)
		f.set(op.ID, throughput, &rate)
		f.setSampled(op.ID, op.Ledger, op.OK+op.Refused)
	}
	if d := r.Diagnosis; d != nil {
		f.setSampled("", d.Ledger, r.OK+r.Refused)
	}
	f.requests(r.Cost.Requests)
	return f
}

// requests have what the application server knows of each kind.
func (f figures) requests(all []result.Request) {
	count, sums := 0.0, map[string]float64{}
	for _, q := range all {
		n := float64(q.Count)
		count += n
		for name, value := range map[string]float64{"statements": q.Statements, "round_trips": q.RoundTrips,
			"rows": q.Rows, "temp_tables": q.TempTables, "truncates": q.Truncates} {
			f.set(q.ID, name, &value)
			sums[name] += n * value
		}
		f.set(q.ID, wal, q.WALBytes) // that of all operations is what the server wrote
	}
	for name, sum := range sums {
		mean := sum / max(1, count)
		f.set("", name, &mean)
	}
}

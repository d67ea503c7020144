package run

import (
	"fmt"
	"time"

	"plimsoll/lab/apdex"
	"plimsoll/lab/result"
	"plimsoll/lab/tally"
)

// Limits beyond which a run's figures may not be quoted.
const (
	// LagLimitDefault: later than this in 1 of 100 operations, the load was not the one
	// that was asked for. It is a tenth of a second because that is the least a person
	// notices (R. B. Miller, 1968), and a fifth of the shortest target.
	LagLimitDefault = 100 * time.Millisecond
	// LagMax: a generator that once stood still this long let a whole minute of the
	// series go wrong, whatever its percentiles say. A larger limit of one's own counts here too.
	LagMax = 5 * time.Second
	// GeneratorCPUMax of all cores: beyond it, answers wait in the generator for a
	// core as they would in a queue that is half full, and the wait is taken for the
	// server's; on a shared machine it also takes from the server what is measured.
	GeneratorCPUMax = 0.5
	// OpsMin: fewer operations are a small group (apdex.SmallGroup).
	OpsMin = apdex.SmallGroup
)

// verdict collects what speaks against a run.
type verdict struct {
	reasons []string
	causes  []result.Cause
}

func (v *verdict) against(cause result.Cause, wrong bool, format string, args ...any) {
	if wrong {
		v.reasons, v.causes = append(v.reasons, fmt.Sprintf(format, args...)), append(v.causes, cause)
	}
}

// judge says whether the figures may be quoted.
func (r *running) judge(all *result.Result) {
	r.judgeRun(all)
	r.judgeGenerator(all)
	r.judgeBooks()
	all.InvalidReasons, all.InvalidCauses = append([]string{}, r.verdict.reasons...), r.verdict.causes
	all.Valid, all.Warnings = len(all.InvalidReasons) == 0, warnings(all)
}

// warnings name the operations that are lost in an overall score: one that always fails lowers it by its share only.
func warnings(all *result.Result) (texts []string) {
	if all.OK+all.Refused == 0 {
		return nil // which is a reason against the run
	}
	for _, op := range all.Unanswered(1) {
		texts = append(texts, fmt.Sprintf("%s never got a valid answer, %d of %d failed%s", op.ID, op.Errors+op.Overload, op.Ops, op.Failing()))
	}
	return texts
}

func (r *running) judgeRun(all *result.Result) {
	v := &r.verdict
	v.against(result.ByHand, r.stoppedByHand, "stopped by hand after %.1f s of %.1f s", all.DurationS, r.Duration.Seconds())
	v.against(result.ByHand, len(r.changes) > 0, "the load was changed by hand, %s", changesText(r.Users, r.changes))
	for _, d := range r.crew.dead() {
		v.against(result.ByAccident, true, "%s", d.text)
	}
	for _, wrong := range r.made.Wrong {
		v.against(result.ByAccident, true, "%s", wrong)
	}
	v.against(result.ByAccident, r.meter.clocks.slept > 0, "the machine slept for %s in mid-run", rounded(r.meter.clocks.slept))
	for _, url := range r.toldAfter.begunAnew(r.toldBefore) {
		v.against(result.ByAccident, true, "the application server %s was started again in mid-run", url)
	}
	v.against(result.ByAccident, r.restarted(), "the database server was restarted in mid-run")
	v.against(result.ByAccident, r.recovered(), "the database server crashed and recovered in mid-run")
	v.against(result.ByAccident, r.before != nil && r.after == nil, "the database server was lost in mid-run")
	v.against(result.ByFewness, all.Ops < OpsMin, "too few operations: %d, at least %d are needed", all.Ops, OpsMin)
	v.against(result.BySystem, all.Ops > 0 && all.OK+all.Refused == 0, "no operation got a valid answer")
}

func (r *running) judgeGenerator(all *result.Result) {
	v, g := &r.verdict, all.Generator
	still := max(LagMax, r.LagLimit)
	v.against(result.ByGenerator, g.LagMSP99 > milliseconds(r.LagLimit), "the generator lagged: p99 %.0f ms late, at most %.0f", g.LagMSP99, milliseconds(r.LagLimit))
	v.against(result.ByGenerator, g.LagMSMax > milliseconds(still), "the generator stood still: once %.1f s late, at most %.0f", g.LagMSMax/1000, still.Seconds())
	v.against(result.ByGenerator, g.CPUShare != nil && *g.CPUShare > GeneratorCPUMax, "the generator used %.0f %% of the processors, at most %.0f", 100*value(g.CPUShare), 100*GeneratorCPUMax)
}

func (r *running) judgeBooks() {
	v := &r.verdict
	v.against(result.ByBooks, !r.audit.Done && !r.audit.None, "the books could not be audited: %s", r.audit.Error)
	v.against(result.ByBooks, r.audit.Done && !r.audit.Clean, "the books are wrong: %d violations", r.audit.Violations)
}

func (r *running) restarted() bool {
	return r.before != nil && r.after != nil && !r.after.Started.Equal(r.before.Started)
}

// recovered from a crash of one of its processes, which the postmaster outlived: all sessions and what was not committed were lost.
func (r *running) recovered() bool {
	return r.before != nil && r.after != nil && !r.restarted() && r.after.Replayed != r.before.Replayed
}

func value(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func failures(sum [4]int64) int64 { return sum[tally.Failed] + sum[tally.Overload] }

func total(counts []int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

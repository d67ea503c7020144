package run

import (
	"fmt"
	"slices"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/result"
)

// Limits beyond which a run's figures may not be quoted.
const (
	// LagLimitDefault: if more than 1 % of the operations are later than this, the load was not the one asked for. It
	// is a tenth of a second because that is the least a person notices (R. B. Miller, 1968), and a fifth of the
	// shortest target.
	LagLimitDefault = 100 * time.Millisecond
	// LagMax: a generator that stood still this long once spoils a whole minute of the series, whatever its percentiles
	// say. A larger limit set by the user counts here too.
	LagMax = 5 * time.Second
	// GeneratorCPUMax of all cores: beyond it, answers wait in the generator for a core as in a queue that is half
	// full, and the wait would count as the server's; on a shared machine it also takes processors from the measured
	// server.
	GeneratorCPUMax = 0.5
	// OpsMin: fewer operations are a small group (apdex.SmallGroup).
	OpsMin = apdex.SmallGroup
)

// verdict collects the reasons against a run.
type verdict struct {
	reasons []string
	causes  []result.Cause
}

func (v *verdict) addReasonIf(cause result.Cause, wrong bool, format string, args ...any) {
	if wrong {
		v.reasons, v.causes = append(v.reasons, fmt.Sprintf(format, args...)), append(v.causes, cause)
	}
}

// judge decides whether the figures may be quoted.
func (r *record) judge(all *result.Result) {
	v := verdict{reasons: []string{}}
	r.judgeRun(&v, all)
	r.judgeGenerator(&v, all)
	r.judgeDisturbance(&v, all.Disturbance)
	r.judgeBooks(&v)
	all.InvalidReasons, all.InvalidCauses = v.reasons, v.causes
	all.Valid, all.Warnings = len(all.InvalidReasons) == 0, warnings(all)
	r.addMissing(all)
	all.Warnings = append(append(all.Warnings, r.made.Late...), r.sharedRows()...)
	if r.journalStop != nil {
		all.Warnings = append(all.Warnings, r.journalStop.String()+
			"; the figures come from the complete record in memory: free disk space before the next run")
	}
}

// warnings name what an overall score hides: an operation that always fails lowers it only by its share.
func warnings(all *result.Result) []string {
	return slices.Concat(unanswered(all), resent(all), shortages(all), lostWork(all), disturbedBelow(all))
}

// resent requests hide lost connections: their operations may have ended well.
func resent(all *result.Result) (texts []string) {
	for _, op := range all.Operations {
		if op.Resent > 0 {
			texts = append(texts, fmt.Sprintf(
				"%s: %d resent, %d failed: connections were lost and requests sent again",
				op.ID, op.Resent, op.Errors+op.Overload))
		}
	}
	return texts
}

// lostWork is in the database and in none of the run's counts.
func lostWork(all *result.Result) (texts []string) {
	if all.Reconciliation == nil {
		return nil
	}
	for _, row := range all.Reconciliation.Rows {
		if row.Lost {
			texts = append(texts, fmt.Sprintf("%s: %d are in the database, %d of them had been reported", row.What,
				row.Found, min(row.Found, row.Acknowledged)))
		}
	}
	return texts
}

func unanswered(all *result.Result) (texts []string) {
	if all.OK+all.Refused == 0 {
		return nil // already a reason against the run
	}
	for _, op := range all.Unanswered(1) {
		texts = append(texts, fmt.Sprintf("%s never got a valid answer, %d of %d failed%s", op.ID,
			op.Errors+op.Overload, op.Ops, op.Failing()))
	}
	return texts
}

func (r *record) judgeRun(v *verdict, all *result.Result) {
	v.addReasonIf(result.ByUser, r.stoppedByUser, "stopped by the user after %.1f s of %.1f s", all.DurationS,
		r.Duration.Seconds())
	v.addReasonIf(result.ByUser, len(r.changes) > 0, "the load was changed by the user, %s", changesText(r.Users,
		r.changes))
	for _, d := range r.workerExits {
		v.addReasonIf(result.ByAccident, true, "%s", d.text)
	}
	for _, wrong := range r.made.Wrong {
		v.addReasonIf(result.ByAccident, true, "%s", wrong)
	}
	v.addReasonIf(result.ByAccident, r.meters.slept > 0, "the machine slept for %s in mid-run",
		rounded(r.meters.slept))
	for _, url := range r.profilesAfter.restartedSince(r.profilesBefore) {
		v.addReasonIf(result.ByAccident, true, "the application server %s was started again in mid-run", url)
	}
	v.addReasonIf(result.ByAccident, r.restarted(), "%s",
		r.withServerLog("the database server was restarted in mid-run"))
	v.addReasonIf(result.ByAccident, r.recovered(), "%s",
		r.withServerLog("the database server crashed and recovered in mid-run"))
	v.addReasonIf(result.ByAccident, r.before != nil && r.after == nil, "%s",
		r.withServerLog("the database server was lost in mid-run"))
	unanswered := all.Ops > 0 && all.OK+all.Refused == 0 || r.failedAlike != ""
	v.addReasonIf(result.ByFewness, all.Ops < OpsMin && !unanswered, // more of them would fail as well
		"too few operations: %d, at least %d are needed", all.Ops, OpsMin)
	v.addReasonIf(result.BySystem, unanswered, "%s", r.noAnswer())
	v.addReasonIf(result.BySystem, all.OK == 0 && all.Refused > 0,
		"nobody was served: all %d valid answers were refusals", all.Refused)
	judgeRefusals(v, all)
	judgeShortages(v, all)
	judgeCoverage(v, all)
	full := diskFull(all)
	v.addReasonIf(result.BySystem, full > 0,
		"the disk of the database was full (SQLSTATE 53100): %d operations failed by it; free disk space", full)
}

// diskFull counts the operations that failed because the database's disk was full, as far as their errors are stored.
func diskFull(all *result.Result) (n int64) {
	for _, op := range all.Operations {
		for _, e := range op.ErrorTexts {
			if e.SQLState == "53100" {
				n += e.Count
			}
		}
	}
	return n
}

func (r *record) judgeGenerator(v *verdict, all *result.Result) {
	g := all.Generator
	still := max(LagMax, r.LagLimit)
	v.addReasonIf(result.ByGenerator, g.LagMSP99 > human.MS(r.LagLimit),
		"the generator lagged: p99 %.0f ms late, limit %.0f ms", g.LagMSP99, human.MS(r.LagLimit))
	v.addReasonIf(result.ByGenerator, g.LagMSMax > human.MS(still),
		"the generator stood still: once %.1f s late, limit %.0f s", g.LagMSMax/1000, still.Seconds())
	v.addReasonIf(result.ByGenerator, g.CPUShare != nil && *g.CPUShare > GeneratorCPUMax,
		"the generator used %.0f %% of the processors, limit %.0f %%",
		100*result.ValueOrZero(g.CPUShare), 100*GeneratorCPUMax)
	r.judgeOwnWaits(v, all)
}

func (r *record) judgeBooks(v *verdict) {
	v.addReasonIf(result.ByBooks, !r.audit.Done && !r.audit.None, "the books could not be audited: %s", r.audit.Error)
	judgeReconciliation(v, r.reconciliation)
	after, before := r.audit, r.auditedBefore
	wrong := after.Done && !after.Clean
	switch {
	case before == nil || !before.Done:
		v.addReasonIf(result.ByBooks, wrong, "the books are wrong: %d violations", after.Violations)
	case before.Clean:
		v.addReasonIf(result.ByBooks, wrong, "the books went wrong in this run: %d violations, none before it",
			after.Violations)
	default:
		v.addReasonIf(result.ByBooks, true, "the books were wrong before the run: %d violations, %d after it",
			before.Violations, after.Violations)
	}
}

func (r *record) restarted() bool {
	return r.before != nil && r.after != nil && !r.after.Started.Equal(r.before.Started)
}

// recovered: the server crashed with one of its processes and the postmaster survived; all sessions and uncommitted
// work were lost.
func (r *record) recovered() bool {
	return r.before != nil && r.after != nil && !r.restarted() && r.after.Replayed != r.before.Replayed
}

func failures(sum [4]int64) int64 { return sum[tally.Failed] + sum[tally.Overload] }

func total(counts []int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

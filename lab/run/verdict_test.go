package run

import (
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres"
	"plimsoll/lab/load"
	"plimsoll/lab/run/result"
)

func TestVerdict(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	began := time.Now()
	for _, c := range []struct {
		name  string
		spoil func(*record, *result.Result)
		want  string // text in the only reason; empty: valid
		cause result.Cause
	}{
		{"NothingWrongIsValid", func(*record, *result.Result) {}, "", ""},
		{"LagAtTheLimitIsValid", func(_ *record, r *result.Result) { r.Generator.LagMSP99 = 100 }, "", ""},
		{"LagBeyondTheLimit", func(_ *record, r *result.Result) { r.Generator.LagMSP99 = 101 },
			"p99 101 ms late, limit 100", result.ByGenerator},
		{"StoodStillOnce", func(_ *record, r *result.Result) { r.Generator.LagMSMax = 6000 }, "once 6.0 s late",
			result.ByGenerator},
		{"GeneratorUsedTooMuch", func(_ *record, r *result.Result) { r.Generator.CPUShare = at(0.51) },
			"51 % of the processors", result.ByGenerator},
		{"OwnLagLimitHolds", func(s *record, r *result.Result) {
			s.LagLimit, r.Generator.LagMSP99, r.Generator.LagMSMax = time.Minute, 5000, 59000
		}, "", ""},
		{"CPUUnknownIsNoReason", func(_ *record, r *result.Result) { r.Generator.CPUShare = nil }, "", ""},
		{"TooFew", func(_ *record, r *result.Result) {
			r.Ops = 99
			r.OK = 99
		}, "too few operations: 99", result.ByFewness},
		{"NothingAnswered", func(_ *record, r *result.Result) { r.OK = 0 }, "no operation got a valid answer",
			result.BySystem},
		{"RefusalsThatWereExpected", func(_ *record, r *result.Result) {
			r.Operations = []result.Operation{{ID: "a", Totals: result.Totals{Ops: 200, OK: 20, Refused: 180},
				RefusedExpected: 0.9}}
		}, "", ""},
		{"SomeMoreRefusals", func(_ *record, r *result.Result) {
			r.Operations = []result.Operation{{ID: "a", Totals: result.Totals{Ops: 200, OK: 174, Refused: 26},
				RefusedExpected: 0.03}}
		}, "", ""},
		{"MoreRefusalsByChance", func(_ *record, r *result.Result) { // the interval begins at 10.8 %
			r.Operations = []result.Operation{{ID: "a", Totals: result.Totals{Ops: 10, OK: 7, Refused: 3},
				RefusedExpected: 0.03}}
		}, "", ""},
		{"MoreRefusalsThanTenPoints", func(_ *record, r *result.Result) { // 14.9 %
			r.Operations = []result.Operation{{ID: "a", Totals: result.Totals{Ops: 200, OK: 160, Refused: 40},
				RefusedExpected: 0.03}}
		}, "a was refused 40 times of 200 (20 %), 3 % were expected", result.BySystem},
		{"MoreRefusalsOfAll", func(_ *record, r *result.Result) { r.OK, r.Refused = 160, 40 },
			"40 of 200 operations were refused (20 %), 0 % were expected", result.BySystem},
		{"FarMoreRefusals", func(_ *record, r *result.Result) {
			r.Operations = []result.Operation{{ID: "a", Totals: result.Totals{Ops: 200, OK: 80, Refused: 120},
				RefusedExpected: 0.03}}
		}, "a was refused 120 times of 200 (60 %), 3 % were expected", result.BySystem},
		{"AFewOfFew", func(_ *record, r *result.Result) {
			r.Operations = []result.Operation{{ID: "a", Totals: result.Totals{Ops: 9, Refused: 9}}}
		}, "", ""},
		{"NobodyServedThoughExpected", func(_ *record, r *result.Result) {
			r.OK, r.Refused = 0, 200
			r.Operations = []result.Operation{{ID: "a", Totals: result.Totals{Ops: 200, Refused: 200},
				RefusedExpected: 1}}
		}, "nobody was served: all 200 valid answers were refusals", result.BySystem},
		{"AllRefusedByFew", func(_ *record, r *result.Result) { r.OK, r.Refused = 0, 200 },
			"nobody was served", result.BySystem},
		{"OneThatNeverRan", func(_ *record, r *result.Result) {
			r.Operations = []result.Operation{{ID: "a", Weight: 0.9, Totals: result.Totals{Ops: 200, OK: 200}},
				{ID: "b", Weight: 0.1}}
		}, "b never ran, 20 times were expected", result.ByLoad},
		{"OneThatNeverRanByChance", func(_ *record, r *result.Result) {
			r.Operations = []result.Operation{{ID: "a", Weight: 0.99, Totals: result.Totals{Ops: 200, OK: 200}},
				{ID: "b", Weight: 0.01}}
		}, "", ""},
		{"FewerThanItsLeastCount", func(_ *record, r *result.Result) {
			r.Operations = []result.Operation{{ID: "a", Weight: 0.99, Totals: result.Totals{Ops: 198, OK: 198}},
				{ID: "b", Weight: 0.01, Least: 3, Totals: result.Totals{Ops: 4, OK: 1, Refused: 1, Errors: 2}}}
		}, "b was answered 2 times, its least count is 3", result.ByFewness},
		{"AsManyAsItsLeastCount", func(_ *record, r *result.Result) {
			r.Operations = []result.Operation{{ID: "a", Weight: 0.99, Totals: result.Totals{Ops: 198, OK: 198}},
				{ID: "b", Weight: 0.01, Least: 2, Totals: result.Totals{Ops: 2, OK: 1, Refused: 1}}}
		}, "", ""},
		{"WrongBooks", func(s *record, _ *result.Result) {
			s.audit.Clean = false
			s.audit.Violations = 3
		}, "3 violations", result.ByBooks},
		{"WrongBeforeIt", func(s *record, _ *result.Result) {
			s.audit.Clean, s.audit.Violations = false, 3
			s.auditedBefore = &result.Audit{Done: true, Violations: 2}
		}, "wrong before the run: 2 violations, 3 after it", result.ByBooks},
		{"WrongSince", func(s *record, _ *result.Result) {
			s.audit.Clean, s.audit.Violations = false, 3
			s.auditedBefore = &result.Audit{Done: true, Clean: true}
		}, "went wrong in this run: 3 violations, none before it", result.ByBooks},
		{"NobodyCouldLookBefore", func(s *record, _ *result.Result) {
			s.audit.Clean, s.audit.Violations = false, 3
			s.auditedBefore = &result.Audit{Error: "no"}
		}, "the books are wrong: 3 violations", result.ByBooks},
		{"NoAudit", func(s *record, _ *result.Result) { s.audit = result.Audit{Error: "connection refused"} },
			"could not be audited: connection refused", result.ByBooks},
		{"Restarted", func(s *record, _ *result.Result) {
			s.after = &postgres.Server{Started: began.Add(
				time.Second)}
		}, "restarted in mid-run", result.ByAccident},
		{"Recovered", func(s *record, _ *result.Result) {
			s.after = &postgres.Server{Started: began,
				Replayed: "0/1A2B3C"}
		}, "crashed and recovered in mid-run", result.ByAccident},
		{"RestartedAndRecovered", func(s *record, _ *result.Result) {
			s.after = &postgres.Server{Started: began.Add(time.Second), Replayed: "0/1A2B3C"}
		}, "restarted in mid-run", result.ByAccident},
		{"WorkerBegunAnew", func(s *record, _ *result.Result) {
			s.profilesBefore = profiles{"http://a": {Started: began}}
			s.profilesAfter = profiles{"http://a": {Started: began.Add(time.Second)}}
		}, "http://a was started again in mid-run", result.ByAccident},
		{"Lost", func(s *record, _ *result.Result) { s.after = nil }, "lost in mid-run", result.ByAccident},
		{"WorkerDied", func(s *record, _ *result.Result) {
			s.workerExits = []workerExit{{began, "worker 1 died: signal: killed"}}
		}, "worker 1 died", result.ByAccident},
		{"Stopped", func(s *record, _ *result.Result) { s.stoppedByUser = true },
			"stopped by the user after 12.0 s of 30.0 s", result.ByUser},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := &postgres.Server{Started: began}
			s := &record{
				Options: Options{Load: load.Load{Duration: 30 * time.Second}, LagLimit: LagLimitDefault},
				before:  server, after: server, audit: result.Audit{Done: true, Clean: true},
			}
			r := &result.Result{DurationS: 12, Totals: result.Totals{Ops: 200, OK: 200},
				Generator: result.Generator{CPUShare: at(0.5)}}
			c.spoil(s, r)
			s.judge(r)
			if c.want == "" {
				if !r.Valid || len(r.InvalidReasons)+len(r.InvalidCauses) != 0 {
					t.Errorf("want no reason, got %q", r.InvalidReasons)
				}
				return
			}
			if r.Valid || len(r.InvalidReasons) != 1 || !strings.Contains(r.InvalidReasons[0], c.want) {
				t.Errorf("%q, want only one about %q", r.InvalidReasons, c.want)
			}
			if len(r.InvalidCauses) != 1 || r.InvalidCauses[0] != c.cause {
				t.Errorf("the cause is %q, want %q", r.InvalidCauses, c.cause)
			}
		})
	}
}

func TestMeter(t *testing.T) {
	used := func(s float64) *time.Duration { d := time.Duration(s * float64(time.Second)); return &d }
	m := readings{cores: 2}
	for second, cpu := range []float64{10, 11, 13, 13} { // 50 %, 100 %, 0 % of two cores
		m.processors = append(m.processors, reading{at: time.Duration(second) * time.Second})
		m.processors[second].used[generatorCPU] = used(cpu)
	}
	m.processors[2].used[databaseCPU], m.processors[3].used[databaseCPU] = used(1), used(2)
	for _, c := range []struct {
		name     string
		which    int
		from, to float64
		want     float64 // -1: not known
	}{
		{"OneSecond", generatorCPU, 0, 1, 0.5},
		{"BetweenReadings", generatorCPU, 0.5, 1.5, 0.75},
		{"ToTheEndWhenAskedBeyond", generatorCPU, 2, 99, 0},
		{"NotKnownBeforeItWasThere", databaseCPU, 0, 3, -1},
		{"KnownAfter", databaseCPU, 2, 3, 0.5},
		{"NeverRead", workersCPU, 0, 3, -1},
		{"NoTime", generatorCPU, 1, 1, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			second := float64(time.Second)
			got := m.share(c.which, time.Duration(c.from*second), time.Duration(c.to*second))
			if c.want < 0 && got != nil || c.want >= 0 && (got == nil || *got < c.want-1e-9 || *got > c.want+1e-9) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

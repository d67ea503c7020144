package run

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/lab/load/users"
)

// timed measures how long the log-in took.
type timed struct {
	Local
	logIn time.Duration
}

func (t *timed) LogIn(ctx context.Context, plan Plan, done *atomic.Int64) error {
	began := time.Now()
	defer func() { t.logIn = time.Since(began) }()
	return t.Local.LogIn(ctx, plan, done)
}

// BenchmarkUsers makes real runs and reads what their users cost the generator: memory in all
// for each, memory for each beyond the first thousand, what is estimated for each of one run, and processor time.
//
//	go test ./lab/run -run '^$' -bench Users -benchtime 1x
func BenchmarkUsers(b *testing.B) {
	first, least := 0.0, 0
	for _, n := range []int{1000, 10_000, 30_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := base(b)
			o.Users, o.Ramp, o.Duration = n, 2*time.Second, 20*time.Second
			o.Think = &users.Think{Mean: 20 * time.Minute}
			local := &timed{}
			o.Generator = local
			r := mustRun(b, b.Context(), o)
			live := r.Footprints[0]
			bytes := (*live.UnderLoad - live.BeforeLogIn) / float64(n)
			b.ReportMetric(0, "ns/op") // the length of the run has no meaning
			b.ReportMetric(bytes, "B/user")
			b.ReportMetric(*live.PerUser, "B/user-estimated")
			if least == 0 {
				first, least = bytes*float64(n), n
			} else {
				b.ReportMetric((bytes*float64(n)-first)/float64(n-least), "B/further-user")
			}
			if cpu := r.Generator.CPUShare; cpu != nil && r.Ops > 0 {
				seconds := *cpu * float64(r.Conditions.Machine.Cores) * r.DurationS
				b.ReportMetric(1e6*seconds/float64(n)/r.DurationS, "cpu-µs/user/s")
				b.ReportMetric(1e6*seconds/float64(r.Ops), "cpu-µs/operation")
			}
			b.ReportMetric(float64(n)/local.logIn.Seconds(), "log-ins/s")
			b.ReportMetric(r.Generator.LagMSP99, "lag-p99-ms")
		})
	}
}

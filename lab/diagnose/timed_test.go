package diagnose

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/counters"
	"plimsoll/test/patience"
)

// clock of a server that timed its waits for the ten seconds of plant: seconds and number by event.
func clock(waits map[string]Timed, endedS float64) figures {
	rows := map[string]map[string]float64{"clock": {"ms_time": 10_000}}
	for event, t := range waits {
		rows[event] = map[string]float64{"ms_time": 1000 * t.S, "waits": t.Waits, "ended_ms_time": 1000 * endedS}
	}
	return figures{counters.WaitTimes: rows}
}

func TestTimedAndSampled(t *testing.T) {
	// 200 looks for 50 ms each: one session waits for the disk all the time, one runs.
	sessions := func(m *measured) { m.server.TimesWaits = true }
	off := func(m *measured) { m.server.TimesWaits = false }
	const disk = "IO:DataFileRead"
	for _, c := range []struct {
		name   string
		change func(*measured)
		grown  figures
		want   Verdict
	}{
		{"TheSame", sessions, clock(map[string]Timed{disk: {10, 0}}, 0), Agrees},
		{"WithinTheErrorOfSamples", sessions, clock(map[string]Timed{disk: {9, 100_000}}, 0), Agrees},
		{"HalfIsNotTimed", sessions, clock(map[string]Timed{disk: {5, 100_000}}, 0), Contradicts},
		{"NothingIsTimed", sessions, clock(nil, 0), Contradicts},
		{"TimedAndNotSampled", sessions, clock(map[string]Timed{disk: {10, 0}, "Lock:tuple": {8, 2}}, 0), Contradicts},
		{"WaitsForClientsAreLeftOut", sessions, clock(map[string]Timed{disk: {10, 0}, "Client:ClientRead": {80, 9}}, 0),
			Agrees},
		{"OfEndedProcesses", sessions, clock(map[string]Timed{disk: {10, 0}}, 5), Unknown},
		{"Off", off, clock(map[string]Timed{disk: {10, 0}}, 0), Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := plant(c.change, c.grown, active(1, disk, "SELECT"), active(2, "", "SELECT"))
			if got := timedAndSampled(m); got.Verdict != c.want {
				t.Errorf("%+v, want %s", got, c.want)
			}
		})
	}
}

// Sessions that each wait for one thing all the time, on an engine that times waits: the server's clock shows each wait
// that is still running, and agrees with the samples.
func TestRun_TimedWaitsStandBesideTheSampledOnes(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	watcher := clustertest.Connect(t, dsn, "test")
	var can bool
	if err := watcher.QueryRow(t.Context(), "SELECT current_setting('track_wait_timing', true) IS NOT NULL").
		Scan(&can); err != nil || !can {
		t.Skipf("the engine cannot time its waits: %v", err)
	}
	execute(t, watcher, "CREATE EXTENSION plimsoll; DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET "+
		"track_wait_timing = on', current_database()); END $$")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	const sleepers, victims = 4, 2
	begin := func(n int, sql string) {
		for range n {
			conn := clustertest.Connect(t, dsn, "known")
			go func() {
				_, _ = conn.Exec(ctx, sql)
				ended <- struct{}{}
			}()
		}
	}
	execute(t, watcher, "SELECT pg_advisory_lock(4712)")
	begin(sleepers, "SELECT pg_sleep(3600)")
	begin(victims, "SELECT pg_advisory_lock(4712)")
	t.Cleanup(func() {
		stop()
		for range sleepers + victims {
			<-ended
		}
	})
	patience.Until(t, "all wait", func() bool {
		var n int
		err := watcher.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'known' "+
			"AND wait_event IN ('PgSleep', 'advisory') AND datname = current_database()").Scan(&n)
		return err == nil && n == sleepers+victims
	})
	d, err := Run(patience.Context(t), Options{DSN: dsn, Duration: time.Second, Rate: RateDefault})
	if err != nil {
		t.Fatal(err)
	}
	timed := map[string]float64{}
	for _, line := range d.Ledger.Lines {
		for _, e := range line.Events {
			if e.Timed != nil {
				timed[e.Name] = e.Timed.S
			}
		}
	}
	if got := timed["Timeout:PgSleep"] / timed["Lock:advisory"]; math.Abs(got-float64(sleepers)/victims) > errorMost {
		t.Errorf("%d sleepers and %d victims, and the server's clock says %v", sleepers, victims, timed)
	}
	for _, c := range d.Contradictions {
		if c.Name == "timed and sampled waits" && c.Verdict != Agrees {
			t.Errorf("contradiction %+v, want agreement", c)
		}
	}
	var b strings.Builder
	if err := d.Text(&b); err != nil || !strings.Contains(b.String(), "timed ") {
		t.Errorf("the report has no exact times, %v:\n%s", err, b.String())
	}
}

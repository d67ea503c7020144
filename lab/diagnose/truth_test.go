package diagnose

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/waits"
	"plimsoll/test/patience"
)

// errorMost of a share of the ledger, against the truth.
const errorMost = 0.05

// phase of a synthetic session: what it waits for, and how long on average.
type phase struct {
	state, event string
	class        string
	mean         time.Duration
}

// synthetic is a session that goes through its phases in turn, each of a random length.
type synthetic struct {
	phases []phase
	now    int
	until  time.Duration
	rng    *rand.Rand
}

// at a moment: its phase. Time in each phase is added to the truth.
func (s *synthetic) at(to time.Duration, from *time.Duration, truth map[string]float64) phase {
	for s.until <= to {
		truth[s.phases[s.now].class] += (s.until - *from).Seconds()
		*from = s.until
		s.now = (s.now + 1) % len(s.phases)
		s.until += time.Duration(s.rng.ExpFloat64() * float64(s.phases[s.now].mean))
	}
	truth[s.phases[s.now].class] += (to - *from).Seconds()
	*from = to
	return s.phases[s.now]
}

// A synthetic server whose waits are known: most of them shorter than the distance of two looks, which come late at
// random, as on a busy machine, and sometimes not at all for a while.
func TestLedger_IsTrueToAServerOfKnownWaits(t *testing.T) {
	scripts := [][]phase{
		{{"active", "", string(waits.Running), 3 * time.Millisecond},
			{"active", "IO:DataFileRead", string(waits.IO), 2 * time.Millisecond},
			{"active", "IO:WalSync", string(waits.WAL), 5 * time.Millisecond}},
		{{"active", "Lock:transactionid", string(waits.Lock), 400 * time.Millisecond},
			{"active", "", string(waits.Running), 100 * time.Millisecond}},
		{{"idle in transaction", "Client:ClientRead", string(waits.Client), 30 * time.Millisecond},
			{"active", "LWLock:BufferContent", string(waits.Latch), 10 * time.Millisecond}},
	}
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 1))
		truth, from := map[string]float64{}, make([]time.Duration, len(scripts))
		var sessions []*synthetic
		for i, script := range scripts {
			sessions = append(sessions, &synthetic{phases: script, rng: rand.New(rand.NewPCG(seed, uint64(i+2)))})
		}
		b, last, begin := newBook(), time.Duration(0), time.Unix(1000, 0)
		for now := time.Duration(0); now < 2*time.Minute; {
			next := now + tick + time.Duration(rng.ExpFloat64()*float64(tick)/4)
			if rng.IntN(100) == 0 {
				next += 8 * tick
			}
			now = next
			l := look{at: begin.Add(now), covers: now - last}
			last = now
			for i, s := range sessions {
				p := s.at(now, &from[i], truth)
				l.sessions = append(l.sessions, at(i+1, p.state, p.event, "SELECT 1"))
			}
			b.take(l)
		}
		all := 0.0
		for _, seconds := range truth {
			all += seconds
		}
		ledger := b.ledger(nil, "not split")
		for class, seconds := range truth {
			if got := ledger.share(class); math.Abs(got-seconds/all) > errorMost {
				t.Errorf("seed %d: %s has %.3f of the time, and the ledger says %.3f", seed, class, seconds/all, got)
			}
		}
		if math.Abs(ledger.TotalS-all) > errorMost*all {
			t.Errorf("seed %d: %.1f s of sessions, and the ledger has %.1f", seed, all, ledger.TotalS)
		}
	}
}

// A real server whose sessions each wait for one thing all the time: the shares are known whatever the machine does.
func TestRun_LedgerIsTrueToSessionsOfKnownWaits(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	holder := clustertest.Connect(t, dsn, "holder")
	execute(t, holder, "BEGIN; SELECT pg_advisory_xact_lock(4711)")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	begin := func(sql string) {
		conn := clustertest.Connect(t, dsn, "known")
		go func() {
			_, _ = conn.Exec(ctx, sql)
			ended <- struct{}{}
		}()
	}
	const sleepers, victims = 5, 2
	for range sleepers {
		begin("SELECT pg_sleep(3600)")
	}
	for range victims {
		begin("SELECT pg_advisory_lock(4711)")
	}
	t.Cleanup(func() {
		stop()
		for range sleepers + victims {
			<-ended
		}
	})
	watcher := clustertest.Connect(t, dsn, "test")
	patience.Until(t, "all wait", func() bool {
		var n int
		err := watcher.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'known' "+
			"AND "+
			"wait_event IN ('PgSleep', 'advisory') AND datname = current_database()").Scan(&n)
		return err == nil && n == sleepers+victims
	})
	d, err := Run(patience.Context(t), Options{DSN: dsn, Duration: time.Second, Rate: RateDefault})
	if err != nil {
		t.Fatal(err)
	}
	const all = sleepers + victims + 1
	for class, n := range map[waits.Class]float64{waits.Sleep: sleepers, waits.Lock: victims, waits.Client: 1} {
		if got := d.Ledger.share(string(class)); math.Abs(got-n/all) > errorMost {
			t.Errorf("%s has %.3f of the time, and the ledger says %.3f: %+v", class, n/all, got, d.Ledger.Lines)
		}
	}
}

package confusion

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/process"
)

const (
	slowFlush = 5 * time.Millisecond
	slowTrip  = 2 * time.Millisecond
)

// atLeast checks the shortest time of some calls.
func (s *scene) atLeast(what string, least time.Duration, application string, call step) {
	s.checked(func(ctx context.Context) (string, bool) {
		conn, err := s.connect(ctx, application)
		if err != nil {
			return err.Error(), false
		}
		defer conn.Close(context.WithoutCancel(ctx))
		shortest := time.Hour
		for range 5 {
			began := time.Now()
			if err := call(ctx, conn, nil); err != nil {
				return err.Error(), false
			}
			shortest = min(shortest, time.Since(began))
		}
		return fmt.Sprintf("%s: %s at the shortest, at least %s", what, shortest.Round(10*time.Microsecond), least),
			shortest >= least
	})
}

// checkAtLeast checks the shortest time of a statement.
func checkAtLeast(what string, least time.Duration, sql string) func(context.Context, *scene) error {
	return func(_ context.Context, s *scene) error {
		s.atLeast(what, least, "check", statement(sql))
		return nil
	}
}

const oneCommit = "UPDATE counters SET n = n + 1 WHERE id = 100"

// waitForLocks checks how many sessions wait for locks while it lasts.
func (s *scene) waitForLocks(least float64) {
	s.waiting("a lock", least, "wait_event_type = 'Lock'", 500*time.Millisecond)
}

// waitForLog checks how many sessions wait for the log while it lasts.
func (s *scene) waitForLog(least float64) {
	s.waiting("the log", least, "backend_type = 'client backend' AND wait_event ILIKE 'wal%'", 300*time.Millisecond)
}

// waiting checks how many sessions are in a state on average, looking again after each pause.
func (s *scene) waiting(what string, least float64, condition string, pause time.Duration) {
	looks, sum := 0, 0.0
	s.during(func(ctx context.Context) {
		for ctx.Err() == nil {
			sum += s.number(ctx, "SELECT count(*) FROM pg_stat_activity WHERE "+condition)
			looks++
			sleep(ctx, pause)
		}
	})
	s.checked(func(context.Context) (string, bool) {
		s.cancel()
		s.running.Wait()
		mean := sum / max(1, float64(looks))
		return fmt.Sprintf("sessions that wait for %s: %.1f, at least %.1f", what, mean, least), mean >= least
	})
}

// hotRow is held by a client that does nothing; three others need it.
func hotRow(ctx context.Context, s *scene) error {
	holder, err := s.connect(ctx, "clerk")
	if err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { return holder.Close(context.Background()) })
	if _, err := holder.Exec(ctx, "BEGIN; UPDATE counters SET n = n + 1 WHERE id = 1"); err != nil {
		return err
	}
	s.clients(3, "shop", 0, func(ctx context.Context, conn *pgx.Conn, _ *rand.Rand) error {
		_, err := conn.Exec(ctx, "UPDATE counters SET n = n + 1 WHERE id = 1")
		return err
	})
	s.waitForLocks(2)
	return nil
}

// lockWaits: each transaction works for a while after it has locked one of two rows.
func lockWaits(_ context.Context, s *scene) error {
	s.clients(6, "shop", 5*time.Millisecond, func(ctx context.Context, conn *pgx.Conn, rng *rand.Rand) error {
		_, err := conn.Exec(ctx, fmt.Sprintf("BEGIN; UPDATE counters SET n = n + 1 WHERE id = %d; "+
			"SELECT sum(length(md5(n::text))) FROM generate_series(1, 20000) n; COMMIT", 1+rng.IntN(2)))
		return err
	})
	s.waitForLocks(1)
	return nil
}

// tableLock: a job locks the customers, and works for a while.
func tableLock(_ context.Context, s *scene) error {
	s.clients(1, "job", 50*time.Millisecond, statement("BEGIN; LOCK TABLE customers; "+
		"SELECT sum(length(md5((n + m)::text))) FROM generate_series(1, 20000) n, generate_series(1, 10) m; COMMIT"))
	s.waitForLocks(1)
	return nil
}

// queuedMigration: a reader has forgotten to commit, a migration waits for it, and whoever comes later waits behind the
// migration, readers included.
func queuedMigration(ctx context.Context, s *scene) error {
	reader, err := s.connect(ctx, "analyst")
	if err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { return reader.Close(context.Background()) })
	if _, err := reader.Exec(ctx, "BEGIN; SELECT count(*) FROM customers WHERE id = 1"); err != nil {
		return err
	}
	s.clients(1, "migration", 0, statement("ALTER TABLE customers ADD COLUMN IF NOT EXISTS notes text"))
	s.waitForLocks(2)
	return nil
}

// commitDelay of everybody. A commit that joins others waits for a part of it; without one it takes a fraction of a
// millisecond.
const commitDelay = 20 * time.Millisecond

// concurrentCommits of one row each, without a pause.
func concurrentCommits(ctx context.Context, s *scene) error {
	s.clients(16, "meters", 0, func(ctx context.Context, conn *pgx.Conn, rng *rand.Rand) error {
		_, err := conn.Exec(ctx, "UPDATE counters SET n = n + 1 WHERE id = $1", 1+rng.IntN(100))
		return err
	})
	s.waitForLog(0.5)
	return nil
}

// connectionStorm: a connection for each statement.
func connectionStorm(ctx context.Context, s *scene) error {
	for range 6 {
		s.during(func(ctx context.Context) {
			for ctx.Err() == nil {
				if conn, err := s.connect(ctx, "script"); err == nil {
					_, _ = conn.Exec(ctx, "SELECT 1")
					conn.Close(context.WithoutCancel(ctx))
				}
			}
		})
	}
	s.grows(ctx, "new sessions", "SELECT sessions FROM pg_stat_database WHERE datname = current_database()", 20)
	return nil
}

// largeResults that clients read slowly.
func largeResults(ctx context.Context, s *scene) error {
	s.clients(3, "export", 0, func(ctx context.Context, conn *pgx.Conn, _ *rand.Rand) error {
		rows, err := conn.Query(ctx, "SELECT * FROM orders")
		if err != nil {
			return err
		}
		defer rows.Close()
		for n := 0; rows.Next(); n++ {
			if n%1000 == 0 {
				sleep(ctx, 20*time.Millisecond)
			}
		}
		return rows.Err()
	})
	s.grows(ctx, "rows read", "SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_user_tables WHERE relname = 'orders'",
		5000)
	return nil
}

// globalStall stops all of the server's processes for a while, each second.
func globalStall(ctx context.Context, s *scene) error {
	const still, goes = 400 * time.Millisecond, 600 * time.Millisecond
	root, err := process.Of(s.server.PID())
	if err != nil {
		return err
	}
	times := 0
	began := time.Now()
	s.during(func(ctx context.Context) {
		for ctx.Err() == nil {
			stopAll(root, still)
			times++
			sleep(ctx, goes)
		}
	})
	s.checked(func(context.Context) (string, bool) {
		s.cancel()
		s.running.Wait()
		share := float64(times) * still.Seconds() / time.Since(began).Seconds()
		return fmt.Sprintf("stopped for %.0f %% of the time, at least 15 %%", 100*share), share >= 0.15
	})
	return nil
}

// Stalls of the server, at random: each comes after a pause of half to one and a half of Every, so that a trial that is
// some times as long has some.
type Stalls struct{ For, Every time.Duration }

// stalled are the stalls that have ended.
type stalled struct {
	mu   sync.Mutex
	each [][2]time.Time // begin and end
}

func (s *stalled) add(began, ended time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.each = append(s.each, [2]time.Time{began, ended})
}

// within counts those that began and ended between two moments.
func (s *stalled) within(from, to time.Time) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.each {
		if !one[0].Before(from) && !one[1].After(to) {
			n++
		}
	}
	return n
}

// randomStalls: all processes stop together, at random.
func randomStalls(_ context.Context, s *scene) error {
	root, err := process.Of(s.server.PID())
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(uint64(s.trials), 39))
	s.during(func(ctx context.Context) {
		for {
			sleep(ctx, time.Duration((0.5+rng.Float64())*float64(s.Stalls.Every)))
			if ctx.Err() != nil {
				return
			}
			began := time.Now()
			stopAll(root, s.Stalls.For)
			s.stalls.add(began, time.Now())
		}
	})
	return nil
}

// stopAll for a while. The postmaster first, so that no process is made after the list.
func stopAll(root process.ID, still time.Duration) {
	all := []process.ID{root}
	defer func() {
		for _, one := range all {
			_ = one.Signal(syscall.SIGCONT)
		}
	}()
	if root.Signal(syscall.SIGSTOP) != nil {
		return
	}
	family, err := root.Descendants()
	if err != nil {
		return
	}
	all = append(all, family...)
	for _, one := range family {
		_ = one.Signal(syscall.SIGSTOP) // it may have ended since
	}
	time.Sleep(still)
}

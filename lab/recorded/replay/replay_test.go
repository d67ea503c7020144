package replay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/recorded/replay"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m)) }

const schema = `CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
	INSERT INTO account SELECT n, 100 FROM generate_series(1, 10) n;
	CREATE TABLE moved (id serial, from_id int, to_id int, note text)`

// recorded is a day of a bank: users move money with parameters, in transactions, some fail, temporary tables live in
// their sessions, one waits for a lock of another. It gives the log and what the accounts hold in the end.
var recorded = sync.OnceValues(func() (log, error) { return record() })

type log struct{ path, end string }

const users, moves = 4, 12

const ends = `SELECT string_agg(id || '=' || balance, ',' ORDER BY id) || ' ' || (SELECT count(*) FROM moved)
	FROM account`

func record() (l log, err error) {
	state, err := os.MkdirTemp("", "plimsoll-replay-")
	if err != nil {
		return l, err
	}
	if err := os.Chmod(state, 0o755); err != nil {
		return l, err
	}
	spec := clustertest.Copied(clustertest.Spec())
	for name, value := range map[string]string{"logging_collector": "on", "log_directory": "log",
		"log_destination": "csvlog", "log_filename": "pg", "log_min_duration_statement": "0",
		"log_file_mode": "0644", "log_timezone": "UTC", "log_parameter_max_length_on_error": "-1",
		"deadlock_timeout": "200ms", "log_lock_waits": "on"} {
		spec.Settings = append(spec.Settings, profile.Setting{Name: name, Value: value})
	}
	ctx := context.Background()
	c, err := cluster.Open(state).Create(ctx, "bank", spec)
	if err != nil {
		return l, err
	}
	p, err := c.Start(ctx, cluster.StartOptions{})
	if err != nil {
		return l, err
	}
	dsn := c.SocketDSN("").Secret()
	unlogged := postgres.WithOptions(dsn, "-c log_min_duration_statement=-1")
	if err := simple(ctx, unlogged, schema); err != nil {
		return l, err
	}
	var all sync.WaitGroup
	failed := make([]error, users)
	for u := range users {
		all.Add(1)
		go func() {
			defer all.Done()
			failed[u] = work(ctx, dsn, u)
		}()
	}
	all.Wait()
	conn, err := pgconn.Connect(ctx, unlogged)
	if err != nil {
		return l, err
	}
	l.end = string(conn.ExecParams(ctx, ends, nil, nil, nil, nil).Read().Rows[0][0])
	err = errors.Join(append(failed, conn.Close(ctx), p.Stop(ctx, cluster.Fast))...)
	l.path = filepath.Join(c.DataDir(), "log", "pg.csv")
	return l, err
}

func simple(ctx context.Context, dsn, sql string) error {
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	return errors.Join(conn.Exec(ctx, sql).Close(), conn.Close(ctx))
}

// work of a user. Each third move breaks a key.
func work(ctx context.Context, dsn string, user int) error {
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	text := func(n int) []byte { return fmt.Append(nil, n) }
	if err := conn.Exec(ctx, "CREATE TEMP TABLE mine (n int)").Close(); err != nil {
		return err
	}
	for n := range moves {
		time.Sleep(20 * time.Millisecond)
		from, to := (user+n)%10+1, (user+n+1)%10+1
		if err := conn.Exec(ctx, "BEGIN").Close(); err != nil {
			return err
		}
		// In one order everywhere: they wait for each other, and never in a circle.
		if _, err := conn.ExecParams(ctx, "SELECT 1 FROM account WHERE id IN ($1, $2) ORDER BY id FOR UPDATE",
			[][]byte{text(from), text(to)}, nil, nil, nil).Close(); err != nil {
			return err
		}
		_, err := conn.ExecParams(ctx, "UPDATE account SET balance = balance - 1 WHERE id = $1", [][]byte{text(from)},
			nil,
			nil, nil).Close()
		if err != nil {
			return err
		}
		_, err = conn.ExecParams(ctx, "INSERT INTO moved (from_id, to_id, note) VALUES ($1, $2, $3)",
			[][]byte{text(from), text(to), fmt.Appendf(nil, "it's, $1 = 'x'\n%d", n)}, nil, nil, nil).Close()
		if err != nil {
			return err
		}
		if _, err = conn.ExecParams(ctx, "UPDATE account SET balance = balance + 1 WHERE id = $1", [][]byte{text(to)},
			nil,
			nil, nil).Close(); err != nil {
			return err
		}
		if err := conn.Exec(ctx, "INSERT INTO mine VALUES (1)").Close(); err != nil {
			return err
		}
		end := "COMMIT"
		if n%3 == 2 {
			if _, err := conn.ExecParams(ctx, "INSERT INTO account VALUES ($1, 0)", [][]byte{text(1)}, nil, nil,
				nil).Close(); err == nil {
				return errors.New("a key twice")
			}
			end = "ROLLBACK"
		}
		if err := conn.Exec(ctx, end).Close(); err != nil {
			return err
		}
	}
	return nil
}

func bank(t *testing.T) (log, string) {
	t.Helper()
	l, err := recorded()
	if err != nil {
		t.Fatal("record:", err)
	}
	dsn := clustertest.Database(t).Secret()
	if err := simple(t.Context(), dsn, schema); err != nil {
		t.Fatal(err)
	}
	return l, dsn
}

// options of a replay.
func options(t *testing.T, path, dsn string, speed float64) replay.Options {
	return replay.Options{Paths: []string{path}, Zone: time.UTC, Database: "postgres", DSN: dsn, Speed: speed,
		State: t.TempDir(), Target: time.Second}
}

// balanced: whatever was read is replayed or left out.
func balanced(t *testing.T, f replay.Fidelity) {
	t.Helper()
	left := int64(0)
	for _, n := range f.LeftOut {
		left += n
	}
	if f.Read != f.Replayed+left {
		t.Errorf("%d statements were read, %d replayed, %d left out: %+v", f.Read, f.Replayed, left, f)
	}
}

func TestRun_DoesTheSameAgain(t *testing.T) {
	for _, speed := range []float64{1, 4, 0} {
		t.Run(fmt.Sprint(speed), func(t *testing.T) {
			l, dsn := bank(t)
			r, err := replay.Run(t.Context(), options(t, l.path, dsn, speed))
			if err != nil {
				t.Fatal(err)
			}
			f := r.Fidelity
			balanced(t, f)
			if f.Replayed != f.Read || f.Sessions != users || f.Alike != users*moves/3 ||
				len(f.New)+len(f.Missing) > 0 ||
				len(f.Other) > 0 || r.Unread.Events > 0 {
				t.Errorf("%+v, unread %+v", f, r.Unread)
			}
			if got := clustertest.Value(t, dsn, ends); got != l.end {
				t.Errorf("the accounts end as %s, in the log as %s", got, l.end)
			}
			if (r.Replayed == nil) != (speed == 0) {
				t.Errorf("score of the replay: %+v", r.Replayed)
			}
			if speed == 1 && (r.Replayed.Calls == 0 || r.Recorded.Operations[0].Name != r.Replayed.Operations[0].Name) {
				t.Errorf("recorded %+v\nreplayed %+v", r.Recorded.Operations, r.Replayed.Operations)
			}
			text := r.Says()
			if err := r.Text(io.Discard, true); err != nil || text == "" {
				t.Error(err)
			}
		})
	}
}

// A session that is lost, as by a server that ends it, takes its statements along, and each is counted.
func TestRun_ALossIsSeen(t *testing.T) {
	l, dsn := bank(t)
	o := options(t, l.path, dsn, 1)
	killed := make(chan error, 1)
	var once sync.Once
	o.Progress = func(what string, share float64, _ time.Duration) {
		if what != "replay" || share < 0.2 {
			return
		}
		once.Do(func() {
			killed <- simple(context.Background(), clustertest.Start(t).SocketDSN("").Secret(), `SELECT
				pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend'
				AND pid <> pg_backend_pid() AND datname = '`+databaseOf(t, dsn)+`' ORDER BY pid LIMIT 1`)
		})
	}
	r, err := replay.Run(t.Context(), o)
	if err = errors.Join(err, <-killed); err != nil {
		t.Fatal(err)
	}
	balanced(t, r.Fidelity)
	if r.Fidelity.LeftOut[replay.NoSession] == 0 || r.Fidelity.Share() > 0.99 {
		t.Errorf("%+v", r.Fidelity)
	}
}

func databaseOf(t *testing.T, dsn string) string {
	t.Helper()
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return config.Database
}

// On another base statements fail that did not, and others do not that did.
func TestRun_AnotherBaseShowsInItsErrors(t *testing.T) {
	l, dsn := bank(t)
	if err := simple(t.Context(), dsn, "ALTER TABLE account DROP CONSTRAINT account_pkey; "+
		"ALTER TABLE moved ADD CHECK (from_id <> 3)"); err != nil {
		t.Fatal(err)
	}
	r, err := replay.Run(t.Context(), options(t, l.path, dsn, 4))
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, r.Fidelity)
	if f := r.Fidelity; f.New["23514"] == 0 || f.New["25P02"] == 0 || f.Missing["23505"] == 0 || len(f.Messages) == 0 {
		t.Errorf("%+v", f)
	}
}

func TestRun_StoppedLeavesNothing(t *testing.T) {
	l, dsn := bank(t)
	o := options(t, l.path, dsn, 0.1)
	ctx, stop := context.WithCancel(t.Context())
	o.Progress = func(what string, _ float64, _ time.Duration) {
		if what == "replay" {
			stop()
		}
	}
	r, err := replay.Run(ctx, o)
	if err != nil || r == nil || r.Stopped == "" {
		t.Fatalf("%v, %+v", err, r)
	}
	balanced(t, r.Fidelity)
	left, err := filepath.Glob(filepath.Join(o.State, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v stays", left)
	}
	n := 0
	patience.Holds(func() bool { // a session that was closed ends a moment later
		n = clustertest.Exec(t, dsn, `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()
			AND pid <> pg_backend_pid()`)
		return n == 0
	})
	if n > 0 {
		t.Errorf("%d sessions stay", n)
	}
}

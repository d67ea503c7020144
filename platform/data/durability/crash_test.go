package durability_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/durability"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
	"plimsoll/test/thorough"
)

// pgx before 5.9 leaves this goroutine behind when a connection is lost in the middle of a batch
// (github.com/jackc/pgx/pull/2515). Later versions need Go 1.25.
const leftByDriver = "github.com/jackc/pgx/v5/pgconn/ctxwatch.(*ContextWatcher).Watch.func1"

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m), goleak.IgnoreAnyFunction(leftByDriver)) }

// quiet servers flush their log only for commits and by the log writer.
var quiet = map[string]string{"autovacuum": "off", "bgwriter_lru_maxpages": "0", "checkpoint_timeout": "1d"}

const tables = `CREATE TABLE operations (key text PRIMARY KEY, session int NOT NULL);
	CREATE TABLE total (id int PRIMARY KEY, n bigint NOT NULL); INSERT INTO total VALUES (1, 0)`

func server(t *testing.T) *clustertest.OwnCluster {
	o := clustertest.Alone(t, quiet)
	exec(t, o.DSN(), tables)
	exec(t, o.DSN(), "CHECKPOINT")
	return o
}

func exec(t *testing.T, dsn, sql string) {
	t.Helper()
	query(t, dsn, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, sql)
		return err
	})
}

func value(t *testing.T, dsn, sql string) (text string) {
	t.Helper()
	query(t, dsn, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT ("+sql+")::text").Scan(&text)
	})
	return text
}

func query(t *testing.T, dsn string, do func(context.Context, *pgx.Conn) error) {
	t.Helper()
	ctx := patience.Context(t)
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := do(ctx, conn); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dsn string, options database.Options) *database.Database {
	t.Helper()
	db, err := database.Open(patience.Context(t), dsn, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// holdWriter stops the process that writes the log until the test ends or release is called.
func holdWriter(t *testing.T, dsn string) (release func()) {
	t.Helper()
	pid, err := strconv.Atoi(value(t, dsn, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // it may have been killed
	t.Cleanup(release)
	return release
}

// post runs once under its key, as documents do: a repetition finds the key and changes nothing.
func post(ctx context.Context, db *database.Database, session int, key string) error {
	err := db.RunRepeatable(ctx, func(w *database.Work) error {
		w.Queue("key", "INSERT INTO operations VALUES ($1, $2)", key, session)
		w.Queue("total", "UPDATE total SET n = n + 1 WHERE id = 1")
		return nil
	})
	if database.IsUniqueViolation(err) {
		return nil
	}
	return err
}

const flushedSQL = "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint"

func TestTheAnswerComesAfterTheFlush(t *testing.T) {
	o := server(t)
	db := open(t, o.DSN(), database.Options{Connections: 1, Durability: "durable-ack,peek=relaxed", PollFlush: true})
	watched(t, db)
	exec(t, o.DSN(), "CHECKPOINT") // all is flushed
	release := holdWriter(t, o.DSN())
	before := value(t, o.DSN(), flushedSQL)
	ctx := patience.Context(t)
	answered := make(chan error, 1)
	go func() { answered <- post(ctx, db, 1, "one") }()
	// its only connection and the row are free while it waits
	patience.Until(t, "the row is committed and seen", func() bool {
		return value(t, o.DSN(), "SELECT n FROM total") == "1"
	})
	relaxed := database.WithLabel(ctx, database.Label{Operation: "total.peek"})
	var n int64
	if err := db.Read(relaxed, func(w *database.Work) error {
		w.Queue("peek", "SELECT n FROM total").Rows(func(r pgx.Rows) error { return r.Scan(&n) })
		return nil
	}); err != nil || n != 1 {
		t.Errorf("a relaxed reader sees %d, %v", n, err)
	}
	strict := make(chan error, 1)
	go func() { strict <- read(ctx, db) }()
	patience.Until(t, "both wait", func() bool { return db.FlushFigures().Waiting == 2 })
	rounds := db.FlushFigures().Rounds
	patience.Until(t, "the watcher has asked "+
		"without success", func() bool { return db.FlushFigures().Rounds > rounds+5 })
	select {
	case err := <-answered:
		t.Errorf("the answer came before the flush: %v", err)
	case err := <-strict:
		t.Errorf("the reader's answer came before the flush: %v", err)
	default:
	}
	if now := value(t, o.DSN(), flushedSQL); now != before {
		t.Errorf("somebody else flushed from %s to %s: the test proves nothing", before, now)
	}
	release()
	if err := errors.Join(<-answered, <-strict); err != nil {
		t.Error(err)
	}
}

func watched(t *testing.T, db *database.Database) {
	t.Helper()
	patience.Until(t, "the watcher is connected", func() bool { return db.FlushFigures().Connected })
}

// Without a watcher that flushes, an asynchronous commit is lost: the test sees what a crash destroys.
func TestAsyncLosesWhatWasAcknowledged(t *testing.T) {
	o := server(t)
	db := open(t, o.DSN(), database.Options{Durability: "async"})
	holdWriter(t, o.DSN())
	for n := range 10 {
		if err := post(patience.Context(t), db, 1, fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
	}
	o.Kill()
	o.Start()
	if got := value(t, o.DSN(), "SELECT count(*) FROM operations"); got != "0" {
		t.Errorf("%s of 10 were not lost: a kill takes too little to show anything", got)
	}
}

// A restart in the middle of the wait makes the outcome unknown, and the repetition runs exactly once.
func TestARestartInTheWait(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*clustertest.OwnCluster)
		kept string // of the first time
	}{"Killed": {(*clustertest.OwnCluster).Kill, "0"}, "Stopped": {(*clustertest.OwnCluster).Stop, "1"}} {
		t.Run(name, func(t *testing.T) {
			o := server(t)
			db := open(t, o.DSN(), database.Options{Durability: "durable-ack", PollFlush: true})
			watched(t, db)
			release := holdWriter(t, o.DSN())
			ctx, acknowledgement := db.Acknowledged(patience.Context(t))
			if err := post(ctx, db, 1, "one"); err != nil {
				t.Fatal(err)
			}
			waited := make(chan error, 1)
			go func() { waited <- acknowledgement.Wait(ctx) }()
			patience.Until(t, "it waits", func() bool { return db.FlushFigures().Waiting == 1 })
			if name == "Stopped" {
				release()
			}
			c.end(o)
			err := <-waited
			o.Start()
			if name == "Killed" && !errors.Is(err, durability.ErrUnknown) {
				t.Errorf("answered %v", err)
			}
			if got := value(t, o.DSN(), "SELECT count(*) FROM operations"); got != c.kept {
				t.Errorf("%s rows after the restart, want %s", got, c.kept)
			}
			if err := post(patience.Context(t), db, 1, "one"); err != nil {
				t.Errorf("again: %v", err)
			}
			if got := value(t, o.DSN(), "SELECT n FROM total"); got != "1" {
				t.Errorf("done %s times", got)
			}
		})
	}
}

// clients of a hot row repeat each operation under its key until it is acknowledged, through two workers.
type clients struct {
	workers []*database.Database
	mutex   sync.Mutex
	known   map[string]bool // acknowledged
}

func (c *clients) run(ctx context.Context, session int, random *rand.Rand) {
	for n := 0; ctx.Err() == nil; n++ {
		key := fmt.Sprintf("%d-%d", session, n)
		for !c.once(ctx, session, key, random) && ctx.Err() == nil {
			time.Sleep(time.Duration(random.Int64N(int64(5 * time.Millisecond))))
		}
	}
}

// once sends it to one worker, sometimes to both at once.
func (c *clients) once(ctx context.Context, session int, key string, random *rand.Rand) bool {
	first := random.IntN(2)
	to := c.workers[first : first+1]
	if random.IntN(4) == 0 {
		to = c.workers
	}
	done := make(chan bool, len(to))
	for _, db := range to {
		go func() { done <- post(ctx, db, session, key) == nil }()
	}
	acknowledged := false
	for range to {
		if <-done {
			acknowledged = true
		}
	}
	if acknowledged {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.known[key] = true
	}
	return acknowledged
}

func (c *clients) acknowledged() (keys []string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for key := range c.known {
		keys = append(keys, key)
	}
	return keys
}

const sessions = 30

// Model: a set of keys. Whatever is killed and repeated, each acknowledged key exists and counts once.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	seeds := thorough.Or(20, 1)
	for seed := range seeds {
		for _, poll := range []bool{false, true} {
			t.Run(fmt.Sprintf("Seed%d/Poll=%t", seed, poll), func(t *testing.T) { killed(t, uint64(seed), poll) })
		}
	}
}

func killed(t *testing.T, seed uint64, poll bool) {
	o := server(t)
	random := rand.New(rand.NewPCG(seed, 1))
	c := &clients{known: map[string]bool{}}
	for range 2 {
		c.workers = append(c.workers, open(t, o.DSN(), database.Options{Connections: 8, Durability: "durable-ack",
			PollFlush: poll}))
	}
	ctx, stop := context.WithCancel(patience.Context(t))
	defer stop()
	var all sync.WaitGroup
	for session := range sessions {
		all.Add(1)
		go func() {
			defer all.Done()
			c.run(ctx, session, rand.New(rand.NewPCG(seed, uint64(session+2))))
		}()
	}
	for kill := range thorough.Or(5, 2) {
		more := len(c.acknowledged()) + 1 + random.IntN(300)
		patience.Until(t, "some are acknowledged", func() bool { return len(c.acknowledged()) >= more })
		if kill%2 == 1 {
			holdWriter(t, o.DSN()) // what is not flushed by those who wait is lost
			time.Sleep(time.Duration(random.Int64N(int64(20 * time.Millisecond))))
		}
		o.Kill()
		known := c.acknowledged()
		o.Start()
		missing(t, o.DSN(), known)
	}
	stop()
	all.Wait()
	missing(t, o.DSN(), c.acknowledged())
	n, keys := value(t, o.DSN(), "SELECT n FROM total"), value(t, o.DSN(), "SELECT count(*) FROM operations")
	if n != keys {
		t.Errorf("%s keys were counted %s times", keys, n)
	}
	t.Logf("%d acknowledged", len(c.acknowledged()))
}

func missing(t *testing.T, dsn string, known []string) {
	t.Helper()
	var lost []string
	query(t, dsn, func(ctx context.Context, c *pgx.Conn) error {
		rows, _ := c.Query(ctx, "SELECT k FROM unnest($1::text[]) k WHERE k NOT IN (SELECT key FROM operations)", known)
		var err error
		lost, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if len(lost) > 0 {
		t.Errorf("%d of %d acknowledged are lost: %.10v", len(lost), len(known), lost)
	}
}

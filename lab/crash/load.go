package crash

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
)

//go:embed tables.sql
var tables string

// An operation writes a document with lines and changes a total that other operations also change.
const operation = `WITH d AS (
	INSERT INTO crash_document (id, account, amount, note) VALUES ($1, $2, $3, repeat('n', 300)) RETURNING id
), l AS (
	INSERT INTO crash_line SELECT d.id, n, $3, repeat('l', 100) FROM d, generate_series(1, 3) n
), t AS (
	UPDATE crash_total SET amount = amount + $3, documents = documents + 1 WHERE account = $2
)
SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn`

// Accounts that the operations share.
const accounts = 50

// ack is an operation that the server acknowledged.
type ack struct {
	key    string
	number uint64 // of the journal's last record then
	at     time.Time
	wal    int64 // end of the log when the operation began
	// document that the operation made or changed; empty: the key is that of the document
	document string
}

// loaded is what a load did.
type loaded struct {
	begin, end uint64 // of the journal
	acks       []ack
	failed     map[string]int // operations that were neither done nor refused, by why
	log        *logWatch      // of a load whose journal is cut
	flush      time.Duration  // longest one of the log
}

// operations that were acknowledged, without what was only shown.
func (l *loaded) operations() int { return operationsOf(l.acks) }

func operationsOf(acks []ack) (n int) {
	for _, a := range acks {
		if _, shown := shownDocument(a.key); !shown {
			n++
		}
	}
	return n
}

// stake is the last record before anything could be lost: a cut up to there finds no acknowledged operation.
func (l *loaded) stake() uint64 {
	if len(l.acks) == 0 {
		return l.begin
	}
	first := slices.MinFunc(l.acks, func(a, b ack) int { return cmp.Compare(a.number, b.number) })
	return max(l.begin+1, first.number) - 1
}

// earlyReads are the moments at which a reader was shown a document of this load before its author had an answer: what
// was read may not have been flushed then, and a cut right there must not lose it.
func (l *loaded) earlyReads(end uint64) (at []uint64) {
	answered := map[string]uint64{} // by document
	for _, a := range l.acks {
		if before, known := answered[a.document]; a.document != "" && (!known || a.number < before) {
			answered[a.document] = a.number
		}
	}
	for _, a := range l.acks {
		id, shown := shownDocument(a.key)
		if author, known := answered[id]; shown && known && a.number < author && a.number > l.begin && a.number <= end {
			at = append(at, a.number)
		}
	}
	slices.Sort(at)
	return at
}

// acknowledgedBefore returns the operations that were acknowledged before a record was written.
func (l *loaded) acknowledgedBefore(record uint64) (before []ack) {
	for _, a := range l.acks {
		if a.number <= record {
			before = append(before, a)
		}
	}
	return before
}

func (l *lab) connect(ctx context.Context) (*pgx.Conn, error) { return l.connectTo(ctx, l.serving()) }

func (l *lab) connectTo(ctx context.Context, c *cluster.Cluster) (*pgx.Conn, error) {
	return postgres.AsOwner(ctx, c.SocketDSN(l.workload.database()).Secret())
}

// documents is the load SQL.
type documents struct{ *lab }

func (*documents) database() string { return "" }

func (l *documents) prepare(ctx context.Context) error {
	conn, err := l.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, tables); err != nil {
		return fmt.Errorf("create the tables: %w", err)
	}
	return nil
}

// load runs until its time is over; end, if any, is called while the sessions are active.
func (l *documents) load(ctx context.Context, last func() uint64, end func(backends []int) error) (*loaded, error) {
	var conns []*pgx.Conn
	defer func() {
		for _, conn := range conns {
			conn.Close(context.WithoutCancel(ctx))
		}
	}()
	var backends []int
	for range l.Sessions + 1 {
		conn, err := l.connect(ctx)
		if err != nil {
			return nil, err
		}
		conns, backends = append(conns, conn), append(backends, int(conn.PgConn().PID()))
	}
	result := &loaded{begin: last()}
	working, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	var all sync.WaitGroup
	errs := make([]error, l.Sessions)
	for i := range l.Sessions {
		all.Add(1)
		go func() {
			defer all.Done()
			acks, err := work(working, conns[i], int64(i), last)
			mu.Lock()
			result.acks, errs[i] = append(result.acks, acks...), err
			mu.Unlock()
		}()
	}
	all.Add(1)
	go func() {
		defer all.Done()
		checkpoint(working, conns[l.Sessions])
	}()
	select {
	case <-ctx.Done():
	case <-time.After(l.Duration):
	}
	var err error
	if end != nil && ctx.Err() == nil {
		err = end(backends)
	}
	stop()
	all.Wait()
	result.end = last()
	if end == nil { // only we may have ended the sessions
		err = errors.Join(errs...)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return result, err
}

// work posts documents until it is stopped or its session ends. The operation under way at that moment is unknown and
// not counted.
func work(ctx context.Context, conn *pgx.Conn, session int64, last func() uint64) (acks []ack, err error) {
	for n := int64(1); ctx.Err() == nil; n++ {
		id := session<<32 | n
		var wal pgtype.Numeric
		// Cancelling the context would cut the connection in the middle of an operation, whose answer may be on its
		// way.
		err := conn.QueryRow(context.WithoutCancel(ctx), operation, id, (session*7+n)%accounts, n%100).Scan(&wal)
		if err != nil {
			return acks, fmt.Errorf("post a document: %w", err)
		}
		at, _ := wal.Int64Value()
		acks = append(acks, ack{key: strconv.FormatInt(id, 10), number: last(), at: time.Now(), wal: at.Int64})
	}
	return acks, nil
}

// checkpointEvery makes cuts fall before, in and after checkpoints.
const checkpointEvery = 700 * time.Millisecond

// checkpoint again and again. The log goes on in a new segment first, so that every load writes several.
func checkpoint(ctx context.Context, conn *pgx.Conn) {
	if _, err := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_switch_wal()"); err != nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(checkpointEvery):
		}
		if _, err := conn.Exec(context.WithoutCancel(ctx), "CHECKPOINT"); err != nil {
			return // the server is gone
		}
	}
}

// awaitRecovery waits for the server after a backend was killed.
func (l *lab) awaitRecovery(ctx context.Context) error {
	for {
		conn, err := l.connect(ctx)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

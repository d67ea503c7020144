package database

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/platform/data/temptable"
)

// Key of a connection's custom data that holds its temp tables.
const poolKey = "plimsoll.temptable"

func poolOf(conn *pgx.Conn) *temptable.Pool {
	p, _ := conn.PgConn().CustomData()[poolKey].(*temptable.Pool)
	return p
}

func doubtPool(conn *pgx.Conn) {
	if p := poolOf(conn); p != nil {
		p.Invalidate()
	}
}

// tempTotals of all connections.
type tempTotals struct {
	mu  sync.Mutex
	sum temptable.Counters
}

func (t *tempTotals) add(c temptable.Counters) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.Add(c)
}

// TempTables counts what was done with temp tables on all connections since Open.
func (db *Database) TempTables() temptable.Counters {
	db.temp.mu.Lock()
	defer db.temp.mu.Unlock()
	return db.temp.sum
}

func difference(after, before temptable.Counters) temptable.Counters {
	after.Add(before.Times(-1))
	return after
}

// tempPool is the pool of the connection, made at its first use.
func (w *Work) tempPool() *temptable.Pool {
	if w.temp == nil {
		if w.temp = poolOf(w.conn.Conn()); w.temp == nil {
			w.temp = temptable.NewPool(w.db.options.TempTables)
			w.conn.Conn().PgConn().CustomData()[poolKey] = w.temp
			w.temp.Invalidate() // a borrower may have left tables with these names
		}
		w.tempBefore = w.temp.Counters
	}
	return w.temp
}

// Temp lends an empty temp table of each structure until it is returned or the unit of work ends. Creating missing
// tables flushes the queue; asking for all tables in one call saves round trips.
func (w *Work) Temp(ctx context.Context, structures ...temptable.Structure) ([]*temptable.Table, error) {
	p := w.tempPool()
	if p.Stale() {
		if err := w.listTemp(ctx, p); err != nil {
			return nil, err
		}
	}
	lent, orders := p.Lend(structures)
	for _, t := range orders.Clear {
		w.clear(t)
	}
	if len(orders.DDL) > 0 {
		return lent, w.define(ctx, orders.DDL)
	}
	return lent, nil
}

func (w *Work) listTemp(ctx context.Context, p *temptable.Pool) error {
	var existing []string
	w.enqueue("list temp tables", temptable.ExistingSQL).Rows(func(r pgx.Rows) error {
		var name string
		err := r.Scan(&name)
		existing = append(existing, name)
		return err
	})
	if err := w.Flush(ctx); err != nil {
		return err
	}
	p.SetExisting(existing)
	return nil
}

// define sends DDL as plain text: it would only fill the caches of prepared statements, and a statement that uses a
// table cannot be prepared before the table exists.
func (w *Work) define(ctx context.Context, ddl []string) error {
	if err := w.Flush(ctx); err != nil {
		return err
	}
	text := ddl
	if w.wrapped && !w.begun {
		text = nil
		for _, s := range w.opening() {
			text = append(text, s.sql)
		}
		text = append(text, ddl...)
	}
	for len(text) > 0 {
		now := text[:min(len(text), w.chain)]
		text = text[len(now):]
		w.counters.RoundTrips++
		w.counters.Statements += int64(len(now))
		if _, err := w.conn.Conn().PgConn().Exec(ctx, strings.Join(now, "; ")).ReadAll(); err != nil {
			w.broken = fmt.Errorf("make temp tables: %w", err)
			return w.broken
		}
		w.begun = w.wrapped
	}
	if !w.wrapped {
		w.temp.Committed()
	}
	return nil
}

// Fill queues a statement that puts exactly its affected rows into the table: INSERT INTO t.Name() …. Other statements
// may write to the table too; the pool then has to ask whether it is empty.
func (w *Work) Fill(t *temptable.Table, name, sql string, args ...any) *Statement {
	p := w.tempPool()
	p.Filling(t)
	p.Touched(sql, t)
	s := w.enqueue(name, sql, args...)
	s.filled = func(rows int64) { p.Filled(t, rows) }
	return s
}

// Expect says, before Analyze, how many rows a table may get from one statement; statements are counted.
func (w *Work) Expect(rows int) { w.tempPool().Expect(int64(rows)) }

// Analyze queues gathering statistics on a filled table, unless those it has will do.
func (w *Work) Analyze(t *temptable.Table) {
	if !w.tempPool().Gather(t) {
		return
	}
	w.enqueue("analyze "+t.Name(), "ANALYZE "+t.Name())
}

// Return gives tables back before the unit of work ends, which gives back the rest. They are emptied with the next
// flush.
func (w *Work) Return(tables ...*temptable.Table) { w.returned = append(w.returned, tables...) }

// probed is a returned table, and whether the server found a row in it.
type probed struct {
	table  *temptable.Table
	hasRow bool
}

// settle decides about the returned tables once the results of everything queued are known. What it queues comes last,
// so that a table it clears has not been dropped in between.
func (w *Work) settle() {
	returned, answers := w.returned, w.probed
	w.returned, w.probed = nil, nil
	if w.temp == nil || w.temp.Stale() {
		return // the end of the unit of work asks first
	}
	for _, a := range answers {
		w.step(a.table, w.temp.Probed(a.table, a.hasRow), 0)
	}
	for _, t := range returned {
		rows, _ := t.Rows()
		w.step(t, w.temp.Return(t), rows)
	}
}

func (w *Work) step(t *temptable.Table, step temptable.Step, rows int64) {
	switch step {
	case temptable.Truncate:
		w.clear(t)
	case temptable.Erase:
		w.enqueue("empty "+t.Name(), "DELETE FROM "+t.Name()).besides = -rows // TRUNCATE's are not counted either
	case temptable.Probe:
		w.enqueue("look into "+t.Name(), "SELECT 1 FROM "+t.Name()+" LIMIT 1").Affected(func(rows int64) error {
			w.probed = append(w.probed, probed{t, rows > 0})
			return nil
		})
	}
}

func (w *Work) clear(t *temptable.Table) { w.enqueue("clear "+t.Name(), "TRUNCATE "+t.Name()) }

// returnAll ends the use of all tables, before COMMIT.
func (w *Work) returnAll(ctx context.Context) error {
	if w.temp == nil {
		return nil
	}
	if err := w.flushUnread(ctx); err != nil {
		return err
	}
	if w.temp.Stale() && len(w.temp.Lent()) > 0 {
		if err := w.listTemp(ctx, w.temp); err != nil {
			return err
		}
	}
	w.returned = w.temp.Lent()
	w.settle()
	return w.flushUnread(ctx)
}

// flushUnread sends until nothing queued has a result to be read.
func (w *Work) flushUnread(ctx context.Context) error {
	for len(w.returned) > 0 || w.answered() {
		if err := w.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// watch tells the pool what it cannot see, and refuses transaction control from outside: a unit of work could not keep
// its promises afterwards.
func (w *Work) watch(s *Statement, tag pgconn.CommandTag) error {
	if s.own {
		return nil
	}
	switch word, _, _ := strings.Cut(tag.String(), " "); word {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "COPY", "SET", "ANALYZE", "LOCK", "TRUNCATE":
		return nil
	case "BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PREPARE":
		w.invalidateTemp()
		return fmt.Errorf("%s is not allowed: a unit of work begins and commits its own transaction", tag)
	default: // DDL, DISCARD, DO, CALL
		w.invalidateTemp()
		return nil
	}
}

func (w *Work) invalidateTemp() {
	if w.temp != nil {
		w.temp.Invalidate()
	}
}

// count adds the temp-table work of this unit of work.
func (w *Work) count() {
	if w.temp == nil {
		return
	}
	took := difference(w.temp.Counters, w.tempBefore)
	w.counters.TempTables.Add(took)
	w.db.temp.add(took)
}

package database

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/platform/temptable"
)

// Where a connection keeps its temp tables: they are gone when it is.
const poolKey = "plimsoll.temptable"

func poolOf(conn *pgx.Conn) *temptable.Pool {
	p, _ := conn.PgConn().CustomData()[poolKey].(*temptable.Pool)
	return p
}

func doubt(conn *pgx.Conn) {
	if p := poolOf(conn); p != nil {
		p.Doubt()
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

// TempTables is what was done with temp tables on all connections since Open.
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
			w.temp.Doubt() // a borrower may have left tables of these names
		}
		w.tempBefore = w.temp.Counters
	}
	return w.temp
}

// Temp lends an empty temp table of each structure until it is returned or the unit of work ends. What has to be created
// travels at once, behind what is queued; asking for all that is needed in one call saves round trips.
func (w *Work) Temp(ctx context.Context, structures ...temptable.Structure) ([]*temptable.Table, error) {
	p := w.tempPool()
	if p.Doubtful() {
		if err := w.askTruth(ctx, p); err != nil {
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

func (w *Work) askTruth(ctx context.Context, p *temptable.Pool) error {
	var there []string
	w.enqueue("list temp tables", temptable.TruthSQL).Rows(func(r pgx.Rows) error {
		var name string
		err := r.Scan(&name)
		there = append(there, name)
		return err
	})
	if err := w.Flush(ctx); err != nil {
		return err
	}
	p.Believe(there)
	return nil
}

// define sends DDL as plain text: it would only fill the caches of prepared statements, and a statement that
// uses a table can't be prepared before the table is there.
func (w *Work) define(ctx context.Context, ddl []string) error {
	if err := w.Flush(ctx); err != nil {
		return err
	}
	text := ddl
	if w.wrapped && !w.begun {
		text = append([]string{"begin"}, ddl...)
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

// Fill queues a statement whose affected rows are all the rows it puts into the table: INSERT INTO t.Name() ….
// Other statements may write into the table too; the pool then has to ask whether it is empty.
func (w *Work) Fill(t *temptable.Table, name, sql string, args ...any) *Statement {
	p := w.tempPool()
	p.Filling(t)
	p.Touched(sql, t)
	s := w.enqueue(name, sql, args...)
	s.filled = func(rows int64) { p.Filled(t, rows) }
	return s
}

// Analyze queues the gathering of statistics of a table that has been filled.
func (w *Work) Analyze(t *temptable.Table) { w.enqueue("analyze "+t.Name(), "ANALYZE "+t.Name()) }

// Return gives tables back before the unit of work ends; it gives back what is left. They are emptied with what is queued next.
func (w *Work) Return(tables ...*temptable.Table) { w.returned = append(w.returned, tables...) }

// settle decides about the tables that were returned, now that the results of what filled them are there.
func (w *Work) settle() {
	returned := w.returned
	w.returned = nil
	if len(returned) > 0 && w.temp.Doubtful() {
		return // the end of the unit of work asks first
	}
	for _, t := range returned {
		w.step(t, w.temp.Return(t))
	}
}

func (w *Work) step(t *temptable.Table, step temptable.Step) {
	switch step {
	case temptable.Truncate:
		w.clear(t)
	case temptable.Probe:
		found := false
		s := w.enqueue("look into "+t.Name(), "SELECT 1 FROM "+t.Name()+" LIMIT 1")
		s.Rows(func(pgx.Rows) error { found = true; return nil })
		s.then = func() { w.step(t, w.temp.Probed(t, found)) }
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
	if w.temp.Doubtful() && len(w.temp.Lent()) > 0 {
		if err := w.askTruth(ctx, w.temp); err != nil {
			return err
		}
	}
	w.returned = w.temp.Lent()
	w.settle()
	return w.flushUnread(ctx)
}

// flushUnread sends until nobody waits for a result of what is queued.
func (w *Work) flushUnread(ctx context.Context) error {
	for len(w.returned) > 0 || w.answered() {
		if err := w.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// watch tells the pool what it can't see by itself, and refuses transaction control from outside: nothing of what
// a unit of work promises would hold afterwards.
func (w *Work) watch(s *Statement, tag pgconn.CommandTag) error {
	if s.own {
		return nil
	}
	switch word, _, _ := strings.Cut(tag.String(), " "); word {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "COPY", "SET", "ANALYZE", "LOCK", "TRUNCATE":
		return nil
	case "BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PREPARE":
		w.doubt()
		return fmt.Errorf("%s: a unit of work begins and ends by itself", tag)
	default: // DDL, DISCARD, DO, CALL
		w.doubt()
		return nil
	}
}

func (w *Work) doubt() {
	if w.temp != nil {
		w.temp.Doubt()
	}
}

// count adds what the temp tables of this unit of work took.
func (w *Work) count() {
	if w.temp == nil {
		return
	}
	took := difference(w.temp.Counters, w.tempBefore)
	w.counters.TempTables.Add(took)
	w.db.temp.add(took)
}

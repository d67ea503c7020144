package database

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ChainDefault is how many statements may travel in one round trip. A longer queue takes more round trips, because the
// server keeps the results until they are read, and an error is only seen at the end.
const ChainDefault = 100

// Flush sends the queue, up to a chain per round trip, and reads all results. The first error ends the unit of work:
// what was queued after it has not been executed.
func (w *Work) Flush(ctx context.Context) error {
	if w.broken != nil {
		return w.broken
	}
	if w.broken = w.flush(ctx); w.broken == nil {
		w.settle()
	}
	return w.broken
}

func (w *Work) flush(ctx context.Context) error {
	for len(w.queue) > 0 {
		if w.wrapped && !w.begun {
			w.queue = append(w.opening(), w.queue...)
			w.begun = true
		}
		chain := w.queue[:min(len(w.queue), w.chain)]
		rest := w.queue[len(chain):]
		w.queue = nil // a failed chain discards what follows
		if err := w.carryOut(ctx, chain); err != nil {
			return err
		}
		w.queue = append(rest, w.queue...)
	}
	return nil
}

// opening of a transaction.
func (w *Work) opening() []*Statement {
	all := []*Statement{{name: "begin", sql: "begin", own: true}}
	if setting := w.mode.Setting(); setting != "" {
		all = append(all, &Statement{name: "durability", sql: setting, own: true})
	}
	return all
}

// carryOut makes one round trip.
func (w *Work) carryOut(ctx context.Context, chain []*Statement) error {
	batch := &pgx.Batch{}
	for _, s := range chain {
		batch.Queue(s.sql, s.args...)
	}
	w.counters.RoundTrips++
	w.counters.Statements += int64(len(chain))
	w.sent += len(chain)
	if w.trace != nil {
		defer w.trace.trip(time.Now(), chain)
	}
	results := w.conn.SendBatch(ctx, batch)
	for i, s := range chain {
		if err := w.take(s, results); err != nil {
			passOver(chain[i+1:], results)
			_ = results.Close() // it repeats the error, or follows from it
			return w.failed(ctx, chain, i, err)
		}
	}
	if err := results.Close(); err != nil {
		return fmt.Errorf("end of round trip: %w", err)
	}
	w.follow(chain)
	return nil
}

// passOver the statements behind one whose result was refused here: the server has carried them out. If it was the
// server that refused, it has not.
func passOver(behind []*Statement, results pgx.BatchResults) {
	for _, s := range behind {
		if tag, err := results.Exec(); err != nil || tag.String() == "" {
			return
		}
		if s.reached != nil {
			s.reached()
		}
	}
}

// follow updates the temp tables' state from the results.
func (w *Work) follow(chain []*Statement) {
	if w.temp != nil && (!w.wrapped || slices.ContainsFunc(chain, (*Statement).commits)) {
		w.temp.Committed()
	}
}

func (s *Statement) commits() bool { return s.sql == commit }

func (w *Work) take(s *Statement, results pgx.BatchResults) error {
	if s.read == nil {
		tag, err := results.Exec()
		if err != nil {
			return err
		}
		return w.check(s, tag)
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := s.read(rows); err != nil {
			return err
		}
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return err
	}
	return w.check(s, rows.CommandTag())
}

// check rejects a COMMIT that the server turned into a ROLLBACK, which would lose movements silently.
func (w *Work) check(s *Statement, tag pgconn.CommandTag) error {
	if err := w.watch(s, tag); err != nil {
		return err
	}
	if tag.Insert() || tag.Update() || tag.Delete() || strings.HasPrefix(tag.String(), "MERGE ") {
		w.counters.Rows += tag.RowsAffected() + s.besides
	}
	if s.sql == commit && tag.String() != "COMMIT" {
		return fmt.Errorf("the server answered %s", tag)
	}
	if s.reached != nil {
		s.reached()
	}
	if s.filled != nil {
		s.filled(tag.RowsAffected())
	}
	if s.affected != nil {
		return s.affected(tag.RowsAffected())
	}
	return nil
}

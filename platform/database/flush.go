package database

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ChainDefault is how many statements may travel in one round trip. A longer queue makes more round trips: the server
// keeps the results of a round trip until they are read, and an error is only seen at its end.
const ChainDefault = 100

// Flush sends what is queued, up to a chain in one round trip, and reads all results. The first error ends
// the unit of work: what was queued behind it has not been carried out.
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
			w.queue = append([]*Statement{{name: "begin", sql: "begin", own: true}}, w.queue...)
			w.begun = true
		}
		chain := w.queue[:min(len(w.queue), w.chain)]
		rest := w.queue[len(chain):]
		w.queue = nil // a failed chain takes what is behind it along
		if err := w.carryOut(ctx, chain); err != nil {
			return err
		}
		w.queue = append(rest, w.queue...)
	}
	return nil
}

// carryOut is one round trip.
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
			_ = results.Close() // its error is the same one, or a consequence
			return w.failed(ctx, chain, i, err)
		}
	}
	if err := results.Close(); err != nil {
		return fmt.Errorf("end of round trip: %w", err)
	}
	w.follow(chain)
	return nil
}

// follow tells the temp tables what became so.
func (w *Work) follow(chain []*Statement) {
	if w.temp != nil && (!w.wrapped || chain[len(chain)-1].sql == commit) {
		w.temp.Committed()
	}
	for _, s := range chain {
		if s.then != nil {
			s.then()
		}
	}
}

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

// check refuses a COMMIT that the server turned into a ROLLBACK: that is how movements get lost unnoticed.
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
	if s.filled != nil {
		s.filled(tag.RowsAffected())
	}
	if s.affected != nil {
		return s.affected(tag.RowsAffected())
	}
	return nil
}

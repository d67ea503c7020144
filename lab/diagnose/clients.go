package diagnose

import (
	"context"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/counters"
)

// Locks that serializable transactions alone have.
const predicateSQL = `SELECT count(*) FROM pg_locks WHERE mode = 'SIReadLock'`

// readPredicateLocks once, at the end.
func (w *watch) readPredicateLocks(ctx context.Context, conn *pgx.Conn) error {
	var n int64
	if err := conn.QueryRow(ctx, predicateSQL).Scan(&n); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.half.PredicateLocks = &n
	return nil
}

// addClients to the measured: the client's half.
func (m *measured) addClients(w *watch) {
	m.half, m.pools = w.half, &w.pools
	h := &m.half
	h.Repeated = w.clients.Repeated()
	h.TransactionsPerS = m.transactions()
	h.SessionsPerS = m.delta.PerSecond(m.delta.Sum(counters.Databases, "", "sessions"))
	if gap := m.book.short.mean(); gap != nil {
		h.GapMS = new(1000 * gap.Seconds())
	}
	if all := m.transactions(); all != nil && *all > 0 {
		if aborts := m.delta.PerSecond(m.delta.Sum(counters.Databases, "", "xact_rollback")); aborts != nil {
			h.RolledBack = new(*aborts / *all)
		}
		if t := m.inside.Totals; t != nil && t.LastedS > 0 {
			h.StatementsEach = new(t.Calls / t.LastedS / *all)
		}
	}
}

// repeatedGaps are the share of the time of gaps behind statements that a problem names already.
func (m *measured) repeatedGaps() (share float64) {
	for key, w := range m.book.events {
		if !key.gap {
			continue
		}
		for text, seconds := range w.statements {
			if m.repeated[text] {
				share += seconds / max(m.ledger.TotalS, 1e-9)
			}
		}
	}
	return share
}

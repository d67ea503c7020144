package posting

import (
	"context"
	"fmt"

	"plimsoll/platform/data/database"
)

// Recalculate recomputes the totals of a register or ledger from its movements and returns their number: for damaged
// totals, and to merge splits. Postings in that register wait until it is done; those that exceed their lock timeout
// are told to try again.
func (b *Books) Recalculate(ctx context.Context, name string) (totals int64, err error) {
	var tables []func(*database.Work, func(int64) error)
	switch r, l := b.registers[name], b.ledgers[name]; {
	case r != nil:
		tables = append(tables, r.Recalculate)
	case l != nil:
		tables = append(tables, l.Recalculate, l.RecalculateAccounts)
	default:
		return 0, fmt.Errorf("recalculate totals: no register %q", name)
	}
	for _, recalculate := range tables {
		var written int64
		count := func(n int64) error { written = n; return nil }
		if err := b.db.Run(ctx, func(w *database.Work) error { recalculate(w, count); return nil }); err != nil {
			return 0, fmt.Errorf("recalculate totals: %w", err)
		}
		totals += written
	}
	return totals, nil
}

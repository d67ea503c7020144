package posting

import (
	"context"
	"fmt"

	"plimsoll/platform/database"
)

// Recalculate makes the totals of a register or ledger anew from its movements, and tells how many there are: for totals that were
// damaged, and to collapse splits. Posters in that register wait until it is done; those that wait longer than their lock timeout are told to try again.
func (b *Books) Recalculate(ctx context.Context, name string) (totals int64, err error) {
	told := func(n int64) error { totals = n; return nil }
	err = b.db.Run(ctx, func(w *database.Work) error {
		switch r, l := b.registers[name], b.ledgers[name]; {
		case r != nil:
			r.Recalculate(w, told)
		case l != nil:
			l.Recalculate(w, told)
		default:
			return fmt.Errorf("no register %q", name)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("recalculate totals: %w", err)
	}
	return totals, nil
}

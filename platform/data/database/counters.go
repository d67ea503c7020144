package database

import (
	"context"

	"plimsoll/platform/data/temptable"
)

// Counters of the database requests of one operation. Preparing a statement for the first time on a connection is not
// counted.
type Counters struct {
	Statements int64 `json:"statements"`
	RoundTrips int64 `json:"round_trips"`
	Retries    int64 `json:"retries"`
	// Rows inserted, updated and deleted, including temp tables and transactions that were rolled back.
	Rows int64 `json:"rows"`
	// Temp tables requested, and the work for them.
	TempTables temptable.Counters `json:"temp_tables"`
}

// Add sums two.
func (c *Counters) Add(other Counters) {
	c.Statements += other.Statements
	c.RoundTrips += other.RoundTrips
	c.Retries += other.Retries
	c.Rows += other.Rows
	c.TempTables.Add(other.TempTables)
}

// Times multiplies; with -1, Add subtracts.
func (c Counters) Times(n int64) Counters {
	return Counters{c.Statements * n, c.RoundTrips * n, c.Retries * n, c.Rows * n, c.TempTables.Times(n)}
}

type countersKey struct{}

// WithCounters returns a context whose units of work are counted. One operation runs its units of work one after
// another, so no lock is needed.
func WithCounters(ctx context.Context) (context.Context, *Counters) {
	c := &Counters{}
	return context.WithValue(ctx, countersKey{}, c), c
}

func countersOf(ctx context.Context) *Counters {
	if c, ok := ctx.Value(countersKey{}).(*Counters); ok {
		return c
	}
	return &Counters{}
}

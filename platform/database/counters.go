package database

import (
	"context"

	"plimsoll/platform/temptable"
)

// Counters of what one operation cost in talk with the database. Preparing a
// statement on a connection that has not seen it yet is not counted.
type Counters struct {
	Statements int64 `json:"statements"`
	RoundTrips int64 `json:"round_trips"`
	Retries    int64 `json:"retries"`
	// Rows inserted, updated and deleted, in temp tables too, also where the transaction was rolled back.
	Rows int64 `json:"rows"`
	// Temp tables asked for, and what that took.
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

// Times multiplies; by -1 it makes of Add a difference.
func (c Counters) Times(n int64) Counters {
	return Counters{c.Statements * n, c.RoundTrips * n, c.Retries * n, c.Rows * n, c.TempTables.Times(n)}
}

type countersKey struct{}

// WithCounters makes a context whose units of work are counted in the result. One
// operation runs its units of work one after another, so no lock is needed.
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

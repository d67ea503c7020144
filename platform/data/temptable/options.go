package temptable

import (
	"fmt"
	"slices"
)

// Maximum number of tables per connection.
const (
	MaxDefault = 2000
	MaxMin     = 1
)

// Clearing says how a table is emptied between two uses.
type Clearing string

const (
	// Known truncates only tables with rows: the pool knows that from counted fills, and asks the server otherwise. The
	// default.
	Known Clearing = "known"
	// Ask sends SELECT 1 … LIMIT 1 for every table and truncates those with a row.
	Ask Clearing = "ask"
	// Always truncates every table, empty or not.
	Always Clearing = "always"
	// Delete is Known, but deletes few rows and then keeps the statistics: TRUNCATE and ANALYZE make the server plan
	// all statements with the table again, and with few rows planning is most of the work.
	Delete Clearing = "delete"
)

// Clearings are all.
var Clearings = []Clearing{Always, Ask, Known, Delete}

// DeletedMost rows of a table are deleted before it is truncated: nothing else reclaims their space.
const DeletedMost = 2000

// Options of the pool of a connection.
type Options struct {
	// Max tables are kept; beyond it the least recently used one is dropped. Tables in use are never dropped, so a unit
	// of work may exceed Max. Defaults to MaxDefault.
	Max int
	// Clearing defaults to Known.
	Clearing Clearing
}

// WithDefaults fills in defaults.
func (o Options) WithDefaults() Options {
	if o.Max == 0 {
		o.Max = MaxDefault
	}
	if o.Clearing == "" {
		o.Clearing = Known
	}
	return o
}

// Check rejects impossible values.
func (o Options) Check() error {
	switch {
	case o.Max < MaxMin:
		return fmt.Errorf("a pool of %d temp tables: must be at least %d", o.Max, MaxMin)
	case !slices.Contains(Clearings, o.Clearing):
		return fmt.Errorf("unknown clearing of temp tables %q: use always, ask, known or delete", o.Clearing)
	}
	return nil
}

// Counters of the work with temp tables; a rollback subtracts nothing.
type Counters struct {
	Created   int64 `json:"created"`
	Reused    int64 `json:"reused"`
	Dropped   int64 `json:"dropped"`
	Truncates int64 `json:"truncates"`
	Deletes   int64 `json:"deletes"`
	Skipped   int64 `json:"skipped_truncates"` // the table was empty
	Probes    int64 `json:"probes"`            // SELECT 1 … LIMIT 1
	Returned  int64 `json:"returned"`          // after their use, not by a rollback
	Empty     int64 `json:"empty"`             // of these, as far as known
}

// Add sums two.
func (c *Counters) Add(other Counters) {
	c.Created += other.Created
	c.Reused += other.Reused
	c.Dropped += other.Dropped
	c.Truncates += other.Truncates
	c.Deletes += other.Deletes
	c.Skipped += other.Skipped
	c.Probes += other.Probes
	c.Returned += other.Returned
	c.Empty += other.Empty
}

// Times multiplies; with -1, Add subtracts.
func (c Counters) Times(n int64) Counters {
	return Counters{c.Created * n, c.Reused * n, c.Dropped * n, c.Truncates * n, c.Deletes * n, c.Skipped * n,
		c.Probes * n, c.Returned * n, c.Empty * n}
}

// Used is how often a table was requested.
func (c Counters) Used() int64 { return c.Created + c.Reused }

// EmptyShare is the share of returned tables that were empty, 0..1. A table that an uncounted statement may have
// written to, and that was not examined, counts as filled.
func (c Counters) EmptyShare() float64 {
	if c.Returned == 0 {
		return 0
	}
	return float64(c.Empty) / float64(c.Returned)
}

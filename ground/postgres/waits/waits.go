// Package waits samples what the sessions of a database wait for.
package waits

import (
	"context"
	_ "embed"

	"github.com/jackc/pgx/v5"
)

// Event is what an active session waits for. Without names it waits for nothing that the server knows: it runs, or is
// about to.
type Event struct {
	Type string
	Name string
}

// PerSecond is how often to sample: often enough that a wait taking 1 % of the time shows within half a minute. A
// sample costs the server a fraction of a millisecond.
const PerSecond = 4

//go:embed waits.sql
var lookSQL string

// Sample counts the active sessions by wait event.
func Sample(ctx context.Context, conn *pgx.Conn) (map[Event]int, error) {
	rows, err := conn.Query(ctx, lookSQL)
	if err != nil {
		return nil, err
	}
	seen := map[Event]int{}
	var e Event
	var n int
	_, err = pgx.ForEachRow(rows, []any{&e.Type, &e.Name, &n}, func() error { seen[e] += n; return nil })
	return seen, err
}

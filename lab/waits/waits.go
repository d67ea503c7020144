// Package waits owns a look at what the sessions of a database wait for.
package waits

import (
	"context"
	_ "embed"

	"github.com/jackc/pgx/v5"
)

// Event is what a session at work waits for. Without names: none of the waits that the
// server knows, so it is on a processor or on its way to one.
type Event struct {
	Type string
	Name string
}

// PerSecond is how often whoever samples should look: often enough for waits that make up
// a hundredth of the time to show within half a minute. A look costs the server a fraction
// of a millisecond.
const PerSecond = 4

//go:embed waits.sql
var lookSQL string

// Look counts the sessions at work by what they wait for.
func Look(ctx context.Context, conn *pgx.Conn) (map[Event]int, error) {
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

package experiments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/claims"
	"plimsoll/platform/database"
	"plimsoll/platform/temptable"
)

// Defaults of C14: the report's half hours are seconds here, its thousands of tables hundreds per connection.
const (
	c14Lifetime    = 3 * time.Second // and the random part the same again
	c14Rounds      = 4
	c14Connections = 6
	c14PerSecond   = 50                     // temp tables per connection and second of lifetime, so that they are made before it ends
	c14Every       = 5 * time.Millisecond   // the others pause between two operations
	c14After       = 500 * time.Millisecond // beyond the last possible end
	c14EndsWithin  = time.Minute
	c14Holder      = "plimsoll holder"
	// As many tables as the report's connections hold: fewer connections, which live long enough to make them.
	c14FullTables      = 10_000
	c14FullConnections = 2
	c14FullLifetime    = 30 * time.Second
)

var c14Others = queryBatch{kinds: 1, tables: 3, rows: 10}

// ConnectionLifetime is the experiment behind C14.
type ConnectionLifetime struct{}

// Claim implements Experiment.
func (ConnectionLifetime) Claim() string { return "C14" }

func c14Sides(b Bench) (names []string, lifetimes []database.Lifetime) {
	d := c14Lives(b)
	return []string{"fixed", "jittered", "fixed, tables dropped in steps"}, []database.Lifetime{
		{AtLeast: d, Jitter: database.Never, EvictStep: database.Never},
		{AtLeast: d, Jitter: max(d, time.Second), EvictStep: database.Never},
		{AtLeast: d, Jitter: database.Never},
	}
}

func c14Window(b Bench) time.Duration { return 2*c14Lives(b) + c14After }

func c14Lives(b Bench) time.Duration {
	if b.Full {
		return b.turn(c14FullLifetime)
	}
	return b.turn(c14Lifetime)
}

// c14Holds is how many connections hold how many tables each.
func c14Holds(b Bench) (connections, tables int) {
	if b.Full {
		return c14FullConnections, c14FullTables
	}
	return c14Connections, max(1, int(c14PerSecond*c14Lives(b).Seconds()))
}

// Plan implements Experiment.
func (ConnectionLifetime) Plan(b Bench) Plan {
	names, _ := c14Sides(b)
	turns := len(names) * b.rounds(c14Rounds)
	connections, tables := c14Holds(b)
	return Plan{fmt.Sprintf("%d turns of %s: %d connections with %s temp tables each end, at once or spread; the worst that others see", turns, length(c14Window(b)), connections, thousands(int64(tables))),
		time.Duration(turns)*c14Window(b) + 10*time.Second}
}

// Run implements Experiment.
func (e ConnectionLifetime) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withLayer(ctx, func(l layer) (claims.Finding, error) {
		names, lifetimes := c14Sides(b)
		others, err := database.Open(ctx, l.dsn, database.Options{Connections: clients})
		if err != nil {
			return claims.Finding{}, err
		}
		defer others.Close()
		load := c14Others.make()
		if err := load.warm(ctx, others); err != nil {
			return claims.Finding{}, err
		}
		connections, tables := c14Holds(b)
		held := queryBatch{tables: tables}.structures(0)
		s := sides{names: names, turn: c14Window(b), rounds: b.rounds(c14Rounds)}
		s.run = func(ctx context.Context, side, _ int) (figures, error) {
			return e.turn(ctx, l.dsn, lifetimes[side], connections, held, c14Window(b), others, load)
		}
		made, partial, err := s.measure(ctx, b)
		if err != nil {
			return claims.Finding{}, err
		}
		return e.finding(b, s, made, partial, l), nil
	})
}

// turn opens connections, gives them their tables, and watches the others until the connections have ended.
func (ConnectionLifetime) turn(ctx context.Context, dsn string, life database.Lifetime, connections int, held []temptable.Structure, window time.Duration, others *database.Database, load queryBatch) (figures, error) {
	life.Check = 50 * time.Millisecond
	began := time.Now()
	holder, err := database.Open(ctx, dsn, database.Options{Connections: connections, Application: c14Holder, Lifetime: life, TempTables: temptable.Options{Max: len(held)}})
	if err != nil {
		return nil, err
	}
	defer holder.Close()
	err = allAtOnce(connections, func(int) error {
		return holder.Run(ctx, func(w *database.Work) error {
			_, err := w.Temp(ctx, held...)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	if took := time.Since(began); took >= life.AtLeast {
		return nil, fmt.Errorf("making the temp tables took %s, longer than the connections live; give a longer --duration", took.Round(time.Millisecond))
	}
	times, err := watch(ctx, others, load, began.Add(window))
	if err != nil || len(times) == 0 {
		return nil, err
	}
	if err := ended(ctx, others); err != nil {
		return nil, err
	}
	return figures{"worst": quantile(times, 1), "p99": quantile(times, 0.99), "median": quantile(times, 0.5)}, nil
}

// watch has each client do an operation, pause, and so on: a closed loop, because a queue that grows on a slow machine
// would be measured as a stall. The time counts from when the operation was due.
func watch(ctx context.Context, db *database.Database, load queryBatch, until time.Time) ([]time.Duration, error) {
	times := make([][]time.Duration, clients)
	err := allAtOnce(clients, func(client int) error {
		for due := time.Now(); due.Before(until); due = time.Now().Add(c14Every) {
			time.Sleep(time.Until(due))
			if err := load.do(ctx, db, 0); err != nil {
				return err
			}
			times[client] = append(times[client], time.Since(due))
		}
		return nil
	})
	all := slices.Concat(times...)
	slices.Sort(all)
	return all, err
}

// ended makes sure that the holder's server processes are gone, with their tables.
func ended(ctx context.Context, db *database.Database) error {
	const left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1"
	for deadline := time.Now().Add(c14EndsWithin); ; time.Sleep(10 * time.Millisecond) {
		var n int
		err := db.Borrow(ctx, func(c *pgx.Conn) error { return c.QueryRow(ctx, left, c14Holder).Scan(&n) })
		switch {
		case err != nil || n == 0:
			return err
		case time.Now().After(deadline):
			return errors.New("connections whose lifetime is over do not end")
		}
	}
}

func (ConnectionLifetime) finding(b Bench, s sides, made []series, partial bool, l layer) claims.Finding {
	connections, tables := c14Holds(b)
	worst := against(made[0], made[1], "worst")
	verdict, why := below(worst, partial)
	measured := fmt.Sprintf("worst stall of others: %s ms fixed, %s ms jittered (%s), %s ms when tables are dropped in steps before (%s); p99 jittered %s, in steps %s",
		spread(made[0]["worst"], "%.0f"), spread(made[1]["worst"], "%.0f"), worst, spread(made[2]["worst"], "%.0f"), against(made[0], made[2], "worst"),
		against(made[0], made[1], "p99"), against(made[0], made[2], "p99"))
	measured = because(measured, why)
	return claims.Finding{
		Verdict: verdict, Measured: measured, Partial: partial,
		Figures: s.listed(made, map[string]string{"worst": "ms", "p99": "ms", "median": "ms"}),
		Conditions: append(l.conditions,
			claims.Condition{Name: "load", Text: fmt.Sprintf("%d connections with %d temp tables each (report: thousands), each third with an index; lifetime %s and a random part of as much, in whole seconds (report: 30 and 30 min)",
				connections, tables, length(c14Lives(b)))},
			claims.Condition{Name: "others", Text: fmt.Sprintf("%d clients with an operation of %d pooled temp tables, a pause of %s, the next; timed from when it was due", clients, c14Others.tables, c14Every)},
			claims.Condition{Name: "judged by", Text: "worst operation of the others in the same length of time, jittered against fixed, whole interval below 1"}),
	}
}

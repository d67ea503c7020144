package experiments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/claims"
	"plimsoll/lab/postgres"
	"plimsoll/platform/shape"
)

// Defaults of C32: a turn is long enough for autovacuum to come round several times.
const (
	c32Turn   = 30 * time.Second
	c32Rounds = 5
	// c32Naps of a turn: how often autovacuum looks. PostgreSQL knows whole seconds only.
	c32Naps = 10
)

// Autovacuum is the experiment behind C32.
type Autovacuum struct{}

// Claim implements Experiment.
func (Autovacuum) Claim() string { return "C32" }

// Sides of C32, each with a database of its own, which keeps what its turns left behind.
var c32Sides = []string{"autovacuum on", "autovacuum off"}

// Plan implements Experiment.
func (Autovacuum) Plan(b Bench) Plan {
	turns := len(c32Sides) * b.rounds(c32Rounds)
	return Plan{fmt.Sprintf("%d turns of %s: documents are posted in the classic shape with autovacuum on and off", turns, length(b.turn(c32Turn))),
		time.Duration(turns)*b.turn(c32Turn) + 30*time.Second}
}

// Run implements Experiment.
func (e Autovacuum) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withLayer(ctx, func(l layer) (f claims.Finding, err error) {
		admin, err := pgx.Connect(ctx, l.cluster.DSN("").Secret())
		if err != nil {
			return f, fmt.Errorf("connect to cluster %s: %w", l.cluster.Name(), err)
		}
		defer func() { _ = admin.Close(context.WithoutCancel(ctx)) }()
		defer func() { err = errors.Join(err, e.reset(context.WithoutCancel(ctx), admin)) }()
		s := sides{names: c32Sides, turn: b.turn(c32Turn), rounds: b.rounds(c32Rounds)}
		var offices []*office
		var sizes []int64
		for i := range c32Sides {
			dsn, err := e.copy(ctx, admin, l, i)
			if err != nil {
				return f, err
			}
			o, err := open(ctx, dsn, classic)
			if err != nil {
				return f, err
			}
			defer o.close()
			if err := o.warm(ctx); err != nil {
				return f, err
			}
			size, _, err := grown(ctx, o)
			if err != nil {
				return f, err
			}
			offices, sizes = append(offices, o), append(sizes, size)
		}
		written := make([]int, len(c32Sides))
		s.run = func(ctx context.Context, side, turn int) (figures, error) {
			if err := e.set(ctx, admin, side == 0, s.turn); err != nil {
				return nil, err
			}
			times, err := offices[side].play(ctx, s.turn, uint64(turn))
			if err != nil || len(times) == 0 {
				return nil, err
			}
			written[side] += len(times)
			size, dead, err := grown(ctx, offices[side])
			return figures{"documents": float64(len(times)) / s.turn.Seconds(), "median": quantile(times, 0.5), "p99": quantile(times, 0.99),
				"growth": float64(size-sizes[side]) / float64(written[side]) / 1000, "dead rows": float64(dead)}, err
		}
		made, partial, err := s.measure(ctx, b)
		if err != nil {
			return f, err
		}
		return e.finding(s, made, partial, l), nil
	})
}

var classic, _ = shape.New(shape.Classic, shape.Tweaks{})

// copy makes the database of a side.
func (Autovacuum) copy(ctx context.Context, admin *pgx.Conn, l layer, side int) (string, error) {
	config, err := pgx.ParseConfig(l.dsn)
	if err != nil {
		return "", fmt.Errorf("read connection string: %w", err)
	}
	name := c32Database(side)
	if err := postgres.CopyDatabase(ctx, admin, config.Database, name); err != nil {
		return "", fmt.Errorf("copy the base: %w", err)
	}
	return l.cluster.DSN(name).Secret(), nil
}

func c32Database(side int) string { return fmt.Sprintf("autovacuum_%d", side) }

// set turns autovacuum on or off for the whole server, and lets it look as often as a turn needs.
func (Autovacuum) set(ctx context.Context, admin *pgx.Conn, on bool, turn time.Duration) error {
	nap := max(1, int(turn.Seconds())/c32Naps)
	return execute(ctx, admin, fmt.Sprintf("ALTER SYSTEM SET autovacuum = %t", on), fmt.Sprintf("ALTER SYSTEM SET autovacuum_naptime = '%ds'", nap), "SELECT pg_reload_conf()")
}

// reset leaves the server as it was.
func (Autovacuum) reset(ctx context.Context, admin *pgx.Conn) error {
	statements := []string{"ALTER SYSTEM RESET autovacuum", "ALTER SYSTEM RESET autovacuum_naptime", "SELECT pg_reload_conf()"}
	for i := range c32Sides {
		statements = append(statements, fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", c32Database(i)))
	}
	return execute(ctx, admin, statements...)
}

func execute(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// grown is how large a database is, and how many dead rows its tables hold, catalogs included.
func grown(ctx context.Context, o *office) (bytes, dead int64, err error) {
	const look = "SELECT pg_database_size(current_database()), (SELECT coalesce(sum(n_dead_tup), 0)::bigint FROM pg_stat_all_tables)"
	err = o.db.Borrow(ctx, func(conn *pgx.Conn) error { return conn.QueryRow(ctx, look).Scan(&bytes, &dead) })
	return bytes, dead, err
}

func (Autovacuum) finding(s sides, made []series, partial bool, l layer) claims.Finding {
	off := against(made[0], made[1], "documents")
	verdict, why := below(off, partial)
	last := func(side int, name string) float64 {
		if v := made[side][name]; len(v) > 0 {
			return v[len(v)-1]
		}
		return 0
	}
	measured := fmt.Sprintf("documents/s without autovacuum %s, median %s, p99 %s; %s/s with it; at the end the database had grown by %.0f KB per document without and %.0f with it, dead rows %.0f and %.0f",
		off, against(made[0], made[1], "median"), against(made[0], made[1], "p99"), spread(made[0]["documents"], "%.1f"),
		last(1, "growth"), last(0, "growth"), last(1, "dead rows"), last(0, "dead rows"))
	measured = because(measured, why)
	return claims.Finding{
		Verdict: verdict, Measured: measured, Partial: partial,
		Figures: s.listed(made, map[string]string{"documents": "1/s", "median": "ms", "p99": "ms", "growth": "KB per document", "dead rows": "rows"}),
		Conditions: append(l.conditions,
			claims.Condition{Name: "load", Text: fmt.Sprintf("%d users who post, back to back, each key operation that writes documents as often as its weight says, over HTTP on a worker in this process; classic shape", clients)},
			claims.Condition{Name: "sides", Text: fmt.Sprintf("a copy of the base each, which keeps what its turns leave behind; autovacuum of the server is on in the turns of the one and off in those of the other; it looks every %ds (report: 20 s, and hours of load)", max(1, int(s.turn.Seconds())/c32Naps))},
			claims.Condition{Name: "judged by", Text: "documents per second without autovacuum against with it: confirmed when surely fewer, refuted when surely not"}),
	}
}

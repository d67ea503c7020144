package layer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/worker/shape"
)

// Defaults of C32: autovacuum runs several times in a turn.
const (
	c32Turn   = 30 * time.Second
	c32Rounds = 5
	// c32Naps is the number of autovacuum_naptime periods in a turn. PostgreSQL knows whole seconds only.
	c32Naps = 10
)

// Sides of C32, each with its own database, which keeps the dead rows of its turns.
const (
	vacuumed   = "autovacuum on"
	unvacuumed = "autovacuum off"
)

var c32Sides = []string{vacuumed, unvacuumed}

// autovacuum is the experiment behind C32.
func autovacuum(b site.Bench, s *site.Site) trial.Trial {
	v := vacuuming{site: s, turn: b.Turn(c32Turn)}
	part := trial.Part{Rounds: b.Rounds(c32Rounds), Turn: v.turn, Open: v.open, Series: []trial.Series{
		{Name: documentRate, Unit: "1/s"}, {Name: site.MedianTime, Unit: "ms"}, {Name: site.P99Time, Unit: "ms"},
		{Name: c32Growth, Unit: "KB per document"}, {Name: c32Dead, Unit: "rows"},
	}}
	for _, name := range c32Sides {
		part.Sides = append(part.Sides, v.side(name))
	}
	without := func(series string) trial.Ratio {
		return trial.Ratio{Of: trial.At(unvacuumed, series), To: trial.At(vacuumed, series)}
	}
	atEnd := func(side, series string) trial.Last { return trial.Last{Of: trial.At(side, series), Format: "%.0f"} }
	part.Measured = []trial.Phrase{
		trial.Say("documents/s without autovacuum %s, median %s, p99 %s", without(documentRate),
			without(site.MedianTime),
			without(site.P99Time)),
		trial.Say("%s/s with it", trial.Spread{Of: trial.At(vacuumed, documentRate), Format: "%.1f"}),
		trial.Say("at the end the database had grown by %s KB per document without and %s with it, dead rows %s and %s",
			atEnd(unvacuumed, c32Growth), atEnd(vacuumed, c32Growth), atEnd(unvacuumed, c32Dead),
			atEnd(vacuumed, c32Dead)),
	}
	return trial.Trial{
		Text:     "documents are posted in the classic shape with autovacuum on and off",
		Overhead: 30 * time.Second,
		Parts:    []trial.Part{part},
		Rules:    trial.Rules{Criteria: []trial.Criterion{trial.Smaller(without(documentRate))}},
		Conditions: []claims.Condition{
			{Name: "load", Text: withoutThinking("writes documents") + "; classic shape"},
			{Name: "sides", Text: fmt.Sprintf("each side has its own copy of the base, which keeps the dead rows of "+
				"its turns; the server's autovacuum is on in the turns of one side and off in those of the other; it "+
				"wakes every %ds (report: 20 s, and hours of load)", naptimeSeconds(v.turn))},
		},
	}
}

// Figures of C32 besides those of posted documents.
const (
	c32Growth = "growth"
	c32Dead   = "dead rows"
)

// vacuuming posts documents on a server with autovacuum on or off.
type vacuuming struct {
	site  *site.Site
	turn  time.Duration
	admin *pgx.Conn
}

func (v *vacuuming) open(ctx context.Context, r *trial.Record) (err error) {
	if v.admin, err = pgx.Connect(ctx, v.site.Cluster.DSN("").Secret()); err != nil {
		return fmt.Errorf("connect to cluster %s: %w", v.site.Cluster.Name(), err)
	}
	r.AtEnd(func() error {
		ctx := context.WithoutCancel(ctx)
		return errors.Join(resetAutovacuum(ctx, v.admin), v.admin.Close(ctx))
	})
	return nil
}

// side posts on a copy of the base.
func (v *vacuuming) side(name string) trial.Side {
	return trial.Side{Name: name, Open: func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
		dsn, err := v.copy(ctx, c32Database(name))
		if err != nil {
			return nil, err
		}
		w, err := openPosting(ctx, dsn, classic, newAccounts())
		if err != nil {
			return nil, err
		}
		r.Close(w.close)
		if err := w.warm(ctx); err != nil {
			return nil, err
		}
		before, _, err := grown(ctx, w)
		written, once := 0.0, w.turn(v.turn, documentRate)
		return func(ctx context.Context, n int) (trial.Figures, error) {
			if err := setAutovacuum(ctx, v.admin, name == vacuumed, v.turn); err != nil {
				return nil, err
			}
			f, err := once(ctx, n)
			if err != nil || f == nil {
				return nil, err
			}
			written += f[documentRate] * v.turn.Seconds()
			size, dead, err := grown(ctx, w)
			f[c32Growth], f[c32Dead] = float64(size-before)/written/1000, float64(dead)
			return f, err
		}, err
	}}
}

var classic, _ = shape.New(shape.Classic, shape.Tweaks{})

// copy makes a side's database.
func (v *vacuuming) copy(ctx context.Context, name string) (string, error) {
	config, err := pgx.ParseConfig(v.site.DSN)
	if err != nil {
		return "", fmt.Errorf("read connection string: %w", err)
	}
	if err := postgres.CopyDatabase(ctx, v.admin, config.Database, name); err != nil {
		return "", fmt.Errorf("copy the base: %w", err)
	}
	return v.site.Cluster.DSN(name).Secret(), nil
}

// c32Database is the name of a side's database: autovacuum_on.
func c32Database(side string) string { return strings.ReplaceAll(side, " ", "_") }

// naptimeSeconds is autovacuum_naptime in seconds.
func naptimeSeconds(turn time.Duration) int { return max(1, int(turn.Seconds())/c32Naps) }

// setAutovacuum turns it on or off for the whole server, and lets it run as often as a turn needs.
func setAutovacuum(ctx context.Context, admin *pgx.Conn, on bool, turn time.Duration) error {
	return postgres.ExecuteOn(ctx, admin, fmt.Sprintf("ALTER SYSTEM SET autovacuum = %t", on),
		fmt.Sprintf("ALTER SYSTEM SET autovacuum_naptime = '%ds'", naptimeSeconds(turn)), "SELECT pg_reload_conf()")
}

// resetAutovacuum restores the server's settings and drops the databases of the sides.
func resetAutovacuum(ctx context.Context, admin *pgx.Conn) error {
	statements := []string{"ALTER SYSTEM RESET autovacuum", "ALTER SYSTEM RESET autovacuum_naptime",
		"SELECT pg_reload_conf()"}
	for _, side := range c32Sides {
		statements = append(statements, fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", c32Database(side)))
	}
	return postgres.ExecuteOn(ctx, admin, statements...)
}

// grown is the size of a database and its number of dead rows, catalogs included.
func grown(ctx context.Context, w *postingWorker) (bytes, dead int64, err error) {
	const look = "SELECT pg_database_size(current_database()), (SELECT coalesce(sum(n_dead_tup), 0)::bigint FROM " +
		"pg_stat_all_tables)"
	err = w.db.Borrow(ctx, func(conn *pgx.Conn) error { return conn.QueryRow(ctx, look).Scan(&bytes, &dead) })
	return bytes, dead, err
}

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
	c32Rounds = 4
	// c32Naps is the number of autovacuum_naptime periods in a turn. PostgreSQL knows whole seconds only.
	c32Naps = 10
	// c32Least is a turn with --full: dead rows gather for hours until they cost more than their removal.
	c32Least   = time.Hour
	c32Scale   = 0.005 // of the base
	c32Filling = 4 * time.Minute
	// The band around the claimed loss of 5 %.
	c32Low, c32High = 0.90, 0.98
)

// Sides of C32 on each engine, each with its own database, which keeps the dead rows of its turns.
const (
	vacuumed   = "aggressive autovacuum"
	unvacuumed = "autovacuum off"
)

var c32Sides = []string{vacuumed, unvacuumed}

func c32Side(v site.Variant, name string) string { return v.Name + ", " + name }

// autovacuum is the experiment behind C32.
func autovacuum(b site.Bench, s *site.Site) trial.Trial {
	length := c32Turn
	if b.Full {
		length = c32Least
	}
	v := vacuuming{site: s, turn: b.Turn(length), scale: b.BaseScale(c32Scale, c32Scale),
		on: map[string]*vacuumedServer{}}
	part := trial.Part{Rounds: b.Rounds(c32Rounds), Turn: v.turn, Open: v.open, Series: []trial.Series{
		{Name: documentRate, Unit: "1/s"}, {Name: site.MedianTime, Unit: "ms"}, {Name: site.P99Time, Unit: "ms"},
		{Name: c32Growth, Unit: "KB per document"}, {Name: c32Dead, Unit: "rows"},
	}}
	for _, engine := range bothEngines {
		for _, name := range c32Sides {
			part.Sides = append(part.Sides, v.side(engine, name))
		}
		part.Measured = append(part.Measured, c32Measured(engine)...)
	}
	t := trial.Trial{
		Text: "documents are posted in the classic shape with aggressive autovacuum and with none, on both " +
			"flavours",
		Overhead: c32Filling,
		Parts:    []trial.Part{part},
		Conditions: []claims.Condition{
			{Name: "load", Text: withoutThinking("writes documents") + "; classic shape"},
			{Name: "sides", Text: fmt.Sprintf("each has its own copy of the base, which keeps the dead rows of its "+
				"turns: no autovacuum looks at the tables of that without, whosever turn it is. With it a table is "+
				"cleaned from 1 %% of dead rows on, as in the report; it wakes every %ds (report: 20 s)",
				naptimeSeconds(v.turn))},
		},
	}
	t.ByEngine(func(engine string) trial.Rules {
		without := c32Without(site.Flavour(engine))
		return trial.Rules{
			Direction: []trial.Criterion{trial.Larger(without(c32Dead))},
			Situation: []trial.Condition{
				site.Lasting(v.turn, c32Least, "hours of restoration"),
				site.AtWork(site.Clients, "10 threads that restore costs"),
				trial.Absent("the load", "a month's costs restored", "documents posted")},
		}.Times(without(documentRate), c32Low, c32High)
	}, site.Stock.Name, site.Ours.Name)
	return t
}

// c32Without compares a series without autovacuum with the same with it, on an engine.
func c32Without(v site.Variant) func(series string) trial.Ratio {
	return func(series string) trial.Ratio {
		return trial.Ratio{Of: trial.At(c32Side(v, unvacuumed), series), To: trial.At(c32Side(v, vacuumed), series)}
	}
}

func c32Measured(v site.Variant) []trial.Phrase {
	without := c32Without(v)
	atEnd := func(side, series string) trial.Last {
		return trial.Last{Of: trial.At(c32Side(v, side), series), Format: "%.0f"}
	}
	return []trial.Phrase{
		trial.Say("%s: documents/s without autovacuum %s, median %s, p99 %s", v.Name, without(documentRate),
			without(site.MedianTime), without(site.P99Time)),
		trial.Say("%s/s with it", trial.Spread{Of: trial.At(c32Side(v, vacuumed), documentRate), Format: "%.1f"}),
		trial.Say("at the end the database had grown by %s KB per document without and %s with it, dead rows %s and %s",
			atEnd(unvacuumed, c32Growth), atEnd(vacuumed, c32Growth), atEnd(unvacuumed, c32Dead),
			atEnd(vacuumed, c32Dead)),
	}
}

// Figures of C32 besides those of posted documents.
const (
	c32Growth = "growth"
	c32Dead   = "dead rows"
)

// vacuuming posts documents on servers with autovacuum on or off.
type vacuuming struct {
	site  *site.Site
	turn  time.Duration
	scale float64
	on    map[string]*vacuumedServer // by engine
}

// vacuumedServer has the base of an engine.
type vacuumedServer struct {
	base  *site.SeparateBase
	admin *pgx.Conn
}

func (v *vacuuming) open(ctx context.Context, r *trial.Record) error {
	for _, engine := range bothEngines {
		c := v.site.Servers.Running[engine.Engine].Cluster()
		r.Say("filling a base at scale %g on %s", v.scale, engine.Name)
		base, err := site.FillSeparate(ctx, c, v.scale, site.Streams)
		if err != nil {
			return err
		}
		admin, err := postgres.AsOwner(ctx, c.DSN("").Secret())
		if err != nil {
			return fmt.Errorf("connect to cluster %s: %w", c.Name(), err)
		}
		r.AtEnd(func() error {
			ctx := context.WithoutCancel(ctx)
			return errors.Join(resetAutovacuum(ctx, admin), admin.Close(ctx))
		})
		v.on[engine.Name] = &vacuumedServer{base, admin}
	}
	return nil
}

// side posts on a copy of the base.
func (v *vacuuming) side(engine site.Variant, name string) trial.Side {
	open := func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
		server := v.on[engine.Name]
		dsn, err := server.copy(ctx, name)
		if err != nil {
			return nil, err
		}
		w, err := openPosting(ctx, postgres.WithOptions(dsn, engine.Options()), classic, site.NewAccounts())
		if err != nil {
			return nil, err
		}
		r.Close(w.close)
		if err := w.Warm(ctx); err != nil {
			return nil, err
		}
		before, _, err := grown(ctx, w)
		written, once := 0.0, w.turn(v.turn, documentRate)
		return func(ctx context.Context, n int) (trial.Figures, error) {
			if err := setAutovacuum(ctx, server.admin, name == vacuumed, v.turn); err != nil {
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
	}
	return trial.Side{Name: c32Side(engine, name), Open: open}
}

var classic, _ = shape.New(shape.Classic, shape.Tweaks{})

// copy makes a side's database.
func (s *vacuumedServer) copy(ctx context.Context, side string) (dsn string, err error) {
	name := c32Database(side)
	if err := postgres.CopyDatabase(ctx, s.admin, s.base.Name, name); err != nil {
		return "", fmt.Errorf("copy the base: %w", err)
	}
	dsn = s.base.Cluster.DSN(name).Secret()
	if side == unvacuumed {
		err = leaveAlone(ctx, dsn)
	}
	return dsn, err
}

// leaveAloneSQL tells autovacuum to look at no table of a database, catalogs included: it is on while the other side
// works, and would clean what this one has left. The list comes first: pg_class cannot be altered while it is read.
const leaveAloneSQL = `DO $$ DECLARE change text; changes text[]; BEGIN
	SELECT array_agg(format('ALTER TABLE %s SET (autovacuum_enabled = off%s)', oid::regclass,
		CASE WHEN reltoastrelid <> 0 THEN ', toast.autovacuum_enabled = off' ELSE '' END)) INTO changes
	FROM pg_class WHERE relkind IN ('r', 'm') AND relpersistence = 'p' AND NOT relisshared;
	FOREACH change IN ARRAY changes LOOP EXECUTE change; END LOOP;
END $$`

func leaveAlone(ctx context.Context, dsn string) error {
	return postgres.With(ctx, dsn, func(conn *pgx.Conn) error {
		if err := postgres.ExecuteOn(ctx, conn, "SET allow_system_table_mods = on", leaveAloneSQL); err != nil {
			return fmt.Errorf("turn autovacuum off in %s: %w", conn.Config().Database, err)
		}
		return nil
	})
}

// c32Database is the name of a side's database: autovacuum_off.
func c32Database(side string) string { return strings.ReplaceAll(side, " ", "_") }

// naptimeSeconds is autovacuum_naptime in seconds.
func naptimeSeconds(turn time.Duration) int {
	return min(c32Nap, max(1, int(turn.Seconds())/c32Naps))
}

// c32Nap is how often the report's autovacuum wakes, in seconds.
const c32Nap = 20

// c32Aggressive is the report's share of dead rows from which on a table is cleaned, and of changed ones from which on
// it is analyzed.
const c32Aggressive = 0.01

// c32Settings are changed while the experiment runs.
var c32Settings = []string{"autovacuum", "autovacuum_naptime", "autovacuum_vacuum_scale_factor",
	"autovacuum_analyze_scale_factor"}

// setAutovacuum turns it on or off for the whole server, and lets it run as often as a turn needs.
func setAutovacuum(ctx context.Context, admin *pgx.Conn, on bool, turn time.Duration) error {
	return postgres.ExecuteOn(ctx, admin, fmt.Sprintf("ALTER SYSTEM SET autovacuum = %t", on),
		fmt.Sprintf("ALTER SYSTEM SET autovacuum_naptime = '%ds'", naptimeSeconds(turn)),
		fmt.Sprintf("ALTER SYSTEM SET autovacuum_vacuum_scale_factor = %g", c32Aggressive),
		fmt.Sprintf("ALTER SYSTEM SET autovacuum_analyze_scale_factor = %g", c32Aggressive), "SELECT pg_reload_conf()")
}

// resetAutovacuum restores the server's settings and drops the databases of the sides.
func resetAutovacuum(ctx context.Context, admin *pgx.Conn) error {
	var statements []string
	for _, name := range c32Settings {
		statements = append(statements, "ALTER SYSTEM RESET "+name)
	}
	statements = append(statements, "SELECT pg_reload_conf()")
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

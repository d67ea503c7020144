package extensions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C35.
const (
	c35Rounds   = 4
	c35Register = 2_000_000 // rows
	c35Full     = 8_000_000
	c35Least    = 2_000_000 // "a register of millions"; it has the keys of the largest temp table
	// The band around the claimed 17 times.
	c35Low, c35High = 12.0, 24.0

	c35Takes  = 8 * time.Second // a turn, roughly
	c35Making = 2 * time.Minute
	// c35Most is how long the joining query may take; one that is cut off counts as this long.
	c35Most = 20 * time.Second
	// Every key of the register has two rows; its keys are those of so many groups.
	c35PerKey = 2
	c35Groups = 50
)

var c35Rows = []int{10_000, 100_000, 1_000_000}

// joinShape is what the temp tables are indexed by: each names a column that both sides of the join have.
type joinShape struct{ name, index string }

var c35Shapes = []joinShape{{"key", "key"}, {"group", "grp"}}

// statisticsWay is how temp tables get statistics. Another way is one more of these.
type statisticsWay struct {
	name    string
	options string
}

var (
	noStatistics = statisticsWay{"no statistics", ""}
	byServer     = statisticsWay{"online_analyze", "-c session_preload_libraries=online_analyze " +
		"-c online_analyze.table_type=temporary -c online_analyze.verbose=off"}
	// Ours alone counts rows and values while a temp table is filled.
	byCounting = statisticsWay{"counted while filled", "-c temp_live_statistics=on"}
)

// waysOf are the ways that a flavour has.
func waysOf(v site.Variant) []statisticsWay {
	if v.Engine == site.Ours.Engine {
		return []statisticsWay{noStatistics, byServer, byCounting}
	}
	return []statisticsWay{noStatistics, byServer}
}

// c35Settings are those of a 1C server's session that change plans.
var c35Settings = []string{"SET enable_mergejoin = off", "SET cpu_operator_cost = 0.001",
	"SET max_parallel_workers_per_gather = 0", "SET work_mem = '256MB'"}

// batchTime is the figure of C35: filling two temp tables, with statistics if there are any, and joining them.
const batchTime = "batch"

const checkJoined = "joined rows"

func joinSide(v site.Variant, way statisticsWay, rows int, shape joinShape) string {
	return fmt.Sprintf("%s, %s, %s rows by %s", v.Name, way.name, human.Thousands(rows), shape.name)
}

// slower is how much longer a batch takes without statistics.
func slower(v site.Variant, way statisticsWay, rows int, shape joinShape) trial.Ratio {
	return trial.Ratio{Of: trial.At(joinSide(v, noStatistics, rows, shape), batchTime),
		To: trial.At(joinSide(v, way, rows, shape), batchTime),
		As: fmt.Sprintf("time without statistics against %s on %s, %s rows by %s", way.name, v.Name,
			human.Thousands(rows), shape.name)}
}

func c35RegisterRows(b site.Bench) int {
	switch {
	case b.Documents != 0:
		return b.Documents
	case b.Full:
		return c35Full
	}
	return c35Register
}

// tempStatistics is the experiment behind C35: a query batch of two indexed temp tables and a register.
func tempStatistics(b site.Bench, s *site.Site) trial.Trial {
	register := c35RegisterRows(b)
	part := trial.Part{Rounds: b.Rounds(c35Rounds), Turn: c35Takes,
		Series: []trial.Series{{Name: batchTime, Unit: "ms"}}}
	part.Open = func(ctx context.Context, r *trial.Record) error {
		r.Say("creating a register of %s rows on both flavours", human.Thousands(register))
		return makeRegister(ctx, s.Servers, register)
	}
	largest := map[string]trial.Largest{}
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		gain := trial.Largest{As: "time without statistics against online_analyze on " + v.Name +
			", of the join that suffers most"}
		for _, shape := range c35Shapes {
			for _, rows := range c35Rows {
				for _, way := range waysOf(v) {
					part.Sides = append(part.Sides, trial.Side{Name: joinSide(v, way, rows, shape),
						Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
							return func(ctx context.Context, _ int) (trial.Figures, error) {
								return joinBatch(ctx, s.Servers, r, v, way, rows, shape)
							}, nil
						}})
				}
				gain.Of = append(gain.Of, slower(v, byServer, rows, shape))
				for _, way := range waysOf(v)[1:] {
					part.Measured = append(part.Measured, trial.Say("%s, %s rows by %s, %s: %s (%s against %s ms)",
						v.Name, human.Thousands(rows), shape.name, way.name, slower(v, way, rows, shape),
						trial.Spread{Of: trial.At(joinSide(v, noStatistics, rows, shape), batchTime), Format: "%.0f"},
						trial.Spread{Of: trial.At(joinSide(v, way, rows, shape), batchTime), Format: "%.0f"}))
				}
			}
		}
		largest[v.Name] = gain
	}
	t := trial.Trial{
		Text: fmt.Sprintf("two indexed temp tables of %s to %s rows are filled and joined with each other and a "+
			"register of %s rows, with and without statistics, on both flavours", human.Thousands(c35Rows[0]),
			human.Thousands(c35Rows[len(c35Rows)-1]), human.Thousands(register)),
		Overhead: c35Making, Parts: []trial.Part{part},
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("one client; both temp tables have the same keys, each once, in %d "+
				"groups; the query compares constants with columns that hold one value alone, as generated "+
				"queries do; each turn has a new session; a query that takes %s is cut off and counts as that long",
				c35Groups, human.Duration(c35Most))},
			{Name: "indexes", Text: "by the key, or by the group, of which a key is one of thousands"},
			{Name: "statistics", Text: "of temp tables: none, by the server's online_analyze, or on ours " +
				"counted while they are filled (temp_live_statistics); their time counts"},
			{Name: "settings", Text: "of a 1C server's session: no merge join, cpu_operator_cost 0.001; no parallel " +
				"workers, work_mem 256MB"},
		}}
	t.ByEngine(func(engine string) trial.Rules {
		return trial.Rules{
			Checks: []trial.Check{{Name: checkJoined, Want: "every join finds each key's rows"}},
			Situation: []trial.Condition{{Of: trial.Known{As: "rows of the register", Value: float64(register)},
				Report: "millions", Met: trial.AtLeast(c35Least)},
				trial.Absent("load", "a month's costs restored by 10 threads", "one client that fills and joins, of "+
					"which the join that suffers most is judged")},
		}.Times(largest[engine], c35Low, c35High)
	}, site.Stock.Name, site.Ours.Name)
	return t
}

const c35KeySQL = "decode(lpad(to_hex(%s), 32, '0'), 'hex')"

// makeRegister makes it on both servers.
func makeRegister(ctx context.Context, e *site.Engines, rows int) error {
	sql := fmt.Sprintf(`DROP TABLE IF EXISTS register;
CREATE TABLE register (key bytea NOT NULL, grp bytea NOT NULL, period timestamp NOT NULL,
	amount numeric(15, 2) NOT NULL);
INSERT INTO register SELECT %s, %s, timestamp '2025-01-01' + n * interval '1 second', n %% 1000
FROM generate_series(0, %d - 1) n;
CREATE INDEX register_key ON register (key, period);
CREATE INDEX register_period ON register (period, key);
ANALYZE register`, fmt.Sprintf(c35KeySQL, fmt.Sprintf("n / %d", c35PerKey)),
		fmt.Sprintf(c35KeySQL, fmt.Sprintf("(n / %d) %% %d", c35PerKey, c35Groups)), rows)
	return e.OnBoth(ctx, sql)
}

// queryCanceled is PostgreSQL's error of a statement that took too long.
const queryCanceled = "57014"

// joinBatch fills two temp tables and joins them.
func joinBatch(ctx context.Context, e *site.Engines, r *trial.Record, v site.Variant, way statisticsWay, rows int,
	shape joinShape) (f trial.Figures, err error) {
	dsn := postgres.WithOptions(e.Running[v.Engine].Cluster().DSN("").Secret(), v.Options()+" "+way.options)
	err = postgres.With(ctx, dsn, func(conn *pgx.Conn) error {
		prepare := append([]string{}, c35Settings...)
		for _, name := range []string{"tt1", "tt2"} {
			prepare = append(prepare, fmt.Sprintf("CREATE TEMP TABLE %s (key bytea, grp bytea, kind numeric, company "+
				"bytea, amount numeric)", name), fmt.Sprintf("CREATE INDEX %s_by ON %[1]s (%s)", name, shape.index))
		}
		if err := postgres.ExecuteOn(ctx, conn, prepare...); err != nil {
			return err
		}
		began := time.Now()
		for _, name := range []string{"tt1", "tt2"} {
			if _, err := conn.Exec(ctx, fmt.Sprintf(`INSERT INTO %s
SELECT DISTINCT ON (key) key, grp, 1, '\x01'::bytea, amount
FROM register WHERE key < %s ORDER BY key, period`, name, fmt.Sprintf(c35KeySQL, fmt.Sprint(rows)))); err != nil {
				return err
			}
		}
		filled := time.Since(began)
		if _, err := conn.Exec(ctx, fmt.Sprintf("SET statement_timeout = %d", c35Most.Milliseconds())); err != nil {
			return err
		}
		began, found := time.Now(), 0
		err := conn.QueryRow(ctx, `SELECT count(*) FROM tt1 a
	INNER JOIN tt2 b ON b.key = a.key AND b.grp = a.grp
	INNER JOIN register r ON r.key = a.key AND r.grp = b.grp
WHERE a.kind = 1 AND b.kind = 1 AND a.company = '\x01'::bytea AND b.company = '\x01'::bytea`).Scan(&found)
		took := time.Since(began)
		var pg *pgconn.PgError
		switch {
		case errors.As(err, &pg) && pg.Code == queryCanceled && ctx.Err() == nil:
			took = max(took, c35Most)
		case err != nil:
			return err
		case found != c35PerKey*rows:
			r.Fail(checkJoined, fmt.Sprintf("%d rows of %d (%s)", found, c35PerKey*rows, joinSide(v, way, rows, shape)))
		}
		f = trial.Figures{batchTime: (filled + took).Seconds() * 1e3}
		return nil
	})
	return f, err
}

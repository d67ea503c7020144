package temptables

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C12. The base has as many relations as one of the report's.
const (
	c12Turn = 3 * time.Second
	// c12Rounds: among as many tests as operations have shapes, complete separation of fewer turns could be chance.
	c12Rounds    = 7
	c12Claimed   = 10.0 // "tens of times"
	c12Some      = 2    // "some operations"
	c12Faster    = 1.1  // from then on an operation is faster at all
	c12Clients   = site.Clients
	c12Relations = 26_000
	c12Each      = 4   // relations of a table: itself and three indexes
	c12Ending    = 100 // temp tables of a session that ends
)

// tempShape is a temp table and the buffers of its session.
type tempShape struct {
	columns int
	buffers string
}

var c12Shapes = []tempShape{{10, "8MB"}, {100, "8MB"}, {300, "8MB"}, {10, "256MB"}, {10, "4GB"}}

func (t tempShape) String() string {
	return fmt.Sprintf("%d columns, temp_buffers %s", t.columns, t.buffers)
}

func (t tempShape) on(c catalogSide) string { return c.name + ", " + t.String() }

// catalogSide is a server, what of our engine is on, and how it commits.
type catalogSide struct {
	name         string
	variant      site.Variant
	asynchronous bool
}

// Sides of C12. The claim is about the memory catalog alone, and the report's commits are asynchronous: so the first
// two are judged. What flushes and files cost stands apart, in the first shape alone.
var (
	c12Stock     = catalogSide{"stock", site.Stock, true}
	c12Catalog   = catalogSide{"memory catalog alone", site.Only(site.MemoryCatalog), true}
	c12All       = catalogSide{"ours", site.Ours, true}
	c12StockSync = catalogSide{"stock, commits flushed", site.Stock, false}
	c12AllSync   = catalogSide{"ours, commits flushed", site.Ours, false}
)

func c12Sides(shape int) []catalogSide {
	if shape == 0 {
		return []catalogSide{c12Stock, c12Catalog, c12All, c12StockSync, c12AllSync}
	}
	return []catalogSide{c12Stock, c12Catalog, c12All}
}

func (c catalogSide) options() string {
	if c.asynchronous {
		return "-c synchronous_commit=off"
	}
	return "-c synchronous_commit=on"
}

// c12Operations are the statements of a life, by their first words, and the end of the session.
var c12Operations = []string{"CREATE TEMP TABLE", "INSERT", "CREATE INDEX", "ANALYZE", "SELECT", "TRUNCATE",
	"DROP TABLE", sessionEnd}

const sessionEnd = "session end"

// memoryCatalogRows is the experiment behind C12: every operation is judged by itself.
func memoryCatalogRows(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c12Rounds), Turn: b.Turn(c12Turn), Between: time.Second,
		Series: []trial.Series{{Name: cycleRate, Unit: "1/s"}}}
	for _, operation := range c12Operations {
		part.Series = append(part.Series, trial.Series{Name: operation, Unit: "ms"})
	}
	part.Open = func(ctx context.Context, r *trial.Record) error {
		r.Say("creating %s relations on both flavours", human.Thousands(relations(b)))
		return makeRelations(ctx, s.Servers, relations(b))
	}
	shown := trial.Shown{As: fmt.Sprintf("operations that take ×%g the time on stock", c12Claimed), Bar: c12Claimed}
	faster := trial.Shown{As: fmt.Sprintf("operations that take ×%g the time on stock", c12Faster), Bar: c12Faster}
	for _, operation := range c12Operations {
		shown.Of = append(shown.Of, trial.Operation{Name: operation})
		faster.Of = append(faster.Of, trial.Operation{Name: operation})
	}
	for n, shape := range c12Shapes {
		for _, side := range c12Sides(n) {
			part.Sides = append(part.Sides, lifeSide(s, side, shape, part.Turn))
		}
		for i, operation := range c12Operations {
			gain := c12Gain(shape, c12Stock, c12Catalog, operation)
			shown.Of[i].Ratios, faster.Of[i].Ratios = append(shown.Of[i].Ratios, gain), append(faster.Of[i].Ratios,
				gain)
		}
		part.Measured = append(part.Measured, c12Gains(shape, c12Stock, c12Catalog), c12Gains(shape, c12Stock, c12All))
		if n == 0 {
			part.Measured = append(part.Measured, c12Gains(shape, c12StockSync, c12Stock),
				c12Gains(shape, c12StockSync, c12AllSync))
		}
	}
	part.Measured = append(part.Measured, trial.Say("surely ×%s or more: %s operations", fmt.Sprint(c12Claimed), shown))
	return trial.Trial{
		Text: fmt.Sprintf("%d clients create, use and drop temp tables of 10 to 300 columns with temp_buffers of 8MB "+
			"to 4GB, and sessions with temp tables end, in a base of %s relations, on both flavours", c12Clients,
			human.Thousands(relations(b))),
		Overhead: 3 * time.Minute, Parts: []trial.Part{part},
		Rules: trial.Rules{
			Situation: []trial.Condition{
				{Of: trial.Known{As: "relations of the base", Value: float64(relations(b))},
					Report: human.Thousands(c12Relations), Met: trial.AtLeast(c12Relations)},
				site.AtWork(c12Clients, "30,000 users")},
			Direction: []trial.Criterion{{Of: faster, Confirm: trial.AtLeast(c12Some), Refute: trial.Below(c12Some)}},
			Size:      []trial.Band{{Of: shown, Low: c12Some, High: math.Inf(1)}}},
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("CREATE TEMP TABLE, 50 rows, an index, ANALYZE, a query, TRUNCATE, "+
				"DROP; one transaction per statement, over a socket; the end of a session with %d temp tables, until "+
				"its backend is gone", c12Ending)},
			{Name: "judged", Text: "the memory catalog alone against stock, both with asynchronous commits, as in " +
				"the " +
				"report; the other settings for temp tables and flushed commits are reported beside it"},
			{Name: "bar", Text: fmt.Sprintf("×%g is the claim's \"tens of times\", %d operations its \"some\"; each "+
				"is "+
				"tested in every shape, one of which is enough, and the errors of all tests together are at most 5 %% "+
				"(Holm)", c12Claimed, c12Some)},
		},
	}
}

// c12Gain is the time of an operation on one side against that on another.
func c12Gain(shape tempShape, slow, fast catalogSide, operation string) trial.Ratio {
	return trial.Ratio{Of: trial.At(shape.on(slow), operation), To: trial.At(shape.on(fast), operation)}
}

// c12Gains of all operations.
func c12Gains(shape tempShape, slow, fast catalogSide) trial.Phrase {
	text, gains := fmt.Sprintf("%s: time on %s against %s, ", shape, slow.name, fast.name), []any{}
	for i, operation := range c12Operations {
		if i > 0 {
			text += ", "
		}
		text, gains = text+operation+" %s", append(gains, c12Gain(shape, slow, fast, operation))
	}
	return trial.Say(text, gains...)
}

// relations of the base; --documents gives the number of tables.
func relations(b site.Bench) int {
	if b.Documents != 0 {
		return b.Documents * c12Each
	}
	return c12Relations
}

// makeRelations makes tables with indexes, some at a time.
func makeRelations(ctx context.Context, e *site.Engines, relations int) error {
	return e.OnBoth(ctx, fmt.Sprintf(`DO $$
BEGIN
  FOR i IN 1 .. %d LOOP
    EXECUTE format('CREATE TABLE IF NOT EXISTS many_%%s (id int PRIMARY KEY, a int UNIQUE, b int UNIQUE, c text)', i);
    IF i %% 50 = 0 THEN COMMIT; END IF;
  END LOOP;
END $$`, relations/c12Each))
}

// life is the script of a temp table of so many columns.
func life(columns int) string {
	types := []string{"text", "numeric(15,2)", "int", "timestamp"}
	values := []string{"'text ' || g % 7", "g * 1.5", "g", "timestamp '2026-01-01'"}
	var defined, filled []string
	for i := range columns {
		defined = append(defined, fmt.Sprintf("c%d %s", i, types[i%len(types)]))
		filled = append(filled, values[i%len(values)])
	}
	return strings.Join([]string{
		"CREATE TEMP TABLE work (" + strings.Join(defined, ", ") + ");",
		"INSERT INTO work SELECT " + strings.Join(filled, ", ") + " FROM generate_series(1, 50) g;",
		"CREATE INDEX work_c2 ON work (c2);",
		"ANALYZE work;",
		"SELECT sum(c1) FROM work WHERE c2 = 17;",
		"TRUNCATE work;",
		"DROP TABLE work;",
	}, "\n") + "\n"
}

func lifeSide(s *site.Site, side catalogSide, shape tempShape, turn time.Duration) trial.Side {
	v := side.variant
	return trial.Side{Name: shape.on(side), Open: func(context.Context, *trial.Record) (trial.Turn, error) {
		p := play{script: life(shape.columns), clients: c12Clients, lasts: turn,
			options: "-c temp_buffers=" + shape.buffers + " " + side.options()}
		return func(ctx context.Context, _ int) (trial.Figures, error) {
			done, err := pgbench(ctx, s.Servers, v, p)
			if err != nil {
				return nil, err
			}
			f := trial.Figures{cycleRate: done.tps}
			for _, operation := range c12Operations {
				f[operation] = done.latencyOf(operation)
			}
			ended, err := endOf(ctx, s.Servers, v, shape)
			f[sessionEnd] = ended.Seconds() * 1000
			return f, err
		}, nil
	}}
}

// endOf a session with temp tables, until its backend is gone.
func endOf(ctx context.Context, e *site.Engines, v site.Variant, shape tempShape) (took time.Duration, err error) {
	holder, err := e.Connect(ctx, v)
	if err != nil {
		return 0, err
	}
	defer func() { _ = holder.Close(context.WithoutCancel(ctx)) }()
	create, _, _ := strings.Cut(strings.TrimPrefix(life(shape.columns), "CREATE TEMP TABLE work "), ";")
	if err := postgres.ExecuteOn(ctx, holder, "SET temp_buffers = '"+shape.buffers+"'"); err != nil {
		return 0, err
	}
	for i := range c12Ending {
		if err := postgres.ExecuteOn(ctx, holder, fmt.Sprintf("CREATE TEMP TABLE live_%d %s", i, create),
			fmt.Sprintf("INSERT INTO live_%d (c2) VALUES (1)", i)); err != nil {
			return 0, err
		}
	}
	return terminate(ctx, e, v, []uint32{holder.PgConn().PID()})
}

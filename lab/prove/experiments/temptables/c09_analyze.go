package temptables

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/engine/bench"
	"plimsoll/ground/human"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C09, and what is required: the widest table c09Claimed times as fast, the narrowest not slower.
const (
	c09Rounds   = 5
	c09Rows     = 30_000 // a sample of the default statistics target
	c09AtLeast  = 300    // columns analyzed in a turn, by one ANALYZE or several
	c09Claimed  = 10.0   // "tens of times", from
	c09Hundreds = 100.0  // to
	c09NoSlower = 0.95
	c09Takes    = time.Second
	c09Between  = 8 * time.Second // what the widest table takes more, shared out among all turns
)

var c09Columns = []int{10, 100, 300, 1000}

// analyzeTime is the figure of C09: of one ANALYZE.
const analyzeTime = "ANALYZE"

// analyzedColumns is the experiment behind C09.
func analyzedColumns(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c09Rounds), Turn: c09Takes, Between: c09Between,
		Series: []trial.Series{{Name: analyzeTime, Unit: "ms"}}}
	part.Open = func(ctx context.Context, _ *trial.Record) error { return makeWideTables(ctx, s.Servers, c09Rows) }
	for _, columns := range c09Columns {
		for _, v := range []site.Variant{site.Stock, site.Ours} {
			part.Sides = append(part.Sides, trial.Side{Name: wideSide(v, columns),
				Open: func(context.Context, *trial.Record) (trial.Turn, error) {
					return func(ctx context.Context, _ int) (trial.Figures, error) {
						return analyzeWide(ctx, s.Servers, v, columns)
					}, nil
				}})
		}
		part.Measured = append(part.Measured, trial.Say("%d columns: %s (%s against %s ms)", columns, fewerMs(columns),
			trial.Spread{Of: trial.At(wideSide(site.Ours, columns), analyzeTime), Format: "%.1f"},
			trial.Spread{Of: trial.At(wideSide(site.Stock, columns), analyzeTime), Format: "%.1f"}))
	}
	narrow, wide := c09Columns[0], c09Columns[len(c09Columns)-1]
	return trial.Trial{
		Text:     "ANALYZE of tables of " + columnCounts() + " columns, on both flavours",
		Overhead: 2 * time.Minute,
		Parts:    []trial.Part{part},
		Rules: trial.Rules{Direction: []trial.Criterion{trial.Bar(fewerMs(narrow), c09NoSlower)}}.Times(fewerMs(wide),
			c09Claimed, c09Hundreds),
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("tables of %s rows, all of which are the sample; text, numeric, int, "+
				"varchar and bool in turn, most with few values; each analyzed once before its first turn",
				human.Thousands(c09Rows))},
			{Name: "bars", Text: fmt.Sprintf("×%g with %s columns is the claim's \"tens of times\"; that %d columns "+
				"are no slower is our own requirement", c09Claimed, human.Thousands(wide), narrow)},
		},
	}
}

func wideSide(v site.Variant, columns int) string {
	return fmt.Sprintf("%s, %d columns", v.Name, columns)
}

// fewerMs is how much faster ours is.
func fewerMs(columns int) trial.Ratio {
	return trial.Ratio{Of: trial.At(wideSide(site.Stock, columns), analyzeTime),
		To: trial.At(wideSide(site.Ours, columns), analyzeTime),
		As: fmt.Sprintf("time of stock against ours with %d columns", columns)}
}

func columnCounts() string {
	var counts []string
	for _, n := range c09Columns[:len(c09Columns)-1] {
		counts = append(counts, human.Thousands(n))
	}
	return strings.Join(counts, ", ") + " and " + human.Thousands(c09Columns[len(c09Columns)-1])
}

// makeWideTables makes the tables on both servers; the first ANALYZE also reads them and writes hint bits.
func makeWideTables(ctx context.Context, e *site.Engines, rows int) error {
	for _, columns := range c09Columns {
		sql, err := bench.WideTable(columns, rows)
		if err == nil {
			err = e.OnBoth(ctx, fmt.Sprintf("%s; ANALYZE wide_%d", strings.TrimSuffix(strings.TrimSpace(sql), ";"),
				columns))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func analyzeWide(ctx context.Context, e *site.Engines, v site.Variant, columns int) (trial.Figures, error) {
	times := (c09AtLeast + columns - 1) / columns
	var took time.Duration
	err := e.On(ctx, v, func(conn *pgx.Conn) error {
		// A new session reads the catalogs first.
		if _, err := conn.Exec(ctx, fmt.Sprintf("SELECT * FROM wide_%d LIMIT 0", columns)); err != nil {
			return err
		}
		begun := time.Now()
		for range times {
			if _, err := conn.Exec(ctx, fmt.Sprintf("ANALYZE wide_%d", columns)); err != nil {
				return err
			}
		}
		took = time.Since(begun)
		return nil
	})
	return trial.Figures{analyzeTime: took.Seconds() * 1e3 / float64(times)}, err
}

package extensions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/engine/bench"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C10, and a goal of our own, for short and long values with few matches. The claim names no figure: a
// missed goal refutes nothing.
const (
	c10Rounds     = 6
	c10Characters = 4_000_000 // of each table
	c10Queries    = 5         // of a turn; the figure is the fastest
	c10Goal       = 5.0
	c10Between    = 2 * time.Second // a turn, roughly
)

// likeShape is a table: characters of a value, and how many values there are for one that has the text.
type likeShape struct{ characters, every int }

func (l likeShape) String() string {
	return fmt.Sprintf("%s characters, one in %d", human.Thousands(l.characters), l.every)
}

// rows of the table, and those that the query must find.
func (l likeShape) rows() int    { return (c10Characters + l.characters - 1) / l.characters }
func (l likeShape) matches() int { return l.rows() / l.every }

var (
	c10Short = likeShape{30, 100}
	c10Long  = likeShape{10_000, 100}
	// Shapes of C10: by length, then by selectivity.
	c10Shapes = []likeShape{{10, 100}, c10Short, {100, 100}, {1000, 100}, c10Long, {30, 2}, {1000, 2}}
)

// Ways of matching, by mchar.substring_search.
const (
	genericMatcher = "generic matcher"
	searched       = "substring search"
)

var c10Settings = map[string]string{genericMatcher: "off", searched: "on"}

// queryTime is the figure of C10.
const queryTime = "query"

const checkMatches = "matches"

func likeSide(way string, shape likeShape) string { return way + ", " + shape.String() }

// fewerOf is how much faster the search is.
func fewerOf(shape likeShape) trial.Ratio {
	return trial.Ratio{Of: trial.At(likeSide(genericMatcher, shape), queryTime),
		To: trial.At(likeSide(searched, shape), queryTime),
		As: "time of the generic matcher against the search, " + shape.String()}
}

// substringSearch is the experiment behind C10: the same query over the same values, the extension's setting off and
// on, on our flavour. Both find what was planted, or the turn fails.
func substringSearch(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c10Rounds), Turn: time.Second, Between: c10Between,
		Series: []trial.Series{{Name: queryTime, Unit: "ms"}}}
	part.Open = func(ctx context.Context, r *trial.Record) error {
		for i, shape := range c10Shapes {
			r.Say("creating table %d of %d: %s", i+1, len(c10Shapes), shape)
			if err := makeLikeTable(ctx, s.Servers, shape); err != nil {
				return err
			}
		}
		return nil
	}
	rules := trial.Rules{Checks: []trial.Check{{Name: checkMatches, Want: "every query finds what was planted",
		Refuted: "the search finds something else"}}}
	for _, shape := range c10Shapes {
		for _, way := range []string{genericMatcher, searched} {
			part.Sides = append(part.Sides, trial.Side{Name: likeSide(way, shape),
				Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
					return func(ctx context.Context, _ int) (trial.Figures, error) {
						return search(ctx, s.Servers, r, way, shape)
					}, nil
				}})
		}
		part.Measured = append(part.Measured, trial.Say("%s: %s (%s against %s ms)", shape.String(), fewerOf(shape),
			trial.Spread{Of: trial.At(likeSide(genericMatcher, shape), queryTime), Format: "%.1f"},
			trial.Spread{Of: trial.At(likeSide(searched, shape), queryTime), Format: "%.1f"}))
		rules.Direction = append(rules.Direction, trial.Criterion{Of: fewerOf(shape), Confirm: trial.Above(1),
			Refute: trial.Below(1)})
	}
	return trial.Trial{
		Text: "LIKE '%text%' on mvarchar by the generic matcher and by substring search, for values of several " +
			"lengths and texts that are rare and common",
		Overhead: time.Minute, Parts: []trial.Part{part}, Rules: rules,
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("one client; tables of %s characters in all, Russian words, not "+
				"compressed; a sequential scan without parallel workers; the fastest of %d queries of a turn",
				human.Thousands(c10Characters), c10Queries)},
			{Name: "ways", Text: "mchar.substring_search off and on, in the same session otherwise"},
			{Name: "goal", Text: fmt.Sprintf("our own, not judged, since the claim gives no figure: ×%g with %s and "+
				"with %s; reading the rows is a part of both times", c10Goal, c10Short, c10Long)},
		},
	}
}

// tableName keeps tables of one length and several selectivities apart.
func (l likeShape) tableName() string { return fmt.Sprintf("like_%d_in_%d", l.characters, l.every) }

func makeLikeTable(ctx context.Context, e *site.Engines, shape likeShape) error {
	sql, err := bench.LikeTable(shape.characters, shape.rows(), shape.every)
	if err != nil {
		return err
	}
	var statements []string // VACUUM does not go with others
	for _, statement := range strings.Split(sql, ";\n") {
		if statement = strings.TrimSuffix(strings.TrimSpace(statement), ";"); statement != "" {
			statements = append(statements, statement)
		}
	}
	statements = append(statements, fmt.Sprintf("DROP TABLE IF EXISTS %s", shape.tableName()),
		fmt.Sprintf("ALTER TABLE like_%d RENAME TO %s", shape.characters, shape.tableName()))
	return e.On(ctx, site.Ours, func(conn *pgx.Conn) error { return postgres.ExecuteOn(ctx, conn, statements...) })
}

// search looks for the text some times; the figure is the fastest time.
func search(ctx context.Context, e *site.Engines, r *trial.Record, way string, shape likeShape) (f trial.Figures,
	err error) {
	query, err := bench.Like(shape.characters)
	if err != nil {
		return nil, err
	}
	query = strings.ReplaceAll(query, fmt.Sprintf("like_%d ", shape.characters), shape.tableName()+" ")
	err = e.On(ctx, site.Ours, func(conn *pgx.Conn) error {
		if err := postgres.ExecuteOn(ctx, conn, "LOAD 'mchar'", "SET max_parallel_workers_per_gather = 0",
			"SET mchar.substring_search = "+c10Settings[way]); err != nil {
			return err
		}
		fastest := time.Duration(0)
		for range c10Queries {
			began, found := time.Now(), 0
			if err := conn.QueryRow(ctx, query).Scan(&found); err != nil {
				return err
			}
			if took := time.Since(began); fastest == 0 || took < fastest {
				fastest = took
			}
			if found != shape.matches() {
				r.Fail(checkMatches, fmt.Sprintf("%s finds %d of %d values (%s)", way, found, shape.matches(), shape))
			}
		}
		f = trial.Figures{queryTime: fastest.Seconds() * 1e3}
		return nil
	})
	return f, err
}

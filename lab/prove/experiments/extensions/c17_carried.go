package extensions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// carried is an extension that a 1C server needs, and how to see that it works: preparing statements, then a query
// that answers true.
type carried struct {
	name    string
	prepare []string
	query   string
}

// allCarried are those that the claim names. mchar and mvarchar are one.
var allCarried = []carried{
	{"mchar", []string{"CREATE EXTENSION IF NOT EXISTS mchar"},
		`SELECT 'Болт  '::mchar(10) = 'БОЛТ'::mvarchar(10) AND 'стальной болт'::mvarchar LIKE '%БОЛТ%'
	AND 'болт'::mchar < 'винт'::mchar AND NOT 'а'::mvarchar &= 'А'::mvarchar`},
	{"fulleq", []string{"CREATE EXTENSION IF NOT EXISTS fulleq"},
		`SELECT (NULL::bytea == NULL::bytea) AND NOT ('\x01'::bytea == NULL::bytea) AND (1 == 1)`},
	{"fasttruncate", []string{"CREATE EXTENSION IF NOT EXISTS fasttrun", "CREATE TEMP TABLE tt1 (n int)",
		"INSERT INTO tt1 SELECT generate_series(1, 1000)", "SELECT fasttruncate('tt1')"},
		"SELECT count(*) = 0 AND pg_relation_size('tt1') = 0 FROM tt1"},
	{"online_analyze", []string{"LOAD 'online_analyze'", "SET online_analyze.table_type = 'temporary'",
		`SET online_analyze."verbose" = off`, "CREATE TEMP TABLE tt2 (n int)",
		"INSERT INTO tt2 SELECT generate_series(1, 1000)"},
		"SELECT reltuples = 1000 AND EXISTS (SELECT FROM pg_stats WHERE tablename = 'tt2') FROM pg_class WHERE oid = " +
			"'tt2'::regclass"},
	{"plantuner", []string{"LOAD 'plantuner'", "CREATE TEMP TABLE tt3 (n int)", "CREATE INDEX tt3_n ON tt3 (n)",
		"SET enable_seqscan = off", "SET plantuner.disable_index = 'tt3_n'"}, ""},
	{"dbcopies_decoding", []string{"CREATE TABLE IF NOT EXISTS copied (n int)",
		"SELECT pg_create_logical_replication_slot('c17', 'dbcopies_decoding', true)", "INSERT INTO copied VALUES (1)"},
		"SELECT count(*) > 0 FROM pg_logical_slot_get_changes('c17', NULL, NULL) WHERE data LIKE '%copied%'"},
}

// notCarried is on no server: that it does not work shows that the others could fail.
var notCarried = carried{name: "an extension that nobody has", query: "SELECT plimsoll_no_such_function()"}

const controlSide = "control"

// works is the figure of C17: 1 or 0.
const works = "works"

const c17Takes = time.Second

// carriedExtensions is the experiment behind C17: each extension does what it is for, on both flavours.
func carriedExtensions(_ site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: 1, InOrder: true, Counted: true, Between: c17Takes,
		Series: []trial.Series{{Name: works}}}
	part.Sides = append(part.Sides, trial.Side{Name: controlSide,
		Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
			return func(ctx context.Context, _ int) (trial.Figures, error) {
				return notCarried.try(ctx, s.Servers, site.Stock, r)
			}, nil
		}})
	rules := trial.Rules{Requires: []trial.Criterion{{Of: trial.Every{Of: trial.At(controlSide, works),
		As: controlSide}, Confirm: trial.AtMost(0), Unless: "what is not there seems to work"}}}
	for _, v := range []site.Variant{site.Ours, site.Stock} {
		for _, one := range allCarried {
			name := v.Name + ", " + one.name
			part.Sides = append(part.Sides, trial.Side{Name: name,
				Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
					return func(ctx context.Context, _ int) (trial.Figures, error) {
						return one.try(ctx, s.Servers, v, r)
					}, nil
				}})
			rules.Direction = append(rules.Direction, trial.Criterion{
				Of:      trial.Every{Of: trial.At(name, works), As: name},
				Confirm: trial.AtLeast(1), Refute: trial.Below(1), Anywhere: true})
		}
	}
	part.Measured = []trial.Phrase{trial.Say("of %d extensions work on ours %s, on stock %s", len(allCarried),
		worksOn(site.Ours), worksOn(site.Stock))}
	return trial.Trial{
		Text:     "each extension that such platforms need does what it is for, on both flavours",
		Overhead: 15 * time.Second, Parts: []trial.Part{part}, Rules: rules,
		Conditions: []claims.Condition{
			{Name: "works", Text: "mchar: equal but for case and blanks, LIKE, order, comparison with case; fulleq: " +
				"NULL == NULL; fasttruncate: a table with rows is empty and has no pages; online_analyze: statistics " +
				"right after an INSERT; plantuner: a hidden index is in no plan; dbcopies_decoding: a change is " +
				"decoded"},
			{Name: "control", Text: "what no server has, tried in the same way: it must not work"},
			{Name: "stock", Text: "stock PostgreSQL with the same extensions beside it"},
		},
	}
}

// worksOn counts the extensions that work on a flavour.
func worksOn(v site.Variant) trial.Value {
	return trial.Words(func(m *trial.Measurements) string {
		n := 0
		for _, one := range allCarried {
			for _, figure := range m.Figures(trial.At(v.Name+", "+one.name, works)) {
				if figure >= 1 {
					n++
				}
			}
		}
		return fmt.Sprint(n)
	})
}

// try the extension. What goes wrong is an answer, and is said.
func (c carried) try(ctx context.Context, e *site.Engines, v site.Variant, r *trial.Record) (trial.Figures, error) {
	answer := false
	err := e.On(ctx, v, func(conn *pgx.Conn) error {
		for _, statement := range c.prepare {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return err
			}
		}
		if c.query == "" {
			return hiddenIndex(ctx, conn, &answer)
		}
		return conn.QueryRow(ctx, c.query).Scan(&answer)
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		r.Say("%s on %s: %v", c.name, v.Name, err)
	}
	f := trial.Figures{works: 0}
	if err == nil && answer {
		f[works] = 1
	}
	return f, nil
}

// hiddenIndex looks for the index in a plan that would use it.
func hiddenIndex(ctx context.Context, conn *pgx.Conn, hidden *bool) error {
	plan := func() (text string, err error) {
		rows, err := conn.Query(ctx, "EXPLAIN SELECT * FROM tt3 WHERE n = 1")
		if err != nil {
			return "", err
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		return fmt.Sprint(lines), err
	}
	without, err := plan()
	if err == nil {
		_, err = conn.Exec(ctx, "RESET plantuner.disable_index")
	}
	if err != nil {
		return err
	}
	with, err := plan()
	*hidden = usesIndex(with) && !usesIndex(without)
	return err
}

func usesIndex(plan string) bool { return strings.Contains(plan, "tt3_n") }

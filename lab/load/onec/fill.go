package onec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
)

// ErrNotEmpty: the database holds tables already.
var ErrNotEmpty = errors.New("the database is not empty")

// FillOptions say what a base gets.
type FillOptions struct {
	Sizes
	// Plain makes texts varchar even where the extension mchar is to be had.
	Plain bool
	// Progress is called after each portion; nil: never.
	Progress func(Progress)
}

// Progress of a fill.
type Progress struct {
	Stage       string
	Done, Total int // of the stage's portions
}

// Filled says what a fill has made.
type Filled struct {
	Base
	Elapsed time.Duration `json:"elapsed_ns"`
}

// portion is what one transaction fills. Its statements are written when they are needed: a large base has many.
type portion struct {
	stage      string
	statements func() []string
}

// Portions hold so many objects: enough to be quick, few enough that a stop loses little.
const (
	documentsAtOnce = 1_000
	itemsAtOnce     = 5_000
)

// stateTable records how far a fill is, and what it fills.
const stateTable = "plimsoll_1c"

// state is the one row of it.
type state struct {
	Sizes
	MChar     bool   `json:"mchar"`
	Collation string `json:"collation,omitempty"`
}

func (s state) types() types { return types{s.MChar, s.Collation} }

// portions of a fill, in their order: it is the same whenever it is asked, so that a stopped fill goes on by number.
func (s state) portions() (all []portion) {
	add := func(stage string, statements func() []string) { all = append(all, portion{stage, statements}) }
	one := func(stage string, statement func() string) {
		add(stage, func() []string { return []string{statement()} })
	}
	for _, t := range tables() {
		add("tables", func() []string {
			statements := []string{t.create(s.types())}
			for _, i := range t.indexes[:t.early] {
				statements = append(statements, t.createIndex(i))
			}
			return statements
		})
	}
	add("catalogs", s.catalogs)
	for from := 0; from < s.Items; from += itemsAtOnce {
		one("prices", func() string { return s.pricesOf(from, min(from+itemsAtOnce, s.Items)) })
	}
	one("prices", func() string { return fmt.Sprintf("INSERT INTO %s %s", pricesLast.name, lastPrices()) })
	for from := 0; from < s.Documents; from += documentsAtOnce {
		add("documents", func() []string { return s.documents(from, min(from+documentsAtOnce, s.Documents)) })
	}
	for _, t := range tables() {
		for _, i := range t.indexes[t.early:] {
			one("indexes", func() string { return t.createIndex(i) })
		}
	}
	// The totals join records with their analytics: without indexes and statistics that takes forever.
	for _, t := range tables() {
		one("statistics", func() string { return "ANALYZE " + t.name })
	}
	for _, t := range allTotals() {
		add("totals", func() []string { return []string{t.build(), "ANALYZE " + t.name} })
	}
	return all
}

// Fill makes a base in an empty database, or goes on with one that was stopped.
func Fill(ctx context.Context, dsn string, o FillOptions) (done Filled, err error) {
	began := time.Now()
	if err := o.check(); err != nil {
		return done, problem.New(problem.Usage, err, "")
	}
	conn, err := postgres.AsOwner(ctx, dsn)
	if err != nil {
		return done, fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	s, from, err := begin(ctx, conn, o)
	if err != nil {
		return done, err
	}
	portions := s.portions()
	if from == len(portions) {
		return done, ErrNotEmpty
	}
	stages := map[string]int{}
	for _, p := range portions {
		stages[p.stage]++
	}
	made := map[string]int{}
	for i, p := range portions {
		made[p.stage]++
		if i < from {
			continue
		}
		if err := p.make(ctx, conn, i+1); err != nil {
			return done, fmt.Errorf("fill %s: %w", p.stage, err)
		}
		if o.Progress != nil {
			o.Progress(Progress{p.stage, made[p.stage], stages[p.stage]})
		}
	}
	done.Base, err = lookAt(ctx, conn)
	done.Elapsed = time.Since(began)
	return done, err
}

// make the portion and record it, in one transaction.
func (p portion) make(ctx context.Context, conn *pgx.Conn, number int) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, statement := range append(p.statements(),
			fmt.Sprintf("UPDATE %s SET done = %d", stateTable, number)) {
			if _, err := tx.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		return nil
	})
}

// begin a fill, or find how far an earlier one came.
func begin(ctx context.Context, conn *pgx.Conn, o FillOptions) (s state, from int, err error) {
	s, from, err = readState(ctx, conn)
	switch {
	case err == nil && from == len(s.portions()):
		return s, from, nil
	case err == nil && s.Sizes != o.rounded():
		return s, 0, problem.New(problem.Usage, fmt.Errorf("the database holds a 1C base of %s", s.Sizes),
			"fill another database, or name the same sizes")
	case err == nil && s.MChar == o.Plain:
		return s, 0, problem.New(problem.Usage, errors.New("the database holds a 1C base of the other types of text"),
			"fill another database")
	case err == nil:
		return s, from, nil
	case !errors.Is(err, ErrNoBase):
		return s, 0, err
	}
	var tables int
	const own = `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
		AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')`
	if err := conn.QueryRow(ctx, own).Scan(&tables); err != nil {
		return s, 0, fmt.Errorf("look into the database: %w", err)
	}
	if tables > 0 {
		return s, 0, problem.New(problem.Usage, fmt.Errorf("the database holds %d tables of another application",
			tables), "name an empty one")
	}
	s.Sizes = o.rounded()
	if o.Plain {
		s.Collation, err = makeCollation(ctx, conn)
	} else {
		s.MChar, err = true, makeExtensions(ctx, conn)
	}
	if err != nil {
		return s, 0, err
	}
	return s, 0, writeState(ctx, conn, s)
}

// extensions of a base whose texts are mchar and mvarchar. fulleq and fasttrun are what a 1C server calls.
var extensions = []string{"mchar", "fulleq", "fasttrun"}

func makeExtensions(ctx context.Context, conn *pgx.Conn) error {
	for _, name := range extensions {
		if _, err := conn.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS "+name); err != nil {
			return problem.New(problem.Environment, fmt.Errorf("create extension %s: %w", name, err),
				"--load 1c+plain fills a base with plain texts, which any server takes")
		}
	}
	return nil
}

// Errors of a server that was built without ICU.
const featureNotSupported = "0A000"

// makeCollation for plain texts; without ICU it is the database's own.
func makeCollation(ctx context.Context, conn *pgx.Conn) (string, error) {
	_, err := conn.Exec(ctx, "CREATE COLLATION IF NOT EXISTS "+plainCollation+" (provider = icu, locale = 'und')")
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == featureNotSupported {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("create a collation: %w", err)
	}
	return plainCollation, nil
}

func writeState(ctx context.Context, conn *pgx.Conn, s state) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "CREATE TABLE "+stateTable+" (base jsonb NOT NULL, done int NOT NULL)"); err != nil {
			return fmt.Errorf("record the fill: %w", err)
		}
		_, err := tx.Exec(ctx, "INSERT INTO "+stateTable+" VALUES ($1, 0)", string(text))
		return err
	})
}

package fill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/statement"
)

// Pace is how fast rows were written to the tables.
type Pace struct {
	Elapsed time.Duration `json:"elapsed_ns"`
	Rows    int64         `json:"rows"`
	Bytes   int64         `json:"bytes"`
}

// RowsPerSecond of it.
func (p Pace) RowsPerSecond() float64 { return float64(p.Rows) / max(p.Elapsed.Seconds(), 1e-9) }

// BytesPerSecond of it.
func (p Pace) BytesPerSecond() float64 { return float64(p.Bytes) / max(p.Elapsed.Seconds(), 1e-9) }

// Raw is the time of a plain COPY of a fill's rows.
type Raw struct {
	Streams int  `json:"streams"`
	Plain   Pace `json:"plain"`   // into tables without indexes
	Built   Pace `json:"built"`   // that, and the indexes after it
	Indexed Pace `json:"indexed"` // into tables that have their indexes
}

// rawSchema holds the tables that raw COPY writes to.
const rawSchema = "plimsoll_raw"

// RawCopy dumps the rows of a fill to files and COPYs them into the same tables in a schema of its own: without
// indexes, then the indexes, then with them. Schema and files are deleted at the end.
func RawCopy(ctx context.Context, db *database.Database, dir string, options Options) (raw Raw, err error) {
	f := &filler{db: db, options: options, streams: max(1, options.Streams)}
	f.journal = &journal{}
	if f.journal.conn, err = dial(ctx, db); err != nil {
		return raw, err
	}
	defer f.journal.close()
	if err := Finished(ctx, db); err != nil {
		return raw, err
	}
	if dir, err = os.MkdirTemp(dir, "plimsoll-raw-"); err != nil {
		return raw, problem.New(problem.Environment, fmt.Errorf("make a folder for the rows: %w", err),
			"name another folder in TMPDIR")
	}
	defer os.RemoveAll(dir)
	defer func() {
		_, _ = f.journal.conn.Exec(context.WithoutCancel(ctx), "DROP SCHEMA IF EXISTS "+rawSchema+" CASCADE")
	}()
	raw.Streams = f.streams
	d, err := f.dump(ctx, dir)
	if err != nil {
		return raw, err
	}
	if raw.Plain, err = f.raw(ctx, "raw COPY, no indexes", d, "INCLUDING DEFAULTS"); err != nil {
		return raw, err
	}
	built, err := f.rawIndexes(ctx, d)
	if err != nil {
		return raw, err
	}
	raw.Built = Pace{raw.Plain.Elapsed + built, raw.Plain.Rows, raw.Plain.Bytes}
	raw.Indexed, err = f.raw(ctx, "raw COPY, with indexes", d, "INCLUDING DEFAULTS INCLUDING INDEXES")
	return raw, err
}

// dumped table.
type dumped struct {
	table, file string
	columns     []string
	rows, bytes int64
}

func (f *filler) dump(ctx context.Context, dir string) (all []dumped, err error) {
	for name, columns := range columnsOf(erp.Metadata()) {
		all = append(all, dumped{table: name, file: filepath.Join(dir, name), columns: columns})
	}
	f.stage("dump", int64(len(all)))
	err = f.each(ctx, len(all), func(ctx context.Context, conn *pgx.Conn, i int) (err error) {
		defer f.addProgress(1)
		d := &all[i]
		file, err := os.Create(d.file)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		tag, err := conn.PgConn().CopyTo(ctx, file,
			fmt.Sprintf("COPY %s (%s) TO STDOUT (FORMAT binary)", d.table, strings.Join(d.columns, ", ")))
		if err != nil {
			return fmt.Errorf("dump %s: %w", d.table, err)
		}
		d.rows = tag.RowsAffected()
		d.bytes, err = file.Seek(0, io.SeekCurrent)
		return err
	})
	slices.SortFunc(all, func(a, b dumped) int { return int(b.bytes - a.bytes) })
	return all, err
}

// raw COPY of all tables into new ones, the largest first.
func (f *filler) raw(ctx context.Context, stage string, all []dumped, like string) (p Pace, err error) {
	statements := []string{"DROP SCHEMA IF EXISTS " + rawSchema + " CASCADE", "CREATE SCHEMA " + rawSchema}
	for _, d := range all {
		statements = append(statements, statement.SQL(
			"CREATE TABLE {schema}.{table} (LIKE {table} {like}) WITH (autovacuum_enabled = off)",
			statement.Names{"schema": rawSchema, "table": d.table, "like": like}))
		p.Rows, p.Bytes = p.Rows+d.rows, p.Bytes+d.bytes
	}
	for _, sql := range statements {
		if _, err := f.journal.conn.Exec(ctx, sql); err != nil {
			return p, fmt.Errorf("make tables for raw COPY: %w", err)
		}
	}
	f.stage(stage, p.Bytes)
	start := time.Now()
	err = f.each(ctx, len(all), func(ctx context.Context, conn *pgx.Conn, i int) error {
		d := all[i]
		file, err := os.Open(d.file)
		if err != nil {
			return err
		}
		defer file.Close()
		if _, err := conn.PgConn().CopyFrom(ctx, file,
			fmt.Sprintf("COPY %s.%s (%s) FROM STDIN (FORMAT binary)", rawSchema, d.table,
				strings.Join(d.columns, ", "))); err != nil {
			return fmt.Errorf("raw COPY of %s: %w", d.table, err)
		}
		f.addProgress(d.bytes)
		return nil
	})
	p.Elapsed = time.Since(start)
	return p, err
}

func (f *filler) rawIndexes(ctx context.Context, all []dumped) (time.Duration, error) {
	rows, err := f.journal.conn.Query(ctx,
		`SELECT regexp_replace(pg_get_indexdef(i.indexrelid), ' ON (\S+\.)?', ' ON `+rawSchema+`.')
		FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
		WHERE t.relnamespace = current_schema()::regnamespace AND t.relname = ANY ($1)
		ORDER BY pg_relation_size(t.oid) DESC`, namesOf(all))
	if err != nil {
		return 0, fmt.Errorf("list indexes: %w", err)
	}
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, fmt.Errorf("list indexes: %w", err)
	}
	memory, err := f.memoryEach(ctx)
	if err != nil {
		return 0, err
	}
	f.stage("indexes of raw COPY", int64(len(statements)))
	start := time.Now()
	err = f.each(ctx, len(statements), func(ctx context.Context, conn *pgx.Conn, i int) error {
		defer f.addProgress(1)
		_, err := conn.Exec(ctx, fmt.Sprintf("SET maintenance_work_mem = '%dkB'; %s", memory, statements[i]),
			pgx.QueryExecModeSimpleProtocol)
		return err
	})
	return time.Since(start), err
}

func namesOf(all []dumped) (names []string) {
	for _, d := range all {
		names = append(names, d.table)
	}
	return names
}

// Paces of the fill itself, from its journal.
type Paces struct {
	Loading Pace `json:"loading"`
	Indexed Pace `json:"indexed"` // with the indexes that were built after the rows
	Whole   Pace `json:"whole"`   // with totals, statistics and freezing too
}

// PacesOf a fill that was not stopped; a stopped one has nothing to compare.
func PacesOf(ctx context.Context, db *database.Database) (p Paces, err error) {
	f, err := figuresOf(ctx, db)
	if err != nil {
		return p, err
	}
	for _, pace := range []*Pace{&p.Loading, &p.Indexed, &p.Whole} {
		pace.Rows, pace.Bytes = f.Rows, f.Bytes
	}
	for _, s := range f.Stages {
		switch s.Name {
		case "catalogs", "documents":
			p.Loading.Elapsed += s.Elapsed
			fallthrough
		case "indexes":
			p.Indexed.Elapsed += s.Elapsed
		}
		p.Whole.Elapsed += s.Elapsed
	}
	return p, nil
}

package fill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/erp"
	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/model/schema"
)

// Advisory locks: one for the fill, one for its writers, which may outlive a killed fill for a moment.
const (
	fillLock    = 0x66696c6c
	writersLock = 0x66696c6d
)

// journal of a fill: its plan and what is done of it.
type journal struct {
	conn  *pgx.Conn // holds the lock
	units map[unit]Tally
	built map[string]bool // steps after the units
}

// unit of work: an organisation (or none for what all share) and a part of its history (or none for its catalogs).
type unit struct{ organisation, part int }

const none = -1

const journalSQL = `CREATE TABLE plimsoll_fill (one boolean PRIMARY KEY DEFAULT true CHECK (one), sizes text NOT NULL,
	begun timestamptz NOT NULL DEFAULT now(), finished timestamptz, figures text NOT NULL DEFAULT '{}');
CREATE TABLE plimsoll_fill_unit (organisation integer, part integer, documents bigint NOT NULL, rows bigint NOT NULL,
	bytes bigint NOT NULL,
	digest bigint NOT NULL, PRIMARY KEY (organisation, part));
CREATE TABLE plimsoll_fill_step (step text PRIMARY KEY);
CREATE TABLE plimsoll_fill_index (name text PRIMARY KEY, on_table text NOT NULL, statement text NOT NULL,
	is_key boolean NOT NULL)`

// dial opens a connection of the fill's own: no timeout of the pool suits it.
func dial(ctx context.Context, db *database.Database) (*pgx.Conn, error) {
	config := db.Driver().Config().ConnConfig.Copy()
	for _, name := range []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"} {
		config.RuntimeParams[name] = "0"
	}
	config.RuntimeParams["application_name"] = "plimsoll fill"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("connect to database: %w", err),
			"check that the server is running and has free connections: plimsoll status")
	}
	return conn, nil
}

// reservedWithin is how long the backends of a killed fill may take to end.
const reservedWithin = 15 * time.Second

// reserve excludes another fill and waits for the writers of a killed one.
func reserve(ctx context.Context, db *database.Database) (*journal, error) {
	conn, err := dial(ctx, db)
	if err != nil {
		return nil, err
	}
	j := &journal{conn: conn, units: map[unit]Tally{}, built: map[string]bool{}}
	for deadline, had := time.Now().Add(reservedWithin), false; !had; {
		if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", fillLock).Scan(&had); err != nil {
			j.close()
			return nil, fmt.Errorf("reserve database: %w", err)
		}
		if had {
			break
		}
		if time.Now().After(deadline) {
			j.close()
			return nil, problem.New(problem.Usage, errors.New("another fill is running in this database"),
				"wait for it, or stop it")
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1), pg_advisory_unlock($1)", writersLock); err != nil {
		j.close()
		return nil, fmt.Errorf("wait for writers: %w", err)
	}
	return j, nil
}

func (j *journal) close() { _ = j.conn.Close(context.Background()) }

// begin a fill, or find what was done of it.
func (j *journal) begin(ctx context.Context, sizes Sizes, o Options) (Sizes, error) {
	was, found, finished, err := read(ctx, j.conn)
	switch {
	case err != nil:
		return sizes, err
	case found && finished:
		return sizes, problem.New(problem.Usage, fmt.Errorf("%w: it has already been filled", ErrNotEmpty),
			"fill a new database; nothing was changed")
	case found && o.Discard:
		if err := j.discard(ctx); err != nil {
			return sizes, err
		}
		return sizes, j.open(ctx, sizes)
	case found && (o.Resume || was.same(sizes, o.Until.IsZero())):
		return was, j.load(ctx)
	case found:
		return sizes, problem.New(problem.Usage, fmt.Errorf("%w; it had other sizes: %s", ErrUnfinished, was),
			unfinishedHint)
	case o.Resume:
		return sizes, problem.New(problem.Usage, errors.New("there is no fill to resume"),
			"'plimsoll fill' begins one")
	}
	return sizes, j.open(ctx, sizes)
}

// same compares sizes; without an end of the history the one of the first start counts.
func (s Sizes) same(other Sizes, anyTime bool) bool {
	if anyTime {
		other.Until = s.Until
	}
	one, _ := json.Marshal(s)
	two, _ := json.Marshal(other)
	return string(one) == string(two)
}

func (s Sizes) String() string {
	return fmt.Sprintf("%d documents, %d items, %d counterparties, %d warehouses, %d organisations, seed %d", s.Total(),
		s.Items, s.Counterparties, s.Warehouses, s.Organisations, s.Seed)
}

// Finished refuses a database whose fill did not finish. A database without a fill is accepted.
func Finished(ctx context.Context, db *database.Database) error {
	return db.Borrow(ctx, func(conn *pgx.Conn) error {
		_, found, finished, err := read(ctx, conn)
		if err == nil && found && !finished {
			return problem.New(problem.Usage, ErrUnfinished, unfinishedHint)
		}
		return err
	})
}

func read(ctx context.Context, conn *pgx.Conn) (s Sizes, found, finished bool, err error) {
	if err = conn.QueryRow(ctx, "SELECT to_regclass('plimsoll_fill') IS NOT NULL").Scan(&found); err != nil || !found {
		return s, false, false, err
	}
	var text string
	err = conn.QueryRow(ctx, "SELECT sizes, finished IS NOT NULL FROM plimsoll_fill").Scan(&text, &finished)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, false, false, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &s)
	}
	if err != nil {
		err = fmt.Errorf("read journal of the fill: %w", err)
	}
	return s, true, finished, err
}

// open the journal of an empty database.
func (j *journal) open(ctx context.Context, s Sizes) error {
	return pgx.BeginFunc(ctx, j.conn, func(tx pgx.Tx) error {
		for _, name := range tables() {
			var used bool
			if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+name+")").Scan(&used); err != nil {
				return fmt.Errorf("check whether %s is empty: %w", name, err)
			}
			if used {
				return problem.New(problem.Usage, fmt.Errorf("%w: %s has rows", ErrNotEmpty, name),
					"fill a new database; nothing was changed")
			}
		}
		if _, err := tx.Exec(ctx, journalSQL, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("open journal of the fill: %w", err)
		}
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "INSERT INTO plimsoll_fill (sizes) VALUES ($1)", string(text)); err != nil {
			return err
		}
		if s.Total()*rowsPerDocument+s.Elements() < deferredFrom {
			return nil
		}
		if err := alterAll(ctx, tx, withoutAutovacuum); err != nil {
			return err
		}
		return deferIndexes(ctx, tx)
	})
}

// discard all rows, so that a fill can begin.
func (j *journal) discard(ctx context.Context) error {
	return pgx.BeginFunc(ctx, j.conn, func(tx pgx.Tx) error {
		// Emptied first: building indexes of empty tables takes no time.
		if _, err := tx.Exec(ctx, "TRUNCATE "+strings.Join(tables(), ", ")); err != nil {
			return fmt.Errorf("discard the fill: %w", err)
		}
		missing, err := deferred(ctx, tx)
		if err != nil {
			return err
		}
		for _, i := range missing {
			if err := i.build(ctx, tx); err != nil {
				return err
			}
		}
		if err := attach(ctx, tx, missing); err != nil {
			return err
		}
		if err := alterAll(ctx, tx, withAutovacuum); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "DROP TABLE plimsoll_fill, plimsoll_fill_unit, plimsoll_fill_step, plimsoll_fill_index")
		return err
	})
}

// load what is done.
func (j *journal) load(ctx context.Context) error {
	rows, err := j.conn.Query(ctx, "SELECT organisation, part, documents, rows, bytes, digest FROM plimsoll_fill_unit")
	if err != nil {
		return fmt.Errorf("read journal of the fill: %w", err)
	}
	var u unit
	var t Tally
	var digest int64
	if _, err = pgx.ForEachRow(rows, []any{&u.organisation, &u.part, &t.Documents, &t.Rows, &t.Bytes, &digest},
		func() error {
			t.Digest = uint64(digest)
			j.units[u] = t
			return nil
		}); err != nil {
		return fmt.Errorf("read journal of the fill: %w", err)
	}
	rows, err = j.conn.Query(ctx, "SELECT step FROM plimsoll_fill_step")
	if err != nil {
		return fmt.Errorf("read journal of the fill: %w", err)
	}
	var step string
	_, err = pgx.ForEachRow(rows, []any{&step}, func() error {
		j.built[step] = true
		return nil
	})
	return err
}

// record records a unit in its own transaction.
func (u unit) record(ctx context.Context, tx pgx.Tx, t Tally) error {
	_, err := tx.Exec(ctx, "INSERT INTO plimsoll_fill_unit VALUES ($1, $2, $3, $4, $5, $6)", u.organisation, u.part,
		t.Documents, t.Rows, t.Bytes, int64(t.Digest))
	return err
}

func stepDone(ctx context.Context, tx pgx.Tx, step string) error {
	_, err := tx.Exec(ctx, "INSERT INTO plimsoll_fill_step VALUES ($1)", step)
	return err
}

// figures of a fill, stored with it.
type figures struct {
	Streams int     `json:"streams"`
	Whole   bool    `json:"whole"` // in one run
	Rows    int64   `json:"rows"`
	Bytes   int64   `json:"bytes"`
	Stages  []Stage `json:"stages"`
}

// finish: from now on the base may be used.
func (j *journal) finish(ctx context.Context, stages []Stage, streams int) error {
	whole := len(j.units) == 0
	if err := j.load(ctx); err != nil { // what the streams have done
		return err
	}
	all := j.sum()
	text, err := json.Marshal(figures{streams, whole, all.Rows, all.Bytes, stages})
	if err != nil {
		return err
	}
	if _, err = j.conn.Exec(ctx, "UPDATE plimsoll_fill SET finished = now(), figures = $1", string(text)); err != nil {
		return fmt.Errorf("finish the fill: %w", err)
	}
	return nil
}

func figuresOf(ctx context.Context, db *database.Database) (f figures, err error) {
	var text string
	err = db.Borrow(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT figures FROM plimsoll_fill").Scan(&text)
	})
	if err == nil {
		err = json.Unmarshal([]byte(text), &f)
	}
	if err != nil {
		return f, fmt.Errorf("read journal of the fill: %w", err)
	}
	if !f.Whole {
		return f, problem.New(problem.Usage, errors.New("the fill was interrupted, so its duration is not known"),
			"fill again, without interruption")
	}
	return f, nil
}

func (j *journal) sum() (all Tally) {
	for _, t := range j.units {
		all.add(t)
	}
	return all
}

// tables of the application and of the platform.
func tables() (names []string) {
	for _, t := range schema.Tables(erp.Metadata()) {
		names = append(names, t.Name)
	}
	return names
}

func isDiskFull(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "53100"
}

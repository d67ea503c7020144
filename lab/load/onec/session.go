package onec

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// session is a connection as the platform's server holds it, with the temp tables that were made on it. One operation
// uses it at a time.
type session struct {
	conn *pgconn.PgConn
	has  abilities
	// splitter is the part of split totals that this session alone writes to.
	splitter int
	free     map[string][]string // temp tables that are empty, by structure
	made     int

	journal  Journal // nil: nobody listens
	user     int     // who uses it
	numbered bool    // see Statement
}

// abilities of a server, as the platform asks for them when it connects.
type abilities struct {
	mchar        bool // texts of the base are of the extension's types
	fastTruncate bool
	fullEqual    bool // the operator ==
	analyzes     bool // the server itself gathers statistics of temp tables
}

// Greeting are the settings that a 1C server sends on connecting, but for lc_messages, which many systems lack.
const Greeting = `SET client_min_messages = error; SET enable_mergejoin = off; SET standard_conforming_strings = off;
SET escape_string_warning = off; SET cpu_operator_cost = 0.001; SET lock_timeout = 20000`

// abilitiesSQL reads what the server can do.
const abilitiesSQL = `SELECT
	(SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = '_reference12'::regclass
		AND attname = '_description') = 'mvarchar',
	EXISTS (SELECT FROM pg_proc WHERE proname = 'fasttruncate'),
	EXISTS (SELECT FROM pg_operator WHERE oprname = '==' AND oprleft = 'bytea'::regtype),
	coalesce(current_setting('online_analyze.enable', true) IN ('on', 'true')
		AND current_setting('online_analyze.table_type', true) IN ('all', 'temporary'), false)`

// splitterClass is the first half of the advisory lock that keeps a part of the totals for one session.
const splitterClass = 0x3163 // "1c"

// splittersMost is more than a server has sessions.
const splittersMost = 100_000

// connect opens a session for a user.
func (p *Player) connect(ctx context.Context, user int) (*session, error) {
	conn, err := pgconn.ConnectConfig(ctx, &p.config.Config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	s := &session{conn: conn, free: map[string][]string{}, journal: p.Journal, user: user, numbered: p.Sessions > 0}
	if err := s.greet(ctx); err != nil {
		s.close(ctx)
		return nil, fmt.Errorf("open a session: %w", err)
	}
	return s, nil
}

func (s *session) greet(ctx context.Context) error {
	if _, err := s.rows(ctx, Greeting); err != nil {
		return err
	}
	rows, err := s.rows(ctx, abilitiesSQL)
	if err != nil {
		return err
	}
	yes := func(i int) bool { return rows[0][i] == "t" }
	s.has = abilities{yes(0), yes(1), yes(2), yes(3)}
	rows, err = s.rows(ctx, fmt.Sprintf("SELECT n FROM generate_series(1, %d) n WHERE pg_try_advisory_lock(%d, n) "+
		"LIMIT 1", splittersMost, splitterClass))
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("all %d parts of the totals are taken", splittersMost)
	}
	_, err = fmt.Sscan(rows[0][0], &s.splitter)
	return err
}

// closeWithin bounds the end of a session whose server may be gone.
const closeWithin = 5 * time.Second

func (s *session) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	_ = s.conn.Close(ctx)
}

// rows executes statements as one text, as the platform sends them, and returns the rows of the last.
func (s *session) rows(ctx context.Context, sql string) (all [][]string, err error) {
	results, err := s.execute(ctx, sql)
	if err != nil {
		return nil, err
	}
	for _, row := range results[len(results)-1].Rows {
		var texts []string
		for _, value := range row {
			texts = append(texts, string(value))
		}
		all = append(all, texts)
	}
	return all, nil
}

const idle = 'I' // a session outside of transactions

func (s *session) execute(ctx context.Context, sql string) ([]*pgconn.Result, error) {
	if s.journal == nil {
		return s.conn.Exec(ctx, sql).ReadAll()
	}
	told := Statement{User: s.user, Process: s.conn.PID(), Text: sql, Transaction: s.conn.TxStatus() != idle,
		Began: time.Now()}
	results, err := s.conn.Exec(ctx, sql).ReadAll()
	told.Ended, told.Err = time.Now(), err
	told.Transaction = told.Transaction || s.conn.TxStatus() != idle
	s.numbered = s.numbered || told.Transaction
	told.Numbered = s.numbered
	if n := len(results); n > 0 {
		told.Rows, told.Tuples = results[n-1].CommandTag.RowsAffected(), len(results[n-1].FieldDescriptions) > 0
	}
	s.journal.Statement(told)
	return results, err
}

// structure of a temp table: its columns with their types, and the columns of its index; tables of one structure stand
// in for one another.
type structure struct {
	columns []string // "name type"
	index   string   // columns; empty: none
}

func (s structure) key() string { return strings.Join(s.columns, ", ") + " by " + s.index }

// names of the columns.
func (s structure) names() (all []string) {
	for _, c := range s.columns {
		name, _, _ := strings.Cut(c, " ")
		all = append(all, name)
	}
	return all
}

// operation is the use of a session for one key operation.
type operation struct {
	*session
	ctx  context.Context
	used []usedTable
	err  error // the first; what follows does nothing
}

type usedTable struct{ name, key string }

// run executes statements, unless one has failed before.
func (o *operation) run(format string, arguments ...any) (rows [][]string) {
	if o.err != nil {
		return nil
	}
	rows, o.err = o.rows(o.ctx, fmt.Sprintf(format, arguments...))
	return rows
}

// temp is an empty temp table of a structure: one that is free, or a new one.
func (o *operation) temp(s structure) (name string) {
	key := s.key()
	if free := o.free[key]; len(free) > 0 {
		name, o.free[key] = free[len(free)-1], free[:len(free)-1]
	} else {
		o.made++
		name = fmt.Sprintf("pg_temp.tt%d", o.made)
		o.run("CREATE TEMPORARY TABLE %s (%s)", strings.TrimPrefix(name, "pg_temp."), strings.Join(s.columns, ", "))
		if s.index != "" {
			o.run("CREATE INDEX tmpind_%d ON %s (%s)", o.made, name, s.index)
		}
	}
	o.used = append(o.used, usedTable{name, key})
	return name
}

// fill a temp table by a query, and see to its statistics.
func (o *operation) fill(s structure, query string) (name string) {
	name = o.temp(s)
	o.run("INSERT INTO %s (%s) %s", name, strings.Join(s.names(), ", "), query)
	o.analyze(name)
	return name
}

// analyze a temp table that was just filled, unless the server does it itself.
func (o *operation) analyze(name string) {
	if !o.has.analyzes {
		o.run("ANALYZE %s", name)
	}
}

// end of the operation: its temp tables are emptied and free again. After an error the session cannot be used any more:
// a rolled back transaction has taken tables with it.
func (o *operation) end() error {
	for _, t := range o.used {
		if o.has.fastTruncate {
			o.run("SELECT FASTTRUNCATE('%s')", t.name)
		} else {
			o.run("TRUNCATE TABLE %s", t.name)
		}
	}
	if o.err != nil {
		return o.err
	}
	for _, t := range o.used {
		o.free[t.key] = append(o.free[t.key], t.name)
	}
	return nil
}

// equal is the operator that joins keys of temp tables: the extension's, for which two NULLs are equal.
func (o *operation) equal() string {
	if o.has.fullEqual {
		return "=="
	}
	return "="
}

// contains is a condition that a text holds another one, whatever the case.
func (o *operation) contains(column, text string) string {
	if o.has.mchar {
		return fmt.Sprintf("%s LIKE '%%%s%%'", column, text)
	}
	return fmt.Sprintf("%s ILIKE '%%%s%%'", column, text)
}

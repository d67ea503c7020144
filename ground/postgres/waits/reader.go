package waits

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres/sqltext"
)

//go:embed sessions.sql
var sessionsSQL string

// eachSQL reads each session that has a transaction, while sessionsSQL has the server describe all that are connected:
// a server of a thousand idle sessions then answers nearly as fast as one of ten.
var eachSQL = strings.Replace(sessionsSQL, "pg_stat_get_activity(NULL) AS a",
	`pg_stat_get_backend_idset() AS b (id) JOIN pg_stat_get_activity(pg_stat_get_backend_pid(b.id)) AS a
	ON pg_stat_get_backend_xact_start(b.id) IS NOT NULL`, 1)

// Names of the statements, which are prepared once on a connection.
const (
	sessionsName = "plimsoll_sessions"
	eachName     = "plimsoll_each_session"
)

const (
	// few sessions are active if they are less than this part of those connected: a query for each is then cheaper.
	few = 4
	// queryMost characters of a statement are kept: many programs list so many columns that FROM and WHERE come late.
	queryMost = 1000
	// queryBytes of it are asked for (sessions.sql); by default servers keep no more.
	queryBytes = 1023
	// textsMost different texts are remembered between two readings.
	textsMost = 1000
)

// Reader reads the active sessions again and again over one connection. Its statement is planned once, its answers are
// binary, and a text that it has met before is not allocated again.
type Reader struct {
	conn     *pgx.Conn
	params   [][]byte
	way      way
	sessions []Session // the last answer
	again    []Session // a second look, if it took one
	texts    map[string]string
	longest  int // statement that is whole, in bytes
}

// way to query, by the connection's mode: a prepared statement, one that is sent with its parameters each time, or text
// alone. Behind a pooler that shares processes only the latter keeps our settings.
type way int

const (
	byName way = iota
	byParameters
	byText
)

// NewReader for all sessions but this connection's and those of one application.
func NewReader(ctx context.Context, conn *pgx.Conn, without string) (*Reader, error) {
	r := &Reader{conn: conn, params: [][]byte{[]byte(without)}, texts: map[string]string{}}
	// A statement of the last length may have been longer; the server keeps one byte less than its setting says.
	if err := conn.QueryRow(ctx, "SELECT least(setting::int - 1, $1::int) - 1 FROM pg_settings "+
		"WHERE name = 'track_activity_query_size'", queryBytes).Scan(&r.longest); err != nil {
		return nil, readError(err)
	}
	switch conn.Config().DefaultQueryExecMode {
	case pgx.QueryExecModeExec:
		r.way = byParameters
		return r, nil
	case pgx.QueryExecModeSimpleProtocol:
		r.way = byText
		return r, nil
	}
	for name, sql := range map[string]string{sessionsName: sessionsSQL, eachName: eachSQL} {
		if _, err := conn.Prepare(ctx, name, sql); err != nil {
			return nil, readError(err)
		}
	}
	return r, nil
}

var textFormat, binaryFormat = []int16{pgx.TextFormatCode}, []int16{pgx.BinaryFormatCode}

// Read the sessions, of which so many are connected; 0: not known. The answer is valid until the next one.
//
// The server first notes what all sessions are doing, and then reads what each waits for. One whose statement ended in
// between seems to wait for its client within it: of statements of a tenth of a millisecond that is a good part. A
// second look, which is taken only then, tells those whose statement has ended: they were at work.
func (r *Reader) Read(ctx context.Context, connected int) (all []Session, err error) {
	name, sql := sessionsName, sessionsSQL
	if few*len(r.sessions) < connected {
		name, sql = eachName, eachSQL
	}
	if r.sessions, err = r.look(ctx, name, sql, r.sessions[:0]); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(r.sessions, Session.reads) {
		return r.sessions, nil
	}
	if r.again, err = r.look(ctx, name, sql, r.again[:0]); err != nil {
		return nil, err
	}
	began := make(map[int]int64, len(r.again))
	for _, s := range r.again {
		began[s.PID] = s.changed
	}
	for i, s := range r.sessions {
		if s.reads() && began[s.PID] != s.changed {
			r.sessions[i].Wait = Event{}
		}
	}
	return r.sessions, nil
}

// look at the sessions once; they are added to those that are given.
func (r *Reader) look(ctx context.Context, name, sql string, all []Session) ([]Session, error) {
	var rows *pgconn.ResultReader
	switch r.way {
	case byText:
		return r.readText(ctx, sql, all)
	case byParameters:
		rows = r.conn.PgConn().ExecParams(ctx, sql, r.params, nil, textFormat, binaryFormat)
	default:
		rows = r.conn.PgConn().ExecPrepared(ctx, name, r.params, textFormat, binaryFormat)
	}
	var wrong error
	for rows.NextRow() {
		s, err := r.session(rows.Values())
		if err != nil {
			wrong = err
			continue
		}
		all = append(all, s)
	}
	if _, err := rows.Close(); err != nil {
		return nil, readError(err)
	}
	if wrong != nil {
		return nil, readError(wrong)
	}
	return all, nil
}

// readText takes more of both sides: the answer is text, too.
func (r *Reader) readText(ctx context.Context, sql string, all []Session) ([]Session, error) {
	rows, err := r.conn.Query(ctx, sql, string(r.params[0]))
	if err != nil {
		return nil, readError(err)
	}
	all, err = pgx.AppendRows(all, rows, func(row pgx.CollectableRow) (s Session, err error) {
		var user, waitType, wait *string
		var text []byte
		var changed, begun *time.Time
		var now time.Time
		if err := row.Scan(&s.PID, &s.Application, &user, &s.State, &waitType, &wait, &text, &changed, &begun,
			&now, &s.Role, &s.Database); err != nil {
			return s, err
		}
		s.User, s.Wait, s.Query = known(user), Event{Type: known(waitType), Name: known(wait)}, r.cut(string(text))
		s.InState, s.InXact = passed(now, changed), passed(now, begun)
		if changed != nil {
			s.changed = changed.UnixMicro()
		}
		return s, nil
	})
	if err != nil {
		return nil, readError(err)
	}
	return all, nil
}

func known(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func passed(now time.Time, then *time.Time) time.Duration {
	if then == nil {
		return 0
	}
	return max(0, now.Sub(*then))
}

func readError(err error) error { return fmt.Errorf("read pg_stat_activity: %w", err) }

// Columns of sessions.sql.
const (
	colPID = iota
	colApplication
	colUser
	colState
	colWaitType
	colWait
	colQuery
	colStateChange
	colXactStart
	colNow
	colRole
	colDatabase
	columns
)

func (r *Reader) session(row [][]byte) (s Session, err error) {
	if len(row) != columns || len(row[colPID]) != 4 || len(row[colNow]) != 8 || len(row[colRole]) != 4 ||
		len(row[colDatabase]) != 4 {
		return s, errors.New("unexpected result columns")
	}
	now, changed := microseconds(row[colNow]), microseconds(row[colStateChange])
	return Session{PID: int(int32(binary.BigEndian.Uint32(row[colPID]))), Application: r.text(row[colApplication]),
		User: r.text(row[colUser]), State: r.text(row[colState]),
		Wait:  Event{Type: r.text(row[colWaitType]), Name: r.text(row[colWait])},
		Query: r.text(row[colQuery]),
		Role:  binary.BigEndian.Uint32(row[colRole]), Database: binary.BigEndian.Uint32(row[colDatabase]),
		InState: since(now, changed), InXact: since(now, microseconds(row[colXactStart])), changed: changed}, nil
}

// text of a column, allocated only when it is new.
func (r *Reader) text(value []byte) string {
	if known, is := r.texts[string(value)]; is {
		return known
	}
	if len(r.texts) >= textsMost {
		clear(r.texts)
	}
	text := r.cut(string(value))
	r.texts[string(value)] = text
	return text
}

// cut a statement; its last character may be cut in two. The mark tells those who read it that more stood there.
func (r *Reader) cut(text string) string {
	whole := len(text) <= r.longest
	text = strings.ToValidUTF8(text, "")
	n := 0
	for i := range text {
		if n == queryMost {
			return text[:i] + sqltext.CutMark
		}
		n++
	}
	if !whole {
		return text + sqltext.CutMark
	}
	return text
}

// since a moment, both in microseconds; 0 where the server knows none.
func since(now, then int64) time.Duration {
	if then == 0 {
		return 0
	}
	return max(0, time.Duration(now-then)*time.Microsecond)
}

// microseconds of PostgreSQL's own epoch; 0 where the server knows no time.
func microseconds(value []byte) int64 {
	if len(value) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(value))
}

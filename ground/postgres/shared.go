package postgres

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"plimsoll/ground/problem"
)

const sharedMark = "plimsoll: shared process"

// Shared says whether the connection goes through a pooler: each statement may run in another process of the server,
// which other clients use in between. PID of the connection then means nothing.
func Shared(conn *pgx.Conn) bool { return conn.PgConn().CustomData()[sharedMark] != nil }

// PID of the server's process that serves the connection; 0 behind a pooler.
func PID(conn *pgx.Conn) int {
	if Shared(conn) {
		return 0
	}
	return int(conn.PgConn().PID())
}

// Direct refuses a pooler to what must not run within a transaction, or needs a session.
func Direct(conn *pgx.Conn) error {
	if !Shared(conn) {
		return nil
	}
	return problem.New(problem.Environment, errors.New("the connection goes through a pooler, whose sessions "+
		"are shared with others"),
		"name the server's own host and port in --dsn")
}

// openShared connects through a pooler. Each text that the driver sends gets the settings in front of it; PostgreSQL
// runs one text as one transaction, which SET LOCAL lasts for, whatever process it comes to.
func openShared(ctx context.Context, config *pgx.ConnConfig, settings []Setting) (*pgx.Conn, error) {
	var local []Setting
	for _, s := range settings {
		switch s.Name {
		case "idle_session_timeout": // of the pooler's sessions
			continue
		case "default_transaction_read_only": // is for the next transaction
			s.Name = "transaction_read_only"
		}
		local = append(local, s)
	}
	open := &atomic.Bool{}
	config = config.Copy()
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	build := config.BuildFrontend
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return build(&withoutSet{from: bufio.NewReader(r), on: open},
			&withSettings{to: w, before: assignments("SET LOCAL", local) + "; ", on: open})
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	conn.PgConn().CustomData()[sharedMark] = true
	open.Store(true)
	return conn, nil
}

// Types of messages, and the length of their head: the type, and how long the rest is with these four bytes.
const (
	queryMessage, parseMessage, completeMessage = 'Q', 'P', 'C'
	lengthBytes                                 = 4
	headBytes                                   = 1 + lengthBytes
)

// withSettings writes the driver's messages, and the settings before each text of statements.
type withSettings struct {
	to     io.Writer
	before string
	on     *atomic.Bool
}

var errNotText = errors.New("behind a pooler a statement is sent as text alone")

// Write whole messages, as the driver does.
func (w *withSettings) Write(p []byte) (int, error) {
	if !w.on.Load() || len(p) < headBytes {
		return w.to.Write(p)
	}
	switch p[0] {
	case parseMessage:
		return 0, errNotText
	case queryMessage:
	default:
		return w.to.Write(p)
	}
	message := append([]byte{queryMessage}, binary.BigEndian.AppendUint32(nil,
		binary.BigEndian.Uint32(p[1:])+uint32(len(w.before)))...)
	message = append(append(message, w.before...), p[headBytes:]...)
	if _, err := w.to.Write(message); err != nil {
		return 0, err
	}
	return len(p), nil
}

// withoutSet reads the server's messages, without those that answer our settings: the driver takes the first answer for
// that of its own statement.
type withoutSet struct {
	from  *bufio.Reader
	on    *atomic.Bool
	head  []byte // of the message that is being read
	ready []byte // to be given first
	rest  int    // bytes of the message behind them
}

func (r *withoutSet) Read(p []byte) (n int, err error) {
	for {
		switch {
		case len(r.ready) > 0:
			n = copy(p, r.ready)
			r.ready = r.ready[n:]
			return n, nil
		case r.rest > 0:
			n, err = r.from.Read(p[:min(len(p), r.rest)])
			r.rest -= n
			return n, err
		}
		if err := r.next(); err != nil {
			return 0, err
		}
	}
}

const setTag = "SET\x00"

// next message's head, and its text if it may be the answer to a setting.
func (r *withoutSet) next() error {
	if err := r.fill(headBytes); err != nil {
		return err
	}
	rest := int(binary.BigEndian.Uint32(r.head[1:])) - lengthBytes
	if r.on.Load() && r.head[0] == completeMessage && rest == len(setTag) {
		if err := r.fill(headBytes + rest); err != nil {
			return err
		}
		if string(r.head[headBytes:]) == setTag {
			r.head = nil
			return nil
		}
		rest = 0
	}
	r.ready, r.rest, r.head = r.head, rest, nil
	return nil
}

// fill the head; what was read before an error stays, for the driver may read on.
func (r *withoutSet) fill(n int) error {
	for len(r.head) < n {
		b, err := r.from.ReadByte()
		if err != nil {
			return err
		}
		r.head = append(r.head, b)
	}
	return nil
}

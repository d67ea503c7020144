package fill

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Chunks of rows travel as they are: each begins with the frame of a message of COPY data.
const (
	copyData = 'd'
	frame    = 1 + 4 // the length without the first byte
)

// travel sends tables to a server, the next one before it has answered for the one before, so that it need not wait for the next when it is done with one.
//
//	COPY a · rows · done · COPY b · rows · done · COPY c …
//	                       ◀─ answer for a        ◀─ answer for b
//
// Within a transaction that is safe: when one fails, the server passes over its rows, and refuses those that come after it.
type travel struct {
	conn     *pgconn.PgConn
	onTheWay []*table // at most two: those that were sent and not answered for
}

// tables of a unit of work, until there are no more of them. In the end all are answered for, or the connection is of no use any more.
func (v *travel) tables(ctx context.Context, all <-chan *table) error {
	stop := context.AfterFunc(ctx, func() { _ = v.conn.Conn().SetDeadline(time.Now()) })
	defer stop()
	for t := range all {
		err := v.send(t)
		if err == nil && len(v.onTheWay) > 1 {
			err = v.answer()
		}
		if err != nil {
			v.rest()
			return orStopped(ctx, err)
		}
	}
	if len(v.onTheWay) > 0 {
		return orStopped(ctx, v.answer())
	}
	return nil
}

// orStopped tells why a connection that was stopped failed.
func orStopped(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// rest of the answers, which are that nothing came of it.
func (v *travel) rest() {
	for len(v.onTheWay) > 0 {
		_ = v.answer()
	}
}

func (v *travel) send(t *table) error {
	to := v.conn.Frontend()
	to.SendQuery(&pgproto3.Query{String: t.copy})
	err := to.Flush()
	for i := 0; i < len(t.full) && err == nil; i++ {
		binary.BigEndian.PutUint32(t.full[i][1:], uint32(len(t.full[i])-1))
		err = to.SendUnbufferedEncodedCopyData(t.full[i])
	}
	if err == nil {
		to.Send(&pgproto3.CopyDone{})
		err = to.Flush()
	}
	if err != nil {
		return v.broken(t, err)
	}
	t.recycle()
	v.onTheWay = append(v.onTheWay, t)
	return nil
}

// answer for the table that was sent first.
func (v *travel) answer() (err error) {
	t := v.onTheWay[0]
	v.onTheWay = v.onTheWay[1:]
	for {
		message, broken := v.conn.Frontend().Receive()
		if broken != nil {
			return v.broken(t, broken)
		}
		switch m := message.(type) {
		case *pgproto3.ErrorResponse:
			err = fmt.Errorf("%s: %w", t.name, pgconn.ErrorResponseToPgError(m))
		case *pgproto3.CommandComplete:
			if n := pgconn.NewCommandTag(string(m.CommandTag)).RowsAffected(); n != t.rows {
				err = fmt.Errorf("%s: %d rows of %d arrived", t.name, n, t.rows)
			}
		case *pgproto3.ReadyForQuery:
			return err
		}
	}
}

// broken connections are of no use any more.
func (v *travel) broken(t *table, err error) error {
	v.onTheWay = nil
	_ = v.conn.Conn().Close()
	return fmt.Errorf("%s: %w", t.name, err)
}

package fill

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Chunks of rows are sent as they are: each begins with the frame of a COPY data message.
const (
	copyData = 'd'
	frame    = 1 + 4 // the length without the first byte
)

// travel pipelines tables to a server: the next one is sent before the answer for the previous one has come, so that
// the server never waits for rows.
//
//	COPY a · rows · done · COPY b · rows · done · COPY c …
//	                       ◀─ answer for a        ◀─ answer for b
//
// Within a transaction that is safe: when one fails, the server skips its rows and refuses those that follow.
type travel struct {
	conn *pgconn.PgConn
	sent []*table // not answered yet; at most two
}

// tables of a unit, until there are no more of them. At the end all are confirmed, or the connection is broken.
func (v *travel) tables(ctx context.Context, all <-chan *table) error {
	stop := context.AfterFunc(ctx, func() { _ = v.conn.Conn().SetDeadline(time.Now()) })
	defer stop()
	for t := range all {
		err := v.send(t)
		if err == nil && len(v.sent) > 1 {
			err = v.answer()
		}
		if err != nil {
			v.readAnswers()
			return orStopped(ctx, err)
		}
	}
	if len(v.sent) > 0 {
		return orStopped(ctx, v.answer())
	}
	return nil
}

// orStopped explains the failure of a connection that was stopped.
func orStopped(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// readAnswers reads what is left to read: the server's refusals after an error.
func (v *travel) readAnswers() {
	for len(v.sent) > 0 {
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
	v.sent = append(v.sent, t)
	return nil
}

// answer for the table that was sent first.
func (v *travel) answer() (err error) {
	t := v.sent[0]
	v.sent = v.sent[1:]
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
				err = fmt.Errorf("%s: %d of %d rows arrived", t.name, n, t.rows)
			}
		case *pgproto3.ReadyForQuery:
			return err
		}
	}
}

// broken connections cannot be used any more.
func (v *travel) broken(t *table, err error) error {
	v.sent = nil
	_ = v.conn.Conn().Close()
	return fmt.Errorf("%s: %w", t.name, err)
}

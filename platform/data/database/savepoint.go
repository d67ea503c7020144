package database

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Savepoint queues a savepoint of a unit of work in a transaction.
func (w *Work) Savepoint(name string) {
	w.enqueue("savepoint "+name, "savepoint "+identifier(name)).reached = w.tempPool().Savepoint(name)
}

// RollbackTo undoes everything since the savepoint, also after an error; the savepoint stays. Temp tables are lent as
// they were at the savepoint.
func (w *Work) RollbackTo(ctx context.Context, name string) error {
	if w.conn.Conn().PgConn().TxStatus() == 'E' {
		w.queue = nil // it was not executed
	}
	w.returned, w.broken = nil, nil
	w.enqueue("rollback to "+name, "rollback to savepoint "+identifier(name))
	if w.broken = w.flush(ctx); w.broken != nil {
		return w.broken
	}
	w.probed = nil // rows that a look found meanwhile are undone, and perhaps their table
	w.tempPool().RolledBackTo(name)
	return nil
}

// Release queues the release of a savepoint; the changes since then stay part of the unit of work.
func (w *Work) Release(name string) {
	p := w.tempPool()
	w.enqueue("release "+name, "release savepoint "+identifier(name)).reached = func() { p.Released(name) }
}

func identifier(name string) string { return pgx.Identifier{name}.Sanitize() }

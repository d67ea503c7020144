package database

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// StatementError says which statement of a unit of work failed.
type StatementError struct {
	Name string
	// Position among the statements that the unit of work sent, from 1, counting BEGIN.
	Position int
	Err      error
}

func (e *StatementError) Error() string { return e.Name + ": " + e.Err.Error() }
func (e *StatementError) Unwrap() error { return e.Err }

// failed attributes the error of a chain. at is the statement whose result was being read. If the driver failed before
// sending anything, that is the first one, whichever was at fault.
func (w *Work) failed(ctx context.Context, chain []*Statement, at int, err error) error {
	if at == 0 {
		at = w.findFailed(ctx, chain, err)
	}
	if at < 0 {
		return fmt.Errorf("one of %d statements, %s to %s: %w", len(chain), chain[0].name, chain[len(chain)-1].name,
			err)
	}
	return &StatementError{chain[at].name, w.sent - len(chain) + at + 1, err}
}

// findFailed finds the statement that failed before any was executed. The driver quotes the text of one whose arguments
// do not fit. It does not name one that the server refused to prepare, and in a failed transaction the server says no
// more; so each statement whose text can be refused is prepared again on its own, without executing it.
func (w *Work) findFailed(ctx context.Context, chain []*Statement, err error) int {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		for i, s := range chain {
			if len(s.args) > 0 && strings.Contains(err.Error(), s.sql) {
				return i
			}
		}
		return 0
	}
	if !strings.HasPrefix(refused.Code, "42") || len(chain) == 1 {
		return 0
	}
	return w.prepareAgain(ctx, chain, refused)
}

func (w *Work) prepareAgain(ctx context.Context, chain []*Statement, refused *pgconn.PgError) int {
	conn := w.conn.Conn().PgConn()
	for i, s := range chain {
		if _, err := conn.Prepare(ctx, "", s.sql, nil); err != nil {
			var again *pgconn.PgError
			switch {
			case !errors.As(err, &again):
				return -1
			case again.Code == refused.Code && again.Message == refused.Message:
				return i
			case again.Code == "25P02" && mentions(s.sql, refused):
				return i
			}
		}
	}
	return -1
}

// mentions: the error points at a place in the text that contains the quoted name.
func mentions(sql string, e *pgconn.PgError) bool {
	at := int(e.Position) - 1
	_, quoted, found := strings.Cut(e.Message, `"`)
	quoted, _, _ = strings.Cut(quoted, `"`)
	runes := []rune(sql)
	return found && at >= 0 && at < len(runes) && strings.HasPrefix(string(runes[at:]), quoted)
}

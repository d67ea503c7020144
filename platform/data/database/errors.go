package database

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// State is the SQLSTATE of a server error, or "".
func State(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Constraint is the constraint named by a server error, or "".
func Constraint(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.ConstraintName
	}
	return ""
}

// IsRetryable: the server rolled the transaction back in favour of another one.
func IsRetryable(err error) bool {
	state := State(err)
	return state == "40001" || state == "40P01"
}

// IsUniqueViolation: the key exists already.
func IsUniqueViolation(err error) bool { return State(err) == "23505" }

// IsLockTimeout: another transaction held a lock for too long.
func IsLockTimeout(err error) bool { return State(err) == "55P03" }

// IsStatementTimeout: a statement ran for too long.
func IsStatementTimeout(err error) bool { return State(err) == "57014" }

// IsDiskFull: one of the server's disks is full.
func IsDiskFull(err error) bool { return State(err) == "53100" }

// IsOutOfRange: a sum no longer fits its column.
func IsOutOfRange(err error) bool { return State(err) == "22003" }

// IsConnectionLost: the connection broke in the middle of the work, and it is unknown whether a COMMIT arrived.
func IsConnectionLost(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	switch state := State(err); {
	case strings.HasPrefix(state, "08"), state == "57P01", state == "57P02", state == "57P03":
		return true
	case state != "":
		return false
	}
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &network) || errors.As(err, &connect) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || strings.Contains(err.Error(), "conn closed")
}

// IsUnavailable: the database could not be used at all: it is down, refuses the connection, or cannot take more
// sessions or locks.
func IsUnavailable(err error) bool {
	state := State(err)
	return IsConnectionLost(err) || errors.As(err, new(*pgconn.ConnectError)) || state == "53300" ||
		state == "53200" || IsLockTimeout(err)
}

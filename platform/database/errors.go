package database

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// State is the SQLSTATE of an error of the server, or "".
func State(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Constraint is the name of the constraint that an error of the server is about, or "".
func Constraint(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.ConstraintName
	}
	return ""
}

// IsRetryable means that the transaction was rolled back by the server for the sake of another one.
func IsRetryable(err error) bool {
	state := State(err)
	return state == "40001" || state == "40P01"
}

// IsUniqueViolation means that the key is taken.
func IsUniqueViolation(err error) bool { return State(err) == "23505" }

// IsLockTimeout means that somebody held a lock for too long.
func IsLockTimeout(err error) bool { return State(err) == "55P03" }

// IsStatementTimeout means that a statement ran for too long.
func IsStatementTimeout(err error) bool { return State(err) == "57014" }

// IsOutOfRange means that a sum no longer fits the columns.
func IsOutOfRange(err error) bool { return State(err) == "22003" }

// IsConnectionLost means that the connection ended in mid-work: whether a COMMIT arrived is not known.
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
	return errors.As(err, &network) || errors.As(err, &connect) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || strings.Contains(err.Error(), "conn closed")
}

// IsUnavailable means that the database could not be asked at all, or is out of room for more sessions and locks.
func IsUnavailable(err error) bool {
	state := State(err)
	return IsConnectionLost(err) || state == "53300" || state == "53200" || IsLockTimeout(err)
}

package waits

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Session is an active client session, or one idle in a transaction.
type Session struct {
	PID         int
	Application string
	User        string // of sessions without an application
	State       string
	Wait        Event
	Query       string // of an idle transaction, its last one
	InState     time.Duration
	InXact      time.Duration
	// Role and Database by their numbers.
	Role, Database uint32
	changed        int64 // when State began, in microseconds by the server's clock
}

// Idle in a transaction: the server waits for the client.
func (s Session) Idle() bool { return strings.HasPrefix(s.State, "idle") }

// reads: it waits for its client within a statement.
func (s Session) reads() bool {
	return !s.Idle() && s.Wait == Event{Type: "Client", Name: "ClientRead"}
}

// Class of what the session waits for.
func (s Session) Class() Class {
	if s.Idle() {
		return Client
	}
	return s.Wait.Class()
}

// Sessions returns all sessions but this connection's and those of one application.
func Sessions(ctx context.Context, conn *pgx.Conn, without string) ([]Session, error) {
	r, err := NewReader(ctx, conn, without)
	if err != nil {
		return nil, err
	}
	return r.Read(ctx, 0)
}

// Blocked is a session that waits for a lock.
type Blocked struct {
	PID      int
	Event    string // kind of lock, as the wait event names it
	Blockers []int  // 0 is a prepared transaction
	For      time.Duration
	Kind     string // the kind of Object: relation, tuple, …; empty: unknown
	Object   string
	Page     int // -1: not a row's
	Tuple    int
	// Key of an advisory lock, or of the lock of an object that is no table.
	Key string
	// Prepared is the prepared transaction that holds what is waited for, if one does.
	Prepared *Prepared
}

// NotifyQueue is the Key of the lock that commits with NOTIFY take.
const NotifyQueue = "the queue of NOTIFY"

// Row is where the awaited row lies; empty: unknown, or not a row.
func (b Blocked) Row() string {
	if b.Object == "" || b.Kind != "tuple" {
		return ""
	}
	return fmt.Sprintf("page %d, item %d", b.Page, b.Tuple)
}

// On describes what the session waits for.
func (b Blocked) On() string {
	switch {
	case b.Row() != "":
		return fmt.Sprintf("a row of %s (%s)", b.Object, b.Row())
	case b.Object != "":
		return b.Object
	case b.Event == "advisory" && b.Key != "":
		return "the advisory lock " + b.Key
	case b.Key != "":
		return b.Key
	case b.Event == "transactionid":
		return "a row that another transaction changed"
	case b.Event == "":
		return "a lock"
	}
	return "a lock (" + b.Event + ")"
}

//go:embed blocked.sql
var blockedSQL string

// LookAtLocks returns who is blocked by whom. It locks the server's lock table for a moment.
func LookAtLocks(ctx context.Context, conn *pgx.Conn) ([]Blocked, error) {
	rows, err := conn.Query(ctx, blockedSQL)
	if err != nil {
		return nil, fmt.Errorf("read who blocks whom: %w", err)
	}
	all, err := pgx.CollectRows(rows, blocked)
	if err != nil {
		return nil, fmt.Errorf("read who blocks whom: %w", err)
	}
	return all, nameHolders(ctx, conn, all)
}

func blocked(row pgx.CollectableRow) (b Blocked, err error) {
	var waited float64
	err = row.Scan(&b.PID, &b.Event, &b.Blockers, &waited, &b.Kind, &b.Object, &b.Page, &b.Tuple, &b.Key)
	b.For = seconds(waited)
	return b, err
}

func seconds(s float64) time.Duration { return time.Duration(max(0, s) * float64(time.Second)) }

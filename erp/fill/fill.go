// Package fill owns the base to work on: catalogs and a history of documents, the same for the same
// options. The history is made by the rules that post documents, on balances in memory, and loaded by COPY, so its movements and
// entries are what posting would have made; totals are then summed set-based.
//
// Hot items, warehouses and organisations are the first of their lists (package skew).
package fill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/platform/database"
	"plimsoll/platform/problem"
)

// Defaults of a small base.
const (
	ItemsDefault          = 1000
	WarehousesDefault     = 10
	CounterpartiesDefault = 500
	UsersDefault          = 100
	OrganisationsDefault  = 2
	DocumentsDefault      = 2000
)

// Options say how much; zero values mean the defaults.
type Options struct {
	Items, Warehouses, Counterparties, Users, Organisations int
	Documents                                               int // receipts and sales beyond the opening stock; negative means none
	// Trade makes a history of receipts and sales alone: the sequence of cost batches at its densest.
	Trade bool
	Seed  uint64
	// Until is the end of the history. Defaults to the last midnight (UTC). The base is the same for the same Seed, sizes and Until.
	Until time.Time
	// Progress, when set, is told after each step.
	Progress func(Progress)
}

// Progress of a fill.
type Progress struct {
	Stage       string
	Done, Total int64 // documents or elements of the stage
}

// Summary is what was written.
type Summary struct {
	Items          int           `json:"items"`
	Warehouses     int           `json:"warehouses"`
	Counterparties int           `json:"counterparties"`
	Users          int           `json:"users"`
	Organisations  int           `json:"organisations"`
	Documents      int           `json:"documents"` // with the opening receipts
	Rows           int64         `json:"rows"`
	Elapsed        time.Duration `json:"elapsed_ns"`
}

// ErrNotEmpty means that the database already holds data; fill never adds to it.
var ErrNotEmpty = errors.New("the database is not empty")

// fillLock is the advisory lock that keeps two fills apart.
const fillLock = 0x66696c6c

// Run migrates an empty database and fills it in one transaction: a stopped fill leaves nothing behind.
func Run(ctx context.Context, db *database.Database, options Options) (Summary, error) {
	start := time.Now()
	if err := options.fillIn(); err != nil {
		return Summary{}, err
	}
	if err := erp.Migrate(ctx, db); err != nil {
		return Summary{}, err
	}
	summary := Summary{
		Items: options.Items, Warehouses: options.Warehouses, Counterparties: options.Counterparties,
		Users: options.Users, Organisations: options.Organisations,
	}
	err := db.Borrow(ctx, func(conn *pgx.Conn) error {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			l := &loader{tx: tx, options: options, summary: &summary}
			return l.run(ctx)
		})
		if err != nil {
			return err
		}
		options.tell("statistics", 0, 1)
		return problem.WithHint(settle(ctx, conn), "the base is complete, its statistics are not: run VACUUM ANALYZE")
	})
	summary.Elapsed = time.Since(start)
	return summary, err
}

func (o *Options) fillIn() error {
	for _, size := range []struct {
		name  string
		value *int
		least int
	}{
		{"organisations", &o.Organisations, OrganisationsDefault}, {"items", &o.Items, ItemsDefault}, {"warehouses", &o.Warehouses, WarehousesDefault},
		{"counterparties", &o.Counterparties, CounterpartiesDefault}, {"users", &o.Users, UsersDefault}, {"documents", &o.Documents, DocumentsDefault},
	} {
		switch {
		case *size.value == 0:
			*size.value = max(size.least, o.Organisations)
		case *size.value < 0 && size.value == &o.Documents:
			*size.value = 0
		case *size.value < 0 || size.value != &o.Documents && size.value != &o.Items && *size.value < o.Organisations:
			return problem.New(problem.Usage, fmt.Errorf("fill with %d %s", *size.value, size.name), "every organisation needs at least one")
		}
	}
	if o.Until.IsZero() {
		o.Until = time.Now().UTC().Truncate(24 * time.Hour)
	}
	o.Until = o.Until.UTC().Truncate(time.Microsecond)
	return nil
}

func (o *Options) tell(stage string, done, total int64) {
	if o.Progress != nil {
		o.Progress(Progress{stage, done, total})
	}
}

// settle leaves the tables as a database that has been running for a while has them. VACUUM takes as long as it takes.
func settle(ctx context.Context, conn *pgx.Conn) error {
	statements := []string{"SET statement_timeout = 0"}
	for _, table := range tables() {
		statements = append(statements, "VACUUM (ANALYZE) "+table)
	}
	for _, statement := range append(statements, "RESET statement_timeout") {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("gather statistics: %w", err)
		}
	}
	return nil
}

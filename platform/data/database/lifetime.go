package database

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"plimsoll/platform/data/temptable"
)

// Defaults of a connection's lifetime.
const (
	LifetimeDefault       = 30 * time.Minute
	LifetimeJitterDefault = 30 * time.Minute
	LifetimeCheckDefault  = time.Minute
	EvictStepDefault      = 50
	EvictPauseDefault     = 20 * time.Millisecond
	// evictWithin bounds the whole gradual eviction: what remains is dropped with the connection.
	evictWithin = 30 * time.Second
	// jitterUnit: the driver's pool truncates the random part to whole seconds.
	jitterUnit = time.Second
)

// Never as Jitter means a fixed lifetime; as EvictStep it lets the server drop all temp tables at once.
const Never = -1

// Lifetime of a connection: AtLeast, plus a random part of Jitter, so that the connections of a worker do not all end
// at once. A server session that ends drops its temp tables in one go; gradual eviction first drops them in small
// transactions.
type Lifetime struct {
	AtLeast time.Duration // defaults to LifetimeDefault
	Jitter  time.Duration // defaults to LifetimeJitterDefault; Never means fixed
	// Check is how often idle connections are examined. Defaults to LifetimeCheckDefault.
	Check time.Duration
	// EvictStep tables are dropped at a time before a connection is closed, EvictPause apart. Until then the connection
	// counts as one of the pool's. Defaults to EvictStepDefault; Never turns it off.
	EvictStep  int
	EvictPause time.Duration // defaults to EvictPauseDefault
}

func (l Lifetime) withDefaults() Lifetime {
	if l.AtLeast == 0 {
		l.AtLeast = LifetimeDefault
	}
	if l.Jitter == 0 {
		l.Jitter = LifetimeJitterDefault
	}
	if l.Check == 0 {
		l.Check = LifetimeCheckDefault
	}
	if l.EvictStep == 0 {
		l.EvictStep = EvictStepDefault
	}
	if l.EvictPause == 0 {
		l.EvictPause = EvictPauseDefault
	}
	return l
}

func (l Lifetime) check() error {
	switch {
	case l.AtLeast < 0 || l.Check < 0 || l.EvictPause < 0:
		return fmt.Errorf("connection lifetime %s, checked "+
			"every %s, pause %s: must not be negative", l.AtLeast, l.Check,
			l.EvictPause)
	case l.Jitter > 0 && l.Jitter < jitterUnit:
		return fmt.Errorf("connection lifetime with a random part of %s: must be at least %s", l.Jitter, jitterUnit)
	}
	return nil
}

func (l Lifetime) apply(config *pgxpool.Config) {
	config.MaxConnLifetime = l.AtLeast
	config.MaxConnLifetimeJitter = max(0, l.Jitter)
	config.HealthCheckPeriod = l.Check
}

// beforeClose drops the connection's temp tables in small steps. It runs in the background, except when the whole pool
// closes.
func (db *Database) beforeClose(conn *pgx.Conn) {
	p := poolOf(conn)
	l := db.options.Lifetime
	if p == nil || l.EvictStep < 1 || conn.IsClosed() || conn.PgConn().TxStatus() != 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), evictWithin)
	defer cancel()
	before := p.Counters
	defer func() { db.temp.add(difference(p.Counters, before)) }()
	if p.Stale() {
		rows, _ := conn.Query(ctx, temptable.ExistingSQL)
		relations, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return
		}
		p.SetExisting(relations)
		p.Committed()
	}
	for p.Size() > l.EvictStep { // the last step is left to the connection's end
		drops := p.Evict(l.EvictStep)
		if len(drops) == 0 {
			return
		}
		if _, err := conn.PgConn().Exec(ctx, strings.Join(drops, "; ")).ReadAll(); err != nil {
			return // the server drops what is left
		}
		p.Committed()
		select {
		case <-db.closing:
			return
		case <-time.After(l.EvictPause):
		}
	}
}

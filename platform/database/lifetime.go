package database

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"plimsoll/platform/temptable"
)

// Defaults of a connection's life.
const (
	LifetimeDefault       = 30 * time.Minute
	LifetimeJitterDefault = 30 * time.Minute
	LifetimeCheckDefault  = time.Minute
	EvictStepDefault      = 50
	EvictPauseDefault     = 20 * time.Millisecond
	// evictWithin bounds the whole of a gradual end: what is left then goes with the connection.
	evictWithin = 30 * time.Second
	// jitterUnit: the driver's pool cuts the random part down to whole seconds.
	jitterUnit = time.Second
)

// Never in Jitter means a fixed lifetime, in EvictStep that the server destroys all temp tables at once.
const Never = -1

// Lifetime of a connection: At least, plus a random part of Jitter, so that the connections of a worker
// do not end all at once. A server session that ends destroys its temp tables in one go; a gradual end
// drops them in small transactions before.
type Lifetime struct {
	AtLeast time.Duration // defaults to LifetimeDefault
	Jitter  time.Duration // defaults to LifetimeJitterDefault; Never means fixed
	// Check is how often connections that nobody uses are looked at. Defaults to LifetimeCheckDefault.
	Check time.Duration
	// EvictStep tables are dropped at a time before a connection is closed, with EvictPause between. The connection
	// counts as one of the pool's until it is closed. Defaults to EvictStepDefault; Never means not gradually.
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
		return fmt.Errorf("connection lifetime %s, checked every %s, pause %s: not negative", l.AtLeast, l.Check, l.EvictPause)
	case l.Jitter > 0 && l.Jitter < jitterUnit:
		return fmt.Errorf("connection lifetime with a random part of %s: at least %s", l.Jitter, jitterUnit)
	}
	return nil
}

func (l Lifetime) apply(config *pgxpool.Config) {
	config.MaxConnLifetime = l.AtLeast
	config.MaxConnLifetimeJitter = max(0, l.Jitter)
	config.HealthCheckPeriod = l.Check
}

// beforeClose drops the connection's temp tables in small steps. It runs beside the pool, but not while the whole pool closes.
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
	if p.Doubtful() {
		rows, _ := conn.Query(ctx, temptable.TruthSQL)
		there, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return
		}
		p.Believe(there)
		p.Committed()
	}
	for p.Size() > l.EvictStep { // the last step goes with the connection
		drops := p.Evict(l.EvictStep)
		if len(drops) == 0 {
			return
		}
		if _, err := conn.PgConn().Exec(ctx, strings.Join(drops, "; ")).ReadAll(); err != nil {
			return // the server destroys what is left
		}
		p.Committed()
		select {
		case <-db.closing:
			return
		case <-time.After(l.EvictPause):
		}
	}
}

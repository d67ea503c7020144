package live

import (
	"context"
	_ "embed"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/waits"
)

const (
	// connectAgain is the pause before reconnecting.
	connectAgain = 2 * time.Second
	// lookWithin bounds one look; a slower server is reported as one that cannot be inspected.
	lookWithin = 3 * time.Second
)

//go:embed database.sql
var growsSQL string

// WatchDatabase keeps the picture's database up to date until ctx is done. It reconnects to a lost server. It uses one
// connection and four short queries a second.
func (p *Picture) WatchDatabase(ctx context.Context, dsn string) {
	defer p.SetDatabase(nil)
	lost := false
	for ctx.Err() == nil {
		err := p.watchDatabase(ctx, dsn, func() {
			if lost {
				p.Say(Note, "the database answers again")
			}
			lost = false
		})
		if ctx.Err() != nil {
			return
		}
		p.SetDatabase(nil)
		if !lost {
			p.Say(Alarm, "the database cannot be watched: "+err.Error())
			lost = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(connectAgain):
		}
	}
}

// watchDatabase looks until an error occurs.
func (p *Picture) watchDatabase(ctx context.Context, dsn string, found func()) error {
	connecting, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	conn, err := postgres.Connect(connecting, dsn, "")
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	found()
	sampler := &databaseSampler{conn: conn}
	tick := time.NewTicker(time.Second / waits.PerSecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		d, err := sampler.look(ctx)
		if err != nil {
			return err
		}
		if d != nil {
			p.SetDatabase(d)
		}
	}
}

// databaseSampler samples waits and reads counters once a second.
type databaseSampler struct {
	conn  *pgx.Conn
	looks int
	seen  map[waits.Event]int
	last  databaseCounters
}

type databaseCounters struct {
	at           time.Time
	connections  int
	transactions int64
	tempBytes    int64
	wal          *int64
}

// look returns the database figures when a second is full, else nil.
func (e *databaseSampler) look(ctx context.Context) (*Database, error) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	seen, err := waits.Sample(ctx, e.conn)
	if err != nil {
		return nil, err
	}
	if e.seen == nil {
		e.seen = map[waits.Event]int{}
	}
	for event, n := range seen {
		e.seen[event] += n
	}
	if e.looks++; e.looks < waits.PerSecond {
		return nil, nil
	}
	now := databaseCounters{at: time.Now()}
	if err := e.conn.QueryRow(ctx, growsSQL).Scan(&now.connections, &now.transactions, &now.tempBytes,
		&now.wal); err != nil {
		return nil, err
	}
	d := e.database(now)
	e.looks, e.seen, e.last = 0, nil, now
	return d, nil
}

func (e *databaseSampler) database(now databaseCounters) *Database {
	d := &Database{Connections: now.connections - 1} // without our own
	for event, n := range e.seen {
		sessions := float64(n) / float64(e.looks)
		d.Classes[classOf(event.Type)] += sessions
		if event.Type != "" {
			d.Waits = append(d.Waits, Wait{event.Type, event.Name, sessions})
		}
	}
	d.Waits = topWaits(d.Waits)
	if e.last.at.IsZero() {
		return d
	}
	span := now.at.Sub(e.last.at).Seconds()
	d.Transactions = rate(now.transactions-e.last.transactions, span)
	d.TempBytes = rate(now.tempBytes-e.last.tempBytes, span)
	if now.wal != nil && e.last.wal != nil {
		d.WALBytes = rate(*now.wal-*e.last.wal, span)
	}
	return d
}

// rate per second; null after a counter was reset.
func rate(more int64, seconds float64) *float64 {
	if more < 0 {
		return nil
	}
	r := float64(more) / seconds
	return &r
}

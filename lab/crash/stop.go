package crash

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres/cluster"
)

// stop the whole server in the way under test.
func (l *lab) stop(ctx context.Context, p *cluster.Postmaster) error {
	switch l.Ending {
	case All:
		return p.Kill(ctx)
	case Immediate:
		return p.Stop(ctx, cluster.Immediate)
	case Down:
		if err := l.Clusters.Down(ctx, l.cluster.Name(), cluster.Fast); err != nil {
			return err
		}
		return awaitExit(ctx, p)
	}
	return p.Stop(ctx, cluster.Fast)
}

// refusedNew is the server's answer to a new session while it shuts down.
const refusedNew = "57P03"

// stopSmart asks for the stop and returns when new sessions are refused. The server waits for the active ones.
func (l *lab) stopSmart(ctx context.Context, p *cluster.Postmaster) error {
	asked, cancel := context.WithCancel(ctx)
	cancel()
	if err := p.Stop(asked, cluster.Smart); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	for {
		conn, err := l.connect(ctx)
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Code == refusedNew {
			return nil
		}
		if err != nil {
			return err
		}
		if err := conn.Close(ctx); err != nil {
			return err
		}
	}
}

// awaitExit returns when the server has ended and this process has noticed.
func awaitExit(ctx context.Context, p *cluster.Postmaster) error {
	select {
	case <-p.Exited():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

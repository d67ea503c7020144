package jobs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// life shows that a worker is alive: a session advisory lock that only it holds. The server releases it when the
// process ends in any way.
type life struct {
	jobs *Jobs
	conn *pgxpool.Conn
	mark int32
}

// lifeSpace is the first half of the locks of all workers.
const lifeSpace = 0x706c6a62 // "pljb"

func (j *Jobs) begin(ctx context.Context) (*life, error) {
	l := &life{jobs: j, mark: rand.Int32()}
	if err := l.hold(ctx); err != nil {
		return nil, fmt.Errorf("work on jobs: %w", err)
	}
	return l, nil
}

func (l *life) hold(ctx context.Context) (err error) {
	if l.conn, err = l.jobs.db.Driver().Acquire(ctx); err != nil {
		return err
	}
	if _, err = l.conn.Exec(ctx, "SELECT pg_advisory_lock($1, $2)", int32(lifeSpace), l.mark); err != nil {
		l.conn.Release()
		l.conn = nil
	}
	return err
}

// name of the worker ends in its mark, so that others can find its lock.
func (l *life) name() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%.60s-%d-%d", plain(host), os.Getpid(), l.mark)
}

func plain(s string) string {
	b := []byte(s)
	for i, c := range b {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			b[i] = '-'
		}
	}
	return "w" + string(b)
}

func (l *life) end() {
	if l.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = l.conn.Conn().Close(ctx) // which releases its lock
		l.conn.Release()
	}
}

// rescueSQL makes the work of dead workers available again, but for parts that were told to stop: those have. It reads
// who is alive before what runs: a worker takes its lock before any work.
const rescueSQL = `WITH alive AS MATERIALIZED (
	SELECT objid::bigint AS mark FROM pg_locks
	WHERE locktype = 'advisory' AND granted AND classid = $1::bigint::oid
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
)
UPDATE ` + schemaName + `.river_job SET attempt = greatest(attempt - 1, 0), scheduled_at = now(),
	state = CASE WHEN ` + toldToStop + ` THEN 'cancelled' ELSE 'available' END::` + schemaName + `.river_job_state,
	finalized_at = CASE WHEN ` + toldToStop + ` THEN now() END
WHERE state = 'running'
	AND substring(attempted_by[array_upper(attempted_by, 1)] FROM '-([0-9]+)$')::bigint NOT IN (SELECT mark FROM alive)`

const toldToStop = "kind = 'part' AND metadata ? 'cancel_attempted_at'"

// watch looks for dead workers until ctx is done. A lost connection is renewed at once, before others miss the lock.
func (l *life) watch(ctx context.Context) {
	tick := time.NewTicker(AliveEvery)
	defer tick.Stop()
	for {
		if l.conn == nil || l.conn.Conn().IsClosed() {
			l.renew(ctx)
		} else if tag, err := l.conn.Exec(ctx, rescueSQL, int64(lifeSpace)); err != nil && ctx.Err() == nil {
			l.jobs.log.Warn("look for dead workers", "error", err)
			if l.conn.Conn().IsClosed() {
				l.renew(ctx)
			}
		} else if n := tag.RowsAffected(); n > 0 {
			l.jobs.log.Warn("took over from dead workers", "parts", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// renew takes the lock again after a lost connection. What others took over meanwhile runs twice, which parts allow
// for.
func (l *life) renew(ctx context.Context) {
	if l.conn != nil {
		l.conn.Release()
		l.conn = nil
	}
	if err := l.hold(ctx); err != nil && ctx.Err() == nil {
		l.jobs.log.Warn("renew the lock that shows the worker is alive", "error", err)
	}
}

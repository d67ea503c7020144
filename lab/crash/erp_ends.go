package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/run/worker"
)

// erpEnds lets the users work through all ends of the server, or of a worker: operations that were cut off are repeated
// under their keys when it is there again. The content is checked while all users are idle.
func (l *lab) erpEnds(ctx context.Context, e *erpWork) (err error) {
	p, err := l.cluster.Start(ctx, cluster.StartOptions{FlushLatency: l.FlushLatency})
	if err != nil {
		return err
	}
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	defer func() {
		cancel()
		e.end()
		if p != nil {
			err = errors.Join(err, p.Kill(context.WithoutCancel(ctx)))
		}
		err = errors.Join(err, l.killStandby(ctx))
	}()
	if err := l.startStandby(ctx, cluster.StartOptions{FlushLatency: l.FlushLatency}); err != nil {
		return err
	}
	if err := e.begin(working, func() uint64 { return 0 }, true); err != nil {
		return err
	}
	err = l.turns(ctx, func(ctx context.Context, _ int) (err error) {
		l.step(string(l.Ending))
		one := Cut{Seed: l.Seed + uint64(len(l.report.Cuts))}
		if p, err = l.erpEnd(ctx, e, p, &one); err != nil {
			return err
		}
		return l.keepCut(one)
	})
	if err == nil {
		e.finishOperations()
	}
	return err
}

// erpEnd is one end. It gives the server that runs afterwards; nil: none.
func (l *lab) erpEnd(ctx context.Context, e *erpWork, p *cluster.Postmaster, one *Cut) (*cluster.Postmaster, error) {
	random := rand.New(rand.NewPCG(one.Seed, 1))
	select {
	case <-ctx.Done():
		return p, ctx.Err()
	case <-time.After(l.Duration/2 + time.Duration(random.Int64N(int64(l.Duration)))):
	}
	at := time.Now()
	p, err := l.endAndStart(ctx, e, p, random)
	if err != nil {
		return p, err
	}
	e.gate.Lock() // when all that was cut off has been repeated
	defer e.gate.Unlock()
	if ctx.Err() != nil {
		return p, ctx.Err()
	}
	one.RecoveryS = time.Since(at).Seconds()
	acks := e.record.acknowledged()
	if err := l.takeStock(ctx, l.serving(), one, acks, at); err != nil {
		return p, err
	}
	more := operationsOf(acks) - e.counted
	e.counted += more - one.Lost // what is lost is forgotten
	return p, l.loadDone(loadLine{Operations: more, Failed: e.failures()})
}

func (l *lab) endAndStart(ctx context.Context, e *erpWork, p *cluster.Postmaster,
	random *rand.Rand) (*cluster.Postmaster, error) {
	switch l.Ending {
	case Worker:
		return p, e.crew.replace(ctx, random.IntN(l.Workers), (*worker.Worker).Kill)
	case StopWorker:
		return p, e.crew.replace(ctx, random.IntN(l.Workers), (*worker.Worker).Stop)
	case Backend:
		return p, l.killBackend(ctx, random)
	}
	if err := l.stop(context.WithoutCancel(ctx), p); err != nil {
		return p, err
	}
	if l.standby != nil {
		return l.succeed(ctx)
	}
	return l.cluster.Start(ctx, cluster.StartOptions{FlushLatency: l.FlushLatency})
}

// backendsSQL are sessions of workers, active ones first.
const backendsSQL = `SELECT pid::text FROM pg_stat_activity WHERE backend_type = 'client backend'
	AND pid <> pg_backend_pid() ORDER BY state = 'active' DESC, pid LIMIT 8`

// killBackend kills a session of a worker, and waits until the server accepts connections again.
func (l *lab) killBackend(ctx context.Context, random *rand.Rand) error {
	conn, err := l.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for killed := false; ; killed = true {
		pids, err := texts(ctx, conn, backendsSQL)
		if err != nil && killed && ctx.Err() == nil {
			return l.awaitRecovery(ctx) // the postmaster took its time to end this session
		}
		if err != nil {
			return err
		}
		if len(pids) == 0 {
			return errors.New("there is no worker's session to kill")
		}
		var pid int
		if _, err := fmt.Sscan(pids[random.IntN(len(pids))], &pid); err != nil {
			return err
		}
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended, which the server survives
		if ended(ctx, conn) {
			return l.awaitRecovery(ctx)
		}
	}
}

// ended says that the postmaster has ended all sessions, this one too. A connection accepted before that proves
// nothing.
func ended(ctx context.Context, conn *pgx.Conn) bool {
	for range 200 {
		if conn.Ping(ctx) != nil {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

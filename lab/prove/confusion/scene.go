package confusion

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/host/neighbours"
	"plimsoll/ground/postgres"
	"plimsoll/lab/prove/burner"
	"plimsoll/lab/prove/delay"
)

//go:embed base.sql
var baseSQL string

// scene is one trial: a copy of the base, its users, and what is planted.
type scene struct {
	*bench
	name, dsn string
	network   time.Duration // of round trips between users and server
	root      string        // of files that show another topology; empty: this machine's
	ctx       context.Context
	cancel    context.CancelFunc
	running   sync.WaitGroup
	through   *pgx.ConnConfig // how users connect
	undo      []func() error
	// checks say what the faults did, and whether they took effect.
	checks  []func(context.Context) (string, bool)
	burners burner.Burners
	stalls  stalled

	mu   sync.Mutex
	done map[string]*counted // by application

	strangers *neighbours.Machine
	seenBurn  time.Duration
}

// counted are steps of clients that have ended.
type counted struct{ n, ns, failed atomic.Int64 }

// unable is a fault that this machine does not allow.
type unable struct{ error }

// settleFor is how long a load needs to look the same from second to second.
const settleFor = 2 * time.Second

func (s *scene) settle(ctx context.Context) { sleep(ctx, settleFor) }

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// connectThrough the network that the plant asks for.
func (s *scene) connectThrough() (err error) {
	if s.through, err = pgx.ParseConfig(s.dsn); err != nil || s.network == 0 {
		return err
	}
	network, address := pgconn.NetworkAddress(s.through.Host, s.through.Port)
	proxy, err := delay.Listen(s.network, func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	})
	if err != nil {
		return err
	}
	s.undo = append(s.undo, proxy.Close)
	host, port, err := net.SplitHostPort(proxy.Address())
	if err != nil {
		return err
	}
	s.through.Host, s.through.TLSConfig, s.through.Fallbacks = host, nil, nil
	_, err = fmt.Sscan(port, &s.through.Port)
	return err
}

// during the trial something runs. Its context ends with the trial.
func (s *scene) during(run func(ctx context.Context)) {
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		run(s.ctx)
	}()
}

func (s *scene) countedFor(application string) *counted {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done[application] == nil {
		s.done[application] = &counted{}
	}
	return s.done[application]
}

// step of a client.
type step func(ctx context.Context, conn *pgx.Conn, rng *rand.Rand) error

// clients of an application each do a step, think, and do it again. Who loses its connection makes another.
func (s *scene) clients(n int, application string, think time.Duration, do step) {
	count := s.countedFor(application)
	for i := range n {
		s.during(func(ctx context.Context) {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(len(application))))
			for ctx.Err() == nil {
				s.client(ctx, application, think, do, rng, count)
				sleep(ctx, 50*time.Millisecond)
			}
		})
	}
}

func (s *scene) client(ctx context.Context, application string, think time.Duration, do step, rng *rand.Rand,
	count *counted) {
	conn, err := s.connect(ctx, application)
	if err != nil {
		count.failed.Add(1)
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for ctx.Err() == nil && !conn.IsClosed() {
		began := time.Now()
		if err := do(ctx, conn, rng); err != nil {
			count.failed.Add(1)
			_, _ = conn.Exec(ctx, "ROLLBACK")
		}
		count.n.Add(1)
		count.ns.Add(int64(time.Since(began)))
		if think > 0 {
			sleep(ctx, time.Duration(rng.ExpFloat64()*float64(think)))
		}
	}
}

func (s *scene) connect(ctx context.Context, application string) (*pgx.Conn, error) {
	config := s.through.Copy()
	config.RuntimeParams["application_name"] = application
	return pgx.ConnectConfig(ctx, config)
}

// checked compares a figure from now on with what it must be.
func (s *scene) checked(check func(ctx context.Context) (string, bool)) {
	s.checks = append(s.checks, check)
}

// number that a query gives; 0 if it fails.
func (s *scene) number(ctx context.Context, sql string) float64 {
	if x, err := postgres.Value[float64](ctx, s.dsn, "SELECT ("+sql+")::float8"); err == nil {
		return x
	}
	return 0
}

// grows checks that a figure of the server grows by so much in a second.
func (s *scene) grows(ctx context.Context, what, sql string, perS float64) {
	before, began := s.number(ctx, sql), time.Now()
	s.checked(func(ctx context.Context) (string, bool) {
		rate := (s.number(ctx, sql) - before) / time.Since(began).Seconds()
		return fmt.Sprintf("%s: %.3g a second, at least %.3g", what, rate, perS), rate >= perS
	})
}

// watchStrangers measures what strangers use from now on.
func (s *scene) watchStrangers() {
	s.seenBurn = s.burners.Used()
	s.strangers = neighbours.Begin(func() []int { return []int{os.Getpid(), s.server.PID()} })
}

// taken are the shares of all cores that strangers used and that the hypervisor withheld; it ends the load.
func (s *scene) taken() (strangers, stolen float64) {
	s.cancel()
	t := s.strangers.End()
	if t.Others != nil {
		burnt := (s.burners.Used() - s.seenBurn).Seconds() / t.For.Seconds() / float64(runtime.NumCPU())
		strangers = max(0, *t.Others-burnt)
	}
	if t.Steal != nil {
		stolen = *t.Steal
	}
	return strangers, stolen
}

// end the trial: clients first, then what was planted, the last first, then the copy.
func (s *scene) end() error {
	s.cancel()
	s.running.Wait()
	var errs []error
	for i := len(s.undo) - 1; i >= 0; i-- {
		errs = append(errs, s.undo[i]())
	}
	ctx, cancel := context.WithTimeout(context.Background(), downWithin)
	defer cancel()
	errs = append(errs, postgres.Execute(ctx, s.cluster.DSN("").Secret(), "DROP DATABASE "+s.name+" WITH (FORCE)"))
	return errors.Join(errs...)
}

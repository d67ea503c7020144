package waits

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
)

// Profile is a summary of what the active sessions waited for.
type Profile struct {
	Samples int     `json:"samples"`          // 0: no database, or no permission
	Active  float64 `json:"active"`           // active sessions, on average
	Events  []Wait  `json:"events,omitempty"` // the most frequent first
}

// Wait is an event with the average number of sessions that waited for it. Without names: the session was running.
type Wait struct {
	Type     string  `json:"type"`
	Event    string  `json:"event"`
	Sessions float64 `json:"sessions"`
}

// Sampler samples the sessions while it is switched on.
type Sampler struct {
	stop context.CancelFunc
	done sync.WaitGroup

	mu     sync.Mutex
	on     bool
	looks  int
	counts map[Event]int
}

// application is the name of a Sampler's connection in pg_stat_activity.
const application = "plimsoll waits"

// Watch starts sampling; a database that cannot be inspected yields no samples.
func Watch(ctx context.Context, dsn string) *Sampler {
	ctx, stop := context.WithCancel(ctx)
	s := &Sampler{stop: stop, counts: map[Event]int{}}
	if dsn == "" {
		return s
	}
	s.done.Add(1)
	go func() {
		defer s.done.Done()
		s.sample(ctx, dsn)
	}()
	return s
}

// During switches sampling on and off: only the steady state is sampled.
func (s *Sampler) During(steady bool) {
	s.mu.Lock()
	s.on = steady
	s.mu.Unlock()
}

func (s *Sampler) sample(ctx context.Context, dsn string) {
	conn, err := postgres.Connect(ctx, dsn, application)
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tick := time.NewTicker(time.Second / PerSecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.mu.Lock()
		on := s.on
		s.mu.Unlock()
		if on && s.look(ctx, conn) != nil {
			return
		}
	}
}

func (s *Sampler) look(ctx context.Context, conn *pgx.Conn) error {
	seen, err := Sample(ctx, conn)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	for key, n := range seen {
		s.counts[key] += n
	}
	return nil
}

// End stops sampling and summarizes.
func (s *Sampler) End() (w Profile) {
	s.stop()
	s.done.Wait()
	w.Samples = s.looks
	if s.looks == 0 {
		return w
	}
	for key, n := range maps.All(s.counts) {
		sessions := float64(n) / float64(s.looks)
		w.Active += sessions
		w.Events = append(w.Events, Wait{key.Type, key.Name, sessions})
	}
	slices.SortFunc(w.Events, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Type+a.Event, b.Type+b.Event))
	})
	return w
}

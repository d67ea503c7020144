package diagnose

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/cpu"
	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/client"
	"plimsoll/lab/diagnose/statement"
)

// Intervals of everything but the sampler itself.
const (
	slowEvery    = time.Second            // the machine, and the sessions' processes, at the most
	slowMost     = 5 * time.Second        // and at the least
	locksEvery   = 500 * time.Millisecond // while somebody waits for a lock
	horizonEvery = 5 * time.Second
	// lateMost is how many intervals a look may cover; a longer gap counts as not observed.
	lateMost = 10
	// costShareMost is the share of one core that the sampler's query may take; beyond it, it samples less often.
	costShareMost = 0.02
	// costLooks are the last looks whose median counts: one that a busy or a stopped server answers late costs nothing.
	costLooks = 15
	// timelineEvery is how often the timeline is asked: each answer costs the workers as much as a look costs the
	// server. Operations are sampled at these looks alone.
	timelineEvery = 200 * time.Millisecond
	// machineShare is the share of one core that reading the machine may take: a machine of thousands of processes is
	// read more rarely.
	machineShare = 0.0025
	// slowedFrom: the report says so if fewer samples than this share of those asked for were taken.
	slowedFrom = 0.9
)

// watch is what is gathered during the diagnosis.
type watch struct {
	*attached
	every    time.Duration
	timeline Timeline
	host     *hostWatch // nil: the server's machine cannot be read
	log      *logFile
	logErr   error // why it cannot be read
	began    time.Time
	interim  func(ctx context.Context) error // nil: nobody asked for interim results
	inside   *statement.Inside               // what ran within statements; nil: not read yet
	trusted  []string                        // roles that may have planted what planning a statement runs
	planned  planned
	clients  *client.Book
	half     client.Half
	pools    pools
	lasts    time.Duration

	mu   sync.Mutex
	book *book
	cost Cost
	// operations have a book each, where a timeline knows who serves them; served is by session, at the last look.
	operations map[string]*book
	served     map[int]string
	// servedS is the time of sessions whose operation is known, unknownS that of the others at the same looks.
	servedS, unknownS float64
	holders           map[string]waits.Holder // by kind and name
	heart             *heart
	session           *cpu.ScheduleFile // of our session's process; nil: not visible
	queued            time.Duration     // what our session's process had waited for a processor
	census            waits.Census      // with most sessions
	background        background
	settings          *Settings      // nil: not read
	talking           float64        // idle sessions that were at work a moment before, added up over the censuses
	ran               time.Duration  // what our session's process had run
	lookRan           *time.Duration // for the last look; nil: not visible
	costs             []time.Duration
	locks             atomic.Bool  // somebody waits for a lock
	connected         atomic.Int64 // sessions at the last census

	rushUntil    time.Time     // after a standstill, for as long as it lasted
	machineTook  time.Duration // processor time of one reading of the machine
	timelineAt   time.Time     // when the timeline was asked
	operationsAt time.Time     // until when operations are sampled
}

// Cost of the diagnosis itself.
type Cost struct {
	Samples   int      `json:"samples"`
	PerS      float64  `json:"samples_per_s"`
	QueriesS  float64  `json:"queries_s"`   // time of all queries, as seen by the client
	Share     float64  `json:"share"`       // share of the time in which one of our queries was running
	BackendsS *float64 `json:"backends_s"`  // the server's processor time for our queries
	OwnS      *float64 `json:"own_s"`       // of this process
	Slowed    bool     `json:"slowed_down"` // it sampled less often than asked because a look took long
}

// run gathers until the context or the time ends. A lost connection does not void what was gathered.
func (w *watch) run(ctx context.Context, lasts time.Duration, tell func(elapsed time.Duration, sessions int)) error {
	w.lasts = lasts
	timed, cancel := context.WithTimeout(ctx, lasts)
	defer cancel()
	var slow sync.WaitGroup
	slow.Add(1)
	var slowErr error
	go func() {
		defer slow.Done()
		if slowErr = w.runSlowQueries(ctx, timed.Done()); slowErr != nil {
			cancel()
		}
	}()
	err := w.sample(ctx, timed.Done(), tell)
	cancel()
	slow.Wait()
	if err == nil {
		err = slowErr
	}
	return err
}

// sample until the time is over. The end does not cancel statements, which would close their connections.
func (w *watch) sample(ctx context.Context, over <-chan struct{}, tell func(time.Duration, int)) error {
	last, planned := time.Now(), time.Duration(0)
	timer := time.NewTimer(0)
	defer timer.Stop()
	reader, err := waits.NewReader(ctx, w.fast, ownName)
	if err != nil {
		return quiet(ctx, err)
	}
	// One watcher for all looks: pgx would make one for each. A look that is under way then fails at once.
	socket := w.fast.PgConn().Conn()
	defer context.AfterFunc(ctx, func() { _ = socket.SetDeadline(time.Now()) })()
	uncancelled := context.WithoutCancel(ctx)
	w.waited()
	for first := true; ; first = false {
		if !first { // without a look there is no diagnosis, however short its time
			select {
			case <-over:
				return nil
			case <-timer.C:
			}
		}
		asked := time.Now()
		looked, timeline := w.lookAtTimeline(ctx)
		w.heart.watch(postgres.PID(w.fast), w.host != nil)
		all, err := reader.Read(uncancelled, int(w.connected.Load()))
		w.heart.watch(0, false)
		looked()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		now := time.Now()
		w.recordLook(last, asked, now, planned, all, timeline)
		last = now
		if tell != nil {
			tell(now.Sub(w.began), len(all))
		}
		planned = w.pause(now.Sub(asked))
		timer.Reset(max(0, planned-time.Since(asked)))
	}
}

// lookAtTimeline runs alongside the sample; the answer waits for it, for an interval at most. Not each sample has one.
func (w *watch) lookAtTimeline(ctx context.Context) (wait func(), seen Timeline) {
	if w.timeline == nil || time.Since(w.timelineAt) < timelineEvery-w.every/2 {
		return func() {}, nil
	}
	w.timelineAt = time.Now()
	ctx, cancel := context.WithTimeout(ctx, w.every)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.timeline.Look(ctx)
	}()
	return func() { <-done; cancel() }, w.timeline
}

// pause after a look: what it cost is the processor time of our session's process, or else the time of the answer.
func (w *watch) pause(took time.Duration) time.Duration {
	if w.lookRan != nil {
		took = *w.lookRan
	}
	w.costs = append(w.costs, took)
	if w.costs = w.costs[max(0, len(w.costs)-costLooks):]; len(w.costs) < costLooks {
		return w.every
	}
	sorted := slices.Sorted(slices.Values(w.costs))
	longer := time.Duration(float64(sorted[costLooks/2]) / costShareMost)
	if longer <= w.every {
		return w.every
	}
	w.mu.Lock()
	w.cost.Slowed = true
	w.mu.Unlock()
	return min(longer, time.Second)
}

func (w *watch) recordLook(last, asked, now time.Time, planned time.Duration, all []waits.Session, timeline Timeline) {
	lost, waited, states := w.heart.take(), w.waited(), w.heart.states()
	l := look{at: now, covers: now.Sub(last), sessions: all, timeline: timeline}
	if w.host != nil {
		l.excuse = excuseOf(all, process.State)
	}
	blocked := false
	for _, s := range all {
		blocked = blocked || s.Class() == waits.Lock
	}
	w.locks.Store(blocked)
	w.mu.Lock()
	defer w.mu.Unlock()
	if late := l.covers - planned; w.cost.Samples > 0 {
		s := stall{last.Sub(w.began), late, stallCause(late, lost, waited, states)}
		w.book.addStall(s)
		if late >= standstillLeast {
			l.still = late
		}
		if s.who == StillServer && late >= standstillLeast { // nobody did what they seem to have done meanwhile
			w.book.unobserved += late.Seconds()
			l.covers -= late
			w.rushUntil = now.Add(late)
		}
	}
	if most := lateMost * w.every; l.covers > most {
		w.book.unobserved += (l.covers - most).Seconds()
		l.covers = most
	}
	if now.Before(w.rushUntil) {
		l.excuse = rush
	}
	w.book.take(l)
	w.clients.Take(now, l.covers, all, func(sql string) string { return w.book.normalize(sql).text })
	w.takeOperations(l)
	w.cost.Samples++
	w.cost.QueriesS += now.Sub(asked).Seconds()
}

// runSlowQueries runs the queries that take longer than a sample.
func (w *watch) runSlowQueries(ctx context.Context, over <-chan struct{}) error {
	tick := time.NewTicker(locksEvery)
	defer tick.Stop()
	var slow, horizon time.Time
	interim, locks := time.Now(), lockTicks{time.Now()}
	planned := false
	every := slowEvery
	for {
		now := time.Now()
		if now.Sub(slow) >= every {
			slow = now
			if err := w.timed(func() error { return w.takeCensus(ctx) }); err != nil {
				return quiet(ctx, err)
			}
			every = max(slowEvery, min(slowMost, time.Duration(float64(w.machineTook)/machineShare)))
		}
		if now.Sub(horizon) >= horizonEvery {
			horizon = now
			if err := w.timed(func() error { return w.lookAtHorizon(ctx) }); err != nil {
				return quiet(ctx, err)
			}
		}
		if w.interim != nil && now.Sub(interim) >= interimEvery {
			interim = now
			if err := w.timed(func() error { return w.interim(ctx) }); err != nil {
				return quiet(ctx, err)
			}
		}
		if !planned && now.Sub(w.began).Seconds() >= firstPlansPart*w.lasts.Seconds() {
			planned = true
			if err := w.timed(func() error { return w.firstPlans(ctx) }); err != nil {
				return quiet(ctx, err)
			}
		}
		if covers := locks.covers(now); w.locks.Load() {
			if err := w.timed(func() error { return w.lookAtLocks(ctx, covers) }); err != nil {
				return quiet(ctx, err)
			}
		}
		select {
		case <-over:
			return w.lastCensus(ctx, slow)
		case <-tick.C:
		}
	}
}

// lastCensus tells processes apart that began since the census before, which is long ago on a busy machine.
func (w *watch) lastCensus(ctx context.Context, before time.Time) error {
	if time.Since(before) < slowEvery {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	err := w.timed(func() error { return w.takeCensus(limited) })
	return quiet(limited, err)
}

// lockTicks are the moments at which locks may be looked at.
type lockTicks struct{ last time.Time }

// covers is the time that a look now covers: that since the last tick, at which nobody waited if it did not look.
func (t *lockTicks) covers(now time.Time) time.Duration {
	d := min(now.Sub(t.last), 4*locksEvery)
	t.last = now
	return d
}

// quiet drops errors of a diagnosis that is over.
func quiet(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (w *watch) timed(ask func() error) error {
	began := time.Now()
	err := ask()
	w.mu.Lock()
	w.cost.QueriesS += time.Since(began).Seconds()
	w.mu.Unlock()
	return err
}

func (w *watch) takeCensus(ctx context.Context) error {
	c, err := waits.TakeCensus(ctx, w.slow, ownName)
	if err != nil {
		return err
	}
	w.connected.Store(int64(c.All))
	if w.host != nil {
		w.machineTook = onThread(func() { w.host.read(c) })
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.background.take(c.Background)
	w.book.checkpointing = w.background.checkpointing
	w.talking += float64(c.Talking)
	if w.half.Looks++; c.All > 0 && c.Idle == 0 {
		w.half.BusyLooks++
	}
	w.pools.take(c.Users)
	if c.All >= w.census.All {
		w.census = c
	}
	return nil
}

// holdersMost is how many holders are kept.
const holdersMost = 100

func (w *watch) lookAtHorizon(ctx context.Context) error {
	all, err := waits.Holders(ctx, w.slow, ownName)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range all {
		key := h.Kind + " " + h.Name
		if old, known := w.holders[key]; len(w.holders) < holdersMost && (!known || h.XIDs >= old.XIDs) {
			w.holders[key] = h
		}
	}
	return nil
}

func (w *watch) lookAtLocks(ctx context.Context, covers time.Duration) error {
	blocked, err := waits.LookAtLocks(ctx, w.slow)
	if err != nil || len(blocked) == 0 {
		return err
	}
	all, err := waits.Sessions(ctx, w.slow, ownName)
	if err != nil {
		return err
	}
	l := lockLook{at: time.Since(w.began), covers: covers, blocked: blocked, sessions: map[int]waits.Session{}}
	for _, s := range all {
		l.sessions[s.PID] = s
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l.background = w.background.now
	w.book.takeLocks(l, nil)
	for name, b := range w.operations {
		b.takeLocks(l, func(pid int) bool { return w.served[pid] == name })
	}
	return nil
}

// ownCost computes the cost at the end.
func (w *watch) ownCost(length time.Duration, ownBefore time.Duration, backendsBefore *time.Duration) Cost {
	c := w.cost
	if length > 0 {
		c.PerS = float64(c.Samples) / length.Seconds()
		c.Share = c.QueriesS / length.Seconds()
		c.Slowed = c.Slowed && c.PerS*w.every.Seconds() < slowedFrom
	}
	if own, err := cpu.Own(); err == nil {
		s := (own - ownBefore).Seconds()
		c.OwnS = &s
	}
	if after := w.backends(); after != nil && backendsBefore != nil {
		s := (*after - *backendsBefore).Seconds()
		c.BackendsS = &s
	}
	return c
}

// backends is the processor time of the server processes that serve us; nil: not visible here.
func (w *watch) backends() *time.Duration {
	if w.host == nil {
		return nil
	}
	var sum time.Duration
	for _, conn := range []*pgx.Conn{w.fast, w.slow} {
		s, err := cpu.ReadMainSchedule(postgres.PID(conn))
		if err != nil {
			return nil
		}
		sum += s.Ran
	}
	return &sum
}

package run

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"plimsoll/erp/client"
	"plimsoll/lab/load"
	"plimsoll/lab/load/onec"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
)

// Plan is what a generator must know to run users. It can be sent: the same plan makes the same users on every machine.
type Plan struct {
	load.Load
	UsersMost int           `json:"users_most"` // most users that the user of the run may set
	Segment   users.Segment `json:"segment"`
	// URLs of the application servers.
	URLs []string `json:"urls"`
	// DSN of the database, only if the scenario contains SQL. It is a secret and never sent.
	DSN string `json:"-"`
	// Access to the application servers is never sent either.
	Access Access `json:"-"`
	// LookForWorkers: generators note which servers turn out to be workers of the ERP.
	LookForWorkers bool `json:"look_for_workers,omitempty"`
	// Journal hears what the players of a 1C load do in this process; nil: nobody does.
	Journal onec.Journal `json:"-"`
	workers *workersSeen
}

// NoteWorkers takes in what a generator elsewhere has noted.
func (p Plan) NoteWorkers(urls []string) { p.workers.add(urls...) }

// Crowd that the plan describes.
func (p Plan) Crowd() users.Crowd {
	c := p.Load.Crowd()
	c.UsersMost, c.Segment = p.UsersMost, p.Segment
	return c
}

// ownUsers returns this generator's users: those of the segment.
func (p Plan) ownUsers() int { return p.Segment.Of(p.Users) }

// operations is the most that the generator can make: as if the server took no time.
func (p Plan) operations() float64 {
	c, length := p.Crowd(), (p.Ramp + p.Duration).Seconds()
	part := float64(p.ownUsers()) / float64(max(1, p.Users))
	if c.Arrivals != nil {
		return part * c.Arrivals.Rate * length
	}
	roles := c.Roles
	if len(roles) == 0 {
		roles = []users.Role{{Users: c.Users, Think: c.Think}}
	}
	n := 0.0
	for _, r := range roles {
		n += float64(r.Users) * length / max(thinkLeast, r.Think.Mean).Seconds()
	}
	return part * n
}

// thinkLeast is what a user is assumed to need for an operation without thinking.
const thinkLeast = 100 * time.Millisecond

// LoadResult is what a generator knows at the end.
type LoadResult struct {
	Tally *tally.Tally
	// Live is the generators' live memory before and after log-in and at the end; nil: unknown here.
	Live *result.Footprint
	// Agents that generated the load instead of this process, and what happened to them.
	Agents []result.Agent
	Events []result.Event
	// Written is what the ERP's clients know about what they wrote, each with the prefix of its keys.
	Written []Written
	// Lost is what is known about the work of lost agents.
	Lost []Lost
	// Frozen lists the times in which generators stood still.
	Frozen []Frozen
	// Late says which users began without a session.
	Late []string
	// Wrong says why the figures may not be quoted.
	Wrong []string
}

// Written is what one client of the ERP knows of its writing operations.
type Written struct {
	Keys   string                  `json:"keys"` // prefix of their keys
	Series map[string]client.Fates `json:"series"`
}

// Update takes in what has changed since; false: something before it is missing.
func (w *Written) Update(news Written) bool {
	if w.Series == nil {
		w.Keys, w.Series = news.Keys, map[string]client.Fates{}
	}
	for name, changed := range news.Series {
		f := w.Series[name]
		if w.Keys != news.Keys || !f.Update(changed) {
			return false
		}
		w.Series[name] = f
	}
	return true
}

// Lost is an agent that ended without reporting what it had done.
type Lost struct {
	Agent string // name in the result
	// Written is what it had reported; without keys: nothing.
	Written Written
}

// Generator runs the users of a plan, in this process or elsewhere.
type Generator interface {
	// LogIn opens the sessions of all users, counting them in done.
	LogIn(ctx context.Context, plan Plan, done *atomic.Int64) error
	// Enter opens the sessions of users [from, to), who are added while the others work.
	Enter(ctx context.Context, from, to int) error
	// Work lets the users work. If ctx is done early, it returns what was counted so far.
	Work(ctx context.Context, w Watch) (LoadResult, error)
	// Close ends all sessions' connections; it is called after LogIn, whether that succeeded or not.
	Close()
}

// Watch is how a generator is controlled while users work, and where it reports. It calls the functions from one
// goroutine; they must return quickly.
type Watch struct {
	Began      func()             // the ramp begins
	EachSecond func(users.Second) // once a second, as users.Crowd does
	Control    *users.Control     // nil: nobody changes the load
	Changed    func(users.Change)
	Alarm      func(text string) // problems to name in the result
}

var errNobody = errors.New("no user is logged in")

// Local generates the load in this process.
type Local struct {
	// Ended is called for every operation that has ended; see Options.
	Ended func(operation string, s tally.Sample)

	plan    Plan
	players *players
	live    liveMemory
	late    users.Late
}

// LogIn opens the sessions.
func (l *Local) LogIn(ctx context.Context, plan Plan, done *atomic.Int64) (err error) {
	if err := plan.Access.Check(plan.URLs); err != nil { // an agent's own
		return err
	}
	if plan.LookForWorkers && plan.workers == nil {
		plan.workers = &workersSeen{}
	}
	l.plan, l.live = plan, liveMemory{before: liveBytes()}
	if l.players, err = newPlayers(ctx, plan); err != nil {
		return err
	}
	first := plan.Users / 2
	early, err := users.LogIn(ctx, 0, first, plan.Segment, l.players, done)
	if err != nil {
		return err
	}
	l.live.half = liveBytes()
	late, err := users.LogIn(ctx, first, plan.Users, plan.Segment, l.players, done)
	if err != nil {
		return err
	}
	if l.late = late; early.Users > 0 {
		l.late = users.Late{Users: early.Users + late.Users, Err: early.Err}
	}
	l.live.all, l.live.halfUsers, l.live.users = liveBytes(), plan.Segment.Of(first), plan.ownUsers()
	return nil
}

// WorkersSeen are the servers that turned out to be workers of the ERP, if the plan asks for them.
func (l *Local) WorkersSeen() []string { return l.plan.workers.all() }

// Enter opens the sessions of users who are added during the run.
func (l *Local) Enter(ctx context.Context, from, to int) error {
	if l.players == nil {
		return errNobody
	}
	_, err := users.LogIn(ctx, from, to, l.plan.Segment, l.players, nil)
	return err
}

// Work starts at once.
func (l *Local) Work(ctx context.Context, w Watch) (LoadResult, error) {
	return l.WorkFrom(ctx, time.Time{}, w)
}

// WorkFrom is Work, starting at a moment that several generators share.
func (l *Local) WorkFrom(ctx context.Context, start time.Time, w Watch) (made LoadResult, err error) {
	if l.players == nil {
		return made, errNobody
	}
	crowd := l.plan.Crowd()
	crowd.Start, crowd.EachSecond, crowd.Control, crowd.Changed = start, w.EachSecond, w.Control, w.Changed
	if l.Ended != nil {
		crowd.Ended = func(s tally.Sample) {
			id := s.Instead
			if id == "" {
				id = crowd.Operations[s.Operation].ID
			}
			l.Ended(id, s)
		}
	}
	if w.Began != nil {
		w.Began()
	}
	began := start
	if began.IsZero() {
		began = time.Now()
	}
	frozen := watchForFreezes(began)
	made.Tally, err = crowd.Run(ctx, l.players)
	made.Frozen = frozen()
	if l.late.Users > 0 {
		made.Late = []string{fmt.Sprintf("%d of %d users could not log in before the load and tried again when they "+
			"acted: %v",
			l.late.Users, l.plan.ownUsers(), l.late.Err)}
	}
	if err != nil {
		return made, fmt.Errorf("run the users: %w", err)
	}
	made.Written = l.players.written()
	if own := l.players.own; own != nil {
		made.Wrong = own.UsedUp()
	}
	l.live.end = liveBytes()
	l.players.transport.CloseIdleConnections()
	awaitClosed()
	l.live.closed = liveBytes()
	made.Live = l.live.footprint()
	return made, nil
}

// WrittenNews is what has changed since the last call in what its users wrote; nil: nothing.
func (l *Local) WrittenNews() *Written {
	if l.players == nil || l.players.erp == nil {
		return nil
	}
	if keys, series := l.players.erp.client.News(); len(series) > 0 {
		return &Written{keys, series}
	}
	return nil
}

// Close ends the connections.
func (l *Local) Close() {
	if l.players != nil {
		l.players.close()
	}
}

package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"plimsoll/erp/client"
	"plimsoll/lab/load"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
)

// Plan is what a generator must know to put users to work. It can be sent: the same plan
// makes the same users wherever it is carried out.
type Plan struct {
	load.Load
	UsersMost int           `json:"users_most"` // how many there may be by hand
	Segment   users.Segment `json:"segment"`
	// URLs of the application servers.
	URLs []string `json:"urls"`
	// DSN of the database, only where the scenario has SQL of its own. It is a secret and never sent.
	DSN string `json:"-"`
	// Access to the application servers is never sent either.
	Access Access `json:"-"`
}

// Crowd that the plan is about.
func (p Plan) Crowd() users.Crowd {
	c := p.Load.Crowd()
	c.UsersMost, c.Segment = p.UsersMost, p.Segment
	return c
}

// own users: those of the segment.
func (p Plan) own() int { return p.Segment.Of(p.Users) }

// operations that the generator makes at most: the server takes no time.
func (p Plan) operations() float64 {
	c, length := p.Crowd(), (p.Ramp + p.Duration).Seconds()
	part := float64(p.own()) / float64(max(1, p.Users))
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

// thinkLeast is what a user takes for an operation without thinking, as far as plans go.
const thinkLeast = 100 * time.Millisecond

// Made is what a generator knows at the end.
type Made struct {
	Tally *tally.Tally
	// UsersBytes is memory in use for each user at the end; nil: not known here.
	UsersBytes *float64
	// Agents that made the load instead of this process, and what happened to them.
	Agents []result.Agent
	Events []result.Event
	// Written is what the clients of the ERP know of what they wrote, each with the beginning of its keys.
	Written []Written
	// Lost is what is known of the work of agents that were lost.
	Lost []Lost
	// Frozen is when generators stood still.
	Frozen []Frozen
	// Wrong is why the figures may not be quoted.
	Wrong []string
}

// Written is what one client of the ERP wrote, by type of document.
type Written struct {
	Keys   string                    `json:"keys"` // what the keys of its operations begin with
	ByType map[string]client.Written `json:"by_type"`
}

// Lost is an agent that ended without telling what it had done.
type Lost struct {
	Agent string // as the result names it
	// Written is what it had reported.
	Written []Written
}

// Generator puts the users of a plan to work: in this process, or elsewhere.
type Generator interface {
	// LogIn opens the sessions of all users, counted in done.
	LogIn(ctx context.Context, plan Plan, done *atomic.Int64) error
	// Enter opens the sessions of users [from, to) who come by hand, while the others work.
	Enter(ctx context.Context, from, to int) error
	// Work lets them work. When ctx is done before the end, it gives what was counted so far.
	Work(ctx context.Context, w Watch) (Made, error)
	// Close ends all sessions' connections; it is called after LogIn, whatever became of it.
	Close()
}

// Watch is how a generator is guided while users work, and whom it tells of them. It calls the
// functions from one goroutine, which they must not hold up.
type Watch struct {
	Began   func()           // the ramp begins
	Look    func(users.Look) // once a second, as users.Crowd does
	Control *users.Control   // nil: nobody changes the load
	Changed func(users.Change)
	Alarm   func(text string) // trouble that the result will tell of
}

var errNobody = errors.New("nobody is logged in")

// Local makes the load in this process.
type Local struct {
	// Ended hears every operation that has ended; see Options.
	Ended func(operation string, s tally.Sample)

	plan  Plan
	cast  *cast
	empty float64
}

// LogIn opens the sessions.
func (l *Local) LogIn(ctx context.Context, plan Plan, done *atomic.Int64) (err error) {
	l.plan, l.empty = plan, liveBytes()
	if l.cast, err = newCast(ctx, plan); err != nil {
		return err
	}
	return users.LogIn(ctx, 0, plan.Users, plan.Segment, l.cast, done)
}

// Enter opens the sessions of those who come by hand.
func (l *Local) Enter(ctx context.Context, from, to int) error {
	if l.cast == nil {
		return errNobody
	}
	return users.LogIn(ctx, from, to, l.plan.Segment, l.cast, nil)
}

// Work starts at once.
func (l *Local) Work(ctx context.Context, w Watch) (Made, error) {
	return l.WorkFrom(ctx, time.Time{}, w)
}

// WorkFrom is Work from a moment that several generators have in common.
func (l *Local) WorkFrom(ctx context.Context, start time.Time, w Watch) (made Made, err error) {
	if l.cast == nil {
		return made, errNobody
	}
	crowd := l.plan.Crowd()
	crowd.Start, crowd.Look, crowd.Control, crowd.Changed = start, w.Look, w.Control, w.Changed
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
	frozen := feelPulse(began)
	made.Tally, err = crowd.Run(ctx, l.cast)
	made.Frozen = frozen()
	if err != nil {
		return made, fmt.Errorf("let users work: %w", err)
	}
	bytes := max(0, (liveBytes()-l.empty)/float64(max(1, l.plan.own())))
	made.UsersBytes = &bytes
	made.Written = l.cast.written()
	return made, nil
}

// Written is what its users have written so far.
func (l *Local) Written() []Written {
	if l.cast == nil {
		return nil
	}
	return l.cast.written()
}

// Close ends the connections.
func (l *Local) Close() {
	if l.cast != nil {
		l.cast.close()
	}
}

// liveBytes is memory in use after a collection: heap and stacks. The second one takes what pools kept over the first,
// such as the buffers of a base that this process has just filled.
func liveBytes() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

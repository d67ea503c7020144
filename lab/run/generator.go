package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"plimsoll/lab/result"
	"plimsoll/lab/scenario"
	"plimsoll/lab/tally"
	"plimsoll/lab/users"
)

// Plan is what a generator must know to put users to work. It can be sent: the same plan
// makes the same users wherever it is carried out.
type Plan struct {
	Scenario *scenario.Scenario `json:"scenario"`
	Users    int                `json:"users"` // of the whole crowd
	// UsersMost is how many there may be by hand.
	UsersMost int             `json:"users_most"`
	Segment   users.Segment   `json:"segment"`
	Think     *users.Think    `json:"think,omitempty"` // instead of the scenario's
	Arrivals  *users.Arrivals `json:"arrivals,omitempty"`
	Seed      uint64          `json:"seed"`
	Ramp      time.Duration   `json:"ramp_ns"`
	Duration  time.Duration   `json:"duration_ns"`
	Drain     time.Duration   `json:"drain_ns"`
	Timeout   time.Duration   `json:"timeout_ns"`
	// URLs of the application servers.
	URLs []string `json:"urls"`
	// DSN of the database, a secret; only where the scenario has SQL of its own.
	DSN string `json:"dsn,omitempty"`
}

// Crowd that the plan is about.
func (p Plan) Crowd() users.Crowd {
	c := p.Scenario.Crowd(p.Users, p.Think)
	c.UsersMost, c.Segment, c.Arrivals, c.Seed = p.UsersMost, p.Segment, p.Arrivals, p.Seed
	c.Ramp, c.Steady, c.Drain, c.Timeout = p.Ramp, p.Duration, p.Drain, p.Timeout
	return c
}

// own users: those of the segment.
func (p Plan) own() int { return p.Segment.Of(p.Users) }

// Made is what a generator knows at the end.
type Made struct {
	Tally *tally.Tally
	// UsersBytes is memory in use for each user at the end; nil: not known here.
	UsersBytes *float64
	// Agents that made the load instead of this process, and what happened to them.
	Agents []result.Agent
	Events []result.Event
	// Wrong is why the figures may not be quoted.
	Wrong []string
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
		crowd.Ended = func(s tally.Sample) { l.Ended(crowd.Operations[s.Operation].ID, s) }
	}
	if w.Began != nil {
		w.Began()
	}
	if made.Tally, err = crowd.Run(ctx, l.cast); err != nil {
		return made, fmt.Errorf("let users work: %w", err)
	}
	bytes := max(0, (liveBytes()-l.empty)/float64(max(1, l.plan.own())))
	made.UsersBytes = &bytes
	return made, nil
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

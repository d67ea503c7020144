package users

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"plimsoll/lab/load/tally"
)

// ErrUnfinished is behind an operation that was still under way, or not even sent,
// when the drain was over: its user has no answer and is frustrated.
var ErrUnfinished = errors.New("unfinished at the end of the drain")

// loop is one run of a crowd.
type loop struct {
	Crowd
	player Player
	parts  []part // by role
	clock  clock
	users  []user
	open   *stream // nil: the closed model

	began    time.Time
	agenda   agenda // thinking
	waiting  queue  // due, but no slot is free
	inFlight int
	ended    chan turn       // room for all in flight: an operation never waits to end
	heard    []turn          // taken from there at once; kept for its room
	stopped  bool            // nobody starts anything new
	news     <-chan struct{} // of the control; nil: none
	wanted   int             // users that Control requests, of all segments; those of higher numbers leave
	pausedAt time.Duration   // notPaused: not
	cut      bool            // the drain is over
	within   within          // operations whose users think between two steps

	nextPresence time.Duration // when the number of users follows its plan next

	tally     *tally.Tally
	ticks     int
	peak      int // most in flight in this second
	backlog   int // most who waited for a slot in this second
	tallyErrs error
}

func newLoop(c Crowd, player Player) (*loop, error) {
	if c.InFlightMax == 0 {
		c.InFlightMax = InFlightMaxDefault
	}
	c.UsersMost = max(c.UsersMost, c.Users)
	c.InFlightMax = min(c.InFlightMax, c.Segment.Of(c.UsersMost))
	l := &loop{Crowd: c, player: player, ended: make(chan turn, c.InFlightMax), news: c.Control.Changed(),
		wanted: c.first(), pausedAt: notPaused}
	for _, role := range c.roles() {
		p, err := newPart(role, c.Operations)
		if err != nil {
			return nil, err
		}
		l.parts = append(l.parts, p)
	}
	l.clock = newClock(c.Pace, c.Ramp, c.Steady)
	l.tally = NewTally(c.Operations, c.Ramp, c.Ramp+c.Steady)
	if c.Arrivals == nil {
		l.enter()
		return l, nil
	}
	var err error
	l.open, err = newStream(c)
	return l, err
}

// enter plans the first operation of every user.
func (l *loop) enter() {
	// A user who acts has a pointer to its random numbers in this list, so the list must never move.
	l.users = make([]user, 0, l.Segment.Of(l.UsersMost))
	l.agenda = make(agenda, 0, l.Segment.Of(l.Users))
	l.addUsers(l.wanted, l.enters)
}

// addUsers adds the segment's users up to the number n, who enter at the given times.
func (l *loop) addUsers(n int, enters func(user int) time.Duration) {
	roles := assignRoles(l.roles(), l.Users, n)
	l.Segment.Each(l.Segment.number(len(l.users)), n, func(i int) {
		u := newUser(l.Seed, i)
		u.role = roles[i]
		l.users = append(l.users, u)
		l.enterAt(i, enters(i))
	})
}

// enterAt lets a user enter in the middle of a think time.
func (l *loop) enterAt(user int, at time.Duration) {
	think := l.partOf(user).thinker.residual(l.schedule(user))
	l.agenda.add(entry{due: l.clock.after(at, think), number: int32(user)})
}

// user by its number in the crowd.
func (l *loop) user(number int) *user { return &l.users[number/l.Segment.step()] }

func (l *loop) partOf(user int) *part { return &l.parts[l.user(user).role] }

func (l *loop) schedule(user int) *rand.Rand { return rand.New(&l.user(user).schedule) }

// choose is what a user does next.
func (l *loop) choose(user int) int { return l.partOf(user).mix.pick(l.schedule(user)) }

func (l *loop) run(ctx context.Context) (*tally.Tally, error) {
	// Operations outlive a cancelled run by the drain.
	operations, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	l.begin(ctx)
	l.work(ctx, operations)
	l.stop()
	l.drain(operations, cut)
	return l.close()
}

// begin waits for the start that several crowds have in common.
func (l *loop) begin(ctx context.Context) {
	l.began = l.Start
	if l.began.IsZero() {
		l.began = time.Now()
	}
	start := time.NewTimer(time.Until(l.began))
	defer start.Stop()
	select {
	case <-start.C:
	case <-ctx.Done():
	}
}

func (l *loop) now() time.Duration { return time.Since(l.began) }

// work is ramp and steady state.
func (l *loop) work(ctx, operations context.Context) {
	end := l.tally.To
	for l.now() < end && ctx.Err() == nil {
		l.follow(l.now())
		l.send(operations, min(l.now(), end-1))
		l.wait(ctx.Done(), min(l.wake(), end))
	}
	if ctx.Err() != nil {
		end = min(end, l.now())
		l.tally.To = max(l.tally.From, end)
		l.Drain = min(l.Drain, InterruptedDrainMax)
	}
	l.send(operations, end-1) // who was due before the end acts
}

// wake is when something is to be done next.
func (l *loop) wake() time.Duration {
	tick := time.Duration(l.ticks+1) * tally.IntervalDefault
	if l.pausedAt != notPaused {
		return tick
	}
	if due, any := l.within.agenda.next(); any {
		tick = min(tick, due)
	}
	if l.open != nil {
		return min(tick, l.open.next)
	}
	tick = min(tick, l.followAt())
	if due, any := l.agenda.next(); any {
		return min(tick, due)
	}
	return tick
}

// wait lets operations end until the time at, or until stop.
func (l *loop) wait(stop <-chan struct{}, at time.Duration) {
	timer := time.NewTimer(at - l.now())
	defer timer.Stop()
	l.heard = l.heard[:0]
	select {
	case t := <-l.ended:
		l.heard = append(l.heard, t)
	case <-timer.C:
	case <-stop:
	case <-l.news:
		l.applyControl()
	}
	l.endAll()
	l.tick(l.now())
}

// endAll takes what has ended without waiting, each in its second: after a standstill of the generator there are some
// of several seconds.
func (l *loop) endAll() {
	for len(l.ended) > 0 {
		l.heard = append(l.heard, <-l.ended)
	}
	slices.SortFunc(l.heard, func(a, b turn) int { return cmp.Compare(a.Done, b.Done) })
	for _, t := range l.heard {
		l.tick(t.Done)
		l.end(t)
	}
}

// send starts the operations of users who are due, as far as there are slots.
func (l *loop) send(operations context.Context, now time.Duration) {
	for e, due := l.due(now); due; e, due = l.due(now) {
		l.waiting.add(e)
	}
	l.collectWithin(now)
	for l.inFlight < l.InFlightMax {
		t, any := l.nextTurn()
		if !any {
			break
		}
		l.inFlight++
		go l.act(operations, t)
	}
	l.peak = max(l.peak, l.inFlight)
	l.backlog = max(l.backlog, l.waiting.len()+l.within.waiting.len())
}

// nextTurn is of who waits for a slot: those in the middle of an operation first. An arrival also needs a session.
func (l *loop) nextTurn() (t turn, any bool) {
	switch {
	case l.within.waiting.len() > 0:
		return l.resume(l.within.waiting.take()), true
	case l.waiting.len() > 0 && (l.open == nil || len(l.open.free) > 0):
		return l.operation(l.waiting.take()), true
	}
	return turn{}, false
}

// operation is one about to be sent, with the random numbers for what it does.
func (l *loop) operation(e entry) turn {
	if l.open == nil {
		user := int(e.number)
		return newTurn(tally.Sample{User: user, Operation: l.choose(user), Due: e.due},
			rand.New(&l.user(user).content))
	}
	seat := l.open.takeFreeSession()
	return newTurn(tally.Sample{User: int(seat.user), Operation: int(e.operation), Due: e.due,
		Held: max(0, seat.since-e.due)}, l.open.content(e.number))
}

// due is who acts next by now.
func (l *loop) due(now time.Duration) (entry, bool) {
	if l.pausedAt != notPaused {
		return entry{}, false
	}
	if l.open != nil {
		return l.open.take(now)
	}
	e, due := l.agenda.take(now)
	for due && l.removeUnwanted(int(e.number)) {
		e, due = l.agenda.take(now)
	}
	return e, due
}

// act is one operation, or a part of one, in a goroutine of its own.
func (l *loop) act(operations context.Context, t turn) {
	sent := l.now()
	t.begin(sent)
	ctx, cancel := context.WithTimeout(operations, l.Timeout-(sent-t.Sent))
	defer cancel()
	t.Outcome, t.Err = l.player.Play(tally.WithNotes(ctx, t.notes), t.User, t.Operation, t.content)
	t.Done = l.now()
	if t.notes.Pausing() == 0 {
		t.notes.Take(&t.Sample, l.began, l.place)
	}
	l.ended <- t
}

// place of an operation among the crowd's.
func (l *loop) place(id string) (at int, found bool) {
	at = slices.IndexFunc(l.Operations, func(op Operation) bool { return op.ID == id })
	return at, at >= 0
}

// end counts an operation and lets its user think. One that only pauses is not counted yet.
func (l *loop) end(t turn) {
	l.inFlight--
	s := t.Sample
	if think := t.notes.Pausing(); think > 0 {
		l.pauseWithin(t, think)
		return
	}
	l.record(s)
	if l.open != nil {
		l.open.free = append(l.open.free, session{int32(s.User), s.Done})
		return
	}
	if !l.stopped && !l.removeUnwanted(s.User) {
		think := l.partOf(s.User).thinker.draw(l.schedule(s.User))
		l.agenda.add(entry{due: l.clock.after(l.thinksFrom(s.Done), think), number: int32(s.User)})
	}
}

func (l *loop) record(s tally.Sample) {
	if l.cut && s.Outcome == tally.Failed {
		s.Err = ErrUnfinished
	}
	l.tally.Count(s)
	if l.Ended != nil {
		l.Ended(s)
	}
}

// stop ends the steady state: thinking users leave.
func (l *loop) stop() {
	l.stopped, l.pausedAt = true, notPaused
	l.agenda = nil
	if l.open != nil {
		l.open.next = never
	}
	l.stopWithin()
}

// drain waits for the operations under way, and for those that wait for a slot,
// and cuts off what has not ended in time.
func (l *loop) drain(operations context.Context, cut context.CancelFunc) {
	deadline := l.now() + l.Drain
	for l.inFlight+l.waiting.len()+len(l.within.turns) > 0 && l.now() < deadline {
		l.wait(nil, min(l.wake(), deadline))
		l.send(operations, l.now())
	}
	l.cut = true
	cut()
	for l.inFlight > 0 {
		l.end(<-l.ended)
	}
	l.endWithin()
	for l.waiting.len() > 0 {
		s := l.operation(l.waiting.take()).Sample
		s.Sent, s.Outcome, s.Err = l.now(), tally.Failed, ErrUnfinished
		s.Done = s.Sent
		if l.open != nil { // it never had a session: all of its wait was for one
			s.Held = s.Sent - s.Due
			l.open.free = append(l.open.free, session{user: int32(s.User)})
		}
		l.record(s)
	}
}

// tick closes the seconds that are over at a moment.
func (l *loop) tick(at time.Duration) {
	for at >= time.Duration(l.ticks+1)*tally.IntervalDefault {
		l.ticks++
		page, err := l.tally.Tick(l.activeAt(at), l.peak, l.backlog)
		l.tallyErrs = errors.Join(l.tallyErrs, err)
		l.show(l.now(), page)
		l.peak, l.backlog = l.inFlight, l.waiting.len()
	}
}

func (l *loop) show(now time.Duration, page tally.Page) {
	if l.EachSecond != nil {
		l.EachSecond(Second{At: now, Page: page, Tally: l.tally})
	}
}

func (l *loop) close() (*tally.Tally, error) {
	now := l.now()
	page, err := l.tally.Close(l.activeAt(now), l.peak, l.backlog)
	l.show(now, page)
	return l.tally, errors.Join(l.tallyErrs, err)
}

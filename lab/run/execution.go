package run

import (
	"cmp"
	"context"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/live"
)

// execution is the active users, as their run controls and watches them.
type execution struct {
	*setup
	meter     *meter
	diagnosis *diagnosis         // nil: there is no database, or the load did not begin
	end       context.CancelFunc // of the load
}

// execute logs the users in and lets them work; what is seen goes into the record.
func (s *setup) execute(ctx context.Context) (err error) {
	defer s.generator.Close()
	s.lookAround(ctx)
	s.memoryBefore = memoryNow(s.servers, s.postmaster())
	if err := s.logIn(ctx); err != nil {
		class := problem.Environment
		if problem.ClassOf(err) == problem.Usage { // such as a scenario that agents cannot take
			class = problem.Usage
		}
		return problem.New(class, err, cmp.Or(problem.HintOf(err), s.crew.lastOutput()))
	}
	s.memoryAfter = memoryNow(s.servers, s.postmaster())
	if s.counted, err = s.countBefore(ctx); err != nil {
		return problem.New(problem.Environment, err, "")
	}
	defer s.feed.watch(ctx, s.DSN, s.Access.asker(), s.crew.urls())()
	working, end := context.WithCancel(ctx)
	defer end()
	e := &execution{setup: s, end: end, meter: newMeter(s.servers, s.postmaster(), s.feed.say, s.tellShares)}
	e.meter.neighbours.From, e.meter.neighbours.To = s.Ramp, s.Ramp+s.Duration
	s.crew.watch(end)
	s.journal.open(opening{s.opening()}, s.feed.say)
	s.otherLoads = watchOtherLoads(ctx, s.loadMark())
	s.made, err = s.generator.Work(working, e.watch(working))
	s.otherLoads.end()
	e.diagnosis.end()
	s.diagnosis = e.diagnosis
	s.journalStop = s.journal.finish()
	s.stoppedByUser = s.Control.detach() || ctx.Err() != nil
	s.meters = e.meter.end()
	return err
}

// logIn opens the sessions of all users.
func (s *setup) logIn(ctx context.Context) error {
	s.begin(Login, s.End()+logInGuess(s.Users)+auditGuess)
	defer s.feed.logIns(&s.board.loggedIn)()
	plan := s.plan(s.crew.urls())
	plan.workers, plan.LookForWorkers = s.workersSeen, s.workersSeen != nil
	return s.generator.LogIn(ctx, plan, &s.board.loggedIn)
}

// watch is how the run controls the generator and receives its figures.
func (e *execution) watch(working context.Context) Watch {
	w := Watch{EachSecond: e.look(), Alarm: func(text string) { e.feed.say(live.Alarm, text) }}
	target := e.controlTarget(working, &w)
	w.Began = func() {
		e.rampBegan = time.Now()
		e.feed.rampBegins()
		e.meter.start()
		e.diagnosis = e.beginDiagnosis(working)
		e.begin(phaseAt(0, e.Ramp, e.End()), leftAt(0, e.Options))
		if target != nil {
			e.Control.attach(target)
		}
	}
	return w
}

// controlTarget is what the user can change, with changes reported to the watchers; nil: nothing.
func (e *execution) controlTarget(working context.Context, w *Watch) *controlTarget {
	if e.Control == nil {
		return nil
	}
	w.Control = &users.Control{}
	before := users.Load{Users: e.Users}
	w.Changed = func(c users.Change) {
		e.changes = append(e.changes, c)
		e.feed.changed(before, c)
		before = c.Load
	}
	return &controlTarget{
		ctx: working, control: w.Control, end: e.end, loggedIn: e.Users, most: e.usersMost(), open: e.Arrivals != nil,
		staged: e.Scenario.Staged(),
		logIn:  e.generator.Enter,
		say:    func(text string) { e.feed.say(live.ByUser, text) },
	}
}

// look makes a snapshot of a generator's figures for the progress board, the live picture and other watchers.
func (e *execution) look() func(users.Second) {
	board := e.board.watch(e.Options)
	var failing alike
	return func(l users.Second) {
		s := Snapshot{At: l.At, Phase: phaseAt(l.At, l.Tally.From, l.Tally.To), Operations: e.crowd.Operations,
			Page: l.Page, Tally: l.Tally}
		board(s)
		e.journal.add(l.Page)
		e.feed.second(s, leftAt(s.At, e.Options))
		if text, all := failing.add(l.Page); all && e.failedAlike == "" {
			e.failedAlike = text
			e.feed.say(live.Alarm, "the run ends: all operations fail with the same error: "+text)
			e.end()
		}
		e.failedCount = failing.failures
		if text := shortOfRows(l.Page); text != "" && e.failedAlike == "" && !e.shortOfRows {
			e.shortOfRows = true
			e.feed.say(live.Alarm, "the run ends: "+text)
			e.end()
		}
		if e.Snapshot != nil {
			e.Snapshot(s)
		}
	}
}

// tellShares updates the picture. If others generate the load, this process's share is not the generator's.
func (s *setup) tellShares(shares live.Shares) {
	if s.Generator != nil {
		shares.Generator = nil
	}
	s.feed.shares(shares)
}

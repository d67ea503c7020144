package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/process"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

// endWithin is how long an agent may take to report the end, after the last operation may be cut off.
const endWithin = 30 * time.Second

// work is the run that the fleet generates.
type work struct {
	plan    run.Plan
	crowd   users.Crowd
	ordered users.Load // as last ordered
	began   time.Time
	tally   *tally.Tally
	next    int // next second to add up
}

// LogIn makes each agent log in its users.
func (f *Fleet) LogIn(ctx context.Context, plan run.Plan, done *atomic.Int64) error {
	f.load = work{plan: plan, crowd: plan.Crowd(), ordered: users.Load{Users: plan.Users}}
	if len(f.members) > plan.Users {
		return problem.New(problem.Usage, fmt.Errorf("%d agents for %d users", len(f.members), plan.Users),
			"each agent needs at least one user: use fewer agents or more users")
	}
	if err := f.reachable(plan.URLs); err != nil {
		return err
	}
	if size := len(encode(order{Do: logIn, Plan: &plan})); size > payloadMax {
		return problem.New(problem.Usage, fmt.Errorf("the scenario with its files takes %s to send to the agents: "+
			"at most %s", human.Bytes(int64(size)), human.Bytes(int64(payloadMax))), "send smaller files, or use no "+
			"agents")
	}
	database := ""
	if plan.DSN != "" {
		c, err := pgx.ParseConfig(plan.DSN)
		if err != nil {
			return problem.New(problem.Usage, fmt.Errorf("connection string: %w", err), "")
		}
		database = c.Database
	}
	if err := f.offerRows(plan); err != nil {
		return err
	}
	f.each(func(m *member) error {
		own := plan
		own.Segment = users.Segment{Index: m.number, Count: len(f.members)}
		_, err := f.order(m, order{Do: logIn, Plan: &own, Database: database})
		return err
	})
	ready := func() bool {
		var in int64
		all := true
		for _, m := range f.members {
			in += m.logged
			all = all && m.ready
		}
		if done != nil {
			done.Store(in)
		}
		return all
	}
	return f.handleMessages(ctx, run.Watch{}, func() (bool, error) {
		for _, m := range f.members {
			if m.gone() {
				return false, problem.WithHint(fmt.Errorf("%s: %s", m.name(), m.lost), m.hint)
			}
		}
		return ready(), nil
	})
}

// reachable checks that agents on other machines are not given loopback addresses.
func (f *Fleet) reachable(urls []string) error {
	for _, text := range urls {
		if !onLoopback(text) {
			continue
		}
		for _, m := range f.members {
			if !m.onThisMachine() {
				return problem.New(problem.Usage, fmt.Errorf("%s cannot reach %s", m.name(), text),
					"start workers that other machines reach ('plimsoll serve --listen …') and give them with --url")
			}
		}
	}
	return nil
}

func onLoopback(text string) bool {
	u, err := url.Parse(text)
	return err == nil && process.Loopback(u.Hostname())
}

// handleMessages handles messages of the agents and manual changes until look reports the end. This one goroutine reads
// the reports, counts the silent agents and applies manual changes.
func (f *Fleet) handleMessages(ctx context.Context, w run.Watch, look func() (over bool, err error)) error {
	often := time.NewTicker(Beat)
	defer often.Stop()
	news := w.Control.Changed()
	for {
		over, err := look()
		if over || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m := <-f.reports:
			f.receiveReport(senderOf(m.Subject), m.Data)
		case <-often.C:
			f.countSilence()
		case <-news:
			f.sendControl(w)
		}
		f.reportLost(w)
	}
}

func (f *Fleet) receiveReport(sender string, text []byte) {
	r, err := decode[report](text)
	if err != nil || r.Agent != sender {
		return // not from an agent of this protocol
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		if m.ID == r.Agent && !m.gone() {
			m.silent = 0
			f.load.plan.NoteWorkers(slices.DeleteFunc(r.Workers, func(url string) bool {
				return onLoopback(url) && !m.onThisMachine() // here it is another server
			}))
			m.receiveReport(r, len(f.load.crowd.Operations))
			if m.gone() {
				m.lostFor = f.sinceStart()
			}
		}
	}
}

func (m *member) receiveReport(r report, operations int) {
	if r.Written != nil && !m.written.Update(*r.Written) {
		m.lost = "an earlier report on its documents was lost in transit"
		return
	}
	m.logged, m.ready = max(m.logged, r.LoggedIn), m.ready || r.Ready
	switch {
	case r.Error != "":
		m.lost, m.hint = r.Error, r.Hint
	case r.Page != nil && (!r.Page.Fits(operations) || r.Page.Second != m.queue.next+len(m.queue.waiting)):
		m.lost = fmt.Sprintf("its page of second %d was lost in transit", m.queue.next+len(m.queue.waiting)+1)
	case r.Page != nil:
		m.queue.waiting = append(m.queue.waiting, *r.Page)
		m.lag.add(*r.Page)
	case r.Result != nil:
		m.result = r.Result
	}
}

func (f *Fleet) countSilence() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		if m.gone() || m.result != nil {
			continue
		}
		if m.silent++; m.silent > SilenceMax {
			m.lost, m.lostFor = fmt.Sprintf("no message from it for %v", Silence), f.sinceStart()
			// An agent that only slept must not continue: nobody counts what its users do.
			_ = f.conn.Publish(ordersOf(m.ID), encode(order{Do: stop}))
		}
	}
}

func (f *Fleet) sinceStart() time.Duration {
	if f.load.began.IsZero() {
		return 0
	}
	return max(0, time.Since(f.load.began))
}

// Work starts all agents at one moment and adds up their counts.
func (f *Fleet) Work(ctx context.Context, w run.Watch) (made run.LoadResult, err error) {
	f.load.crowd.Control = w.Control
	l, c := &f.load, f.load.crowd
	l.tally = users.NewTally(c.Operations, c.Ramp, l.plan.End())
	f.each(func(m *member) (err error) {
		m.clock, err = measure(func() (time.Time, error) { a, err := f.order(m, order{Do: clock}); return a.Now, err })
		return err
	})
	begin := time.Now().Add(lead)
	f.each(func(m *member) error {
		_, err := f.order(m, order{Do: start, At: m.clock.agentTime(begin)})
		return err
	})
	sleep(ctx, begin)
	l.began = time.Now()
	if w.Began != nil {
		w.Began()
	}
	if err := f.follow(ctx, w); err != nil {
		return made, err
	}
	made.Tally = l.tally
	f.recordAgents(&made)
	return made, nil
}

// follow adds up the seconds until all agents have ended or are lost.
func (f *Fleet) follow(ctx context.Context, w run.Watch) error {
	l := &f.load
	operations := len(l.crowd.Operations)
	add := func() (bool, error) {
		for {
			page, complete := f.second(l.next, operations)
			if !complete {
				return f.allEnded(), nil
			}
			l.next++
			if err := l.tally.Add(page); err != nil {
				return false, err
			}
			if w.EachSecond != nil {
				w.EachSecond(users.Second{At: page.End(), Page: page, Tally: l.tally})
			}
		}
	}
	end := l.began.Add(l.plan.End() + l.plan.Drain + endWithin)
	patient, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	err := f.handleMessages(patient, w, add)
	if err == nil || !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	// Stopped: they end what is under way and report it.
	f.each(func(m *member) error { _, err := f.order(m, order{Do: stop}); return err })
	patient, cancelStop := context.WithTimeout(context.WithoutCancel(ctx), users.InterruptedDrainMax+endWithin)
	defer cancelStop()
	w.Control = nil // manual control has been detached
	if err = f.handleMessages(patient, w, add); errors.Is(err, context.DeadlineExceeded) {
		f.giveUp()
		_, err = add()
	}
	return err
}

// allEnded reports whether no agent works any more.
func (f *Fleet) allEnded() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		if m.result == nil && !m.gone() || len(m.queue.waiting) > 0 {
			return false
		}
	}
	return true
}

func (f *Fleet) giveUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		if m.result == nil && !m.gone() {
			m.lost, m.lostFor = "it did not end", f.sinceStart()
		}
	}
}

// recordAgents records which agents generated the load, and which were lost.
func (f *Fleet) recordAgents(made *run.LoadResult) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if end := f.end(); end < f.load.tally.To {
		f.load.tally.To = max(f.load.tally.From, end)
	}
	for _, m := range f.members {
		a := m.record(f.load.plan, len(f.members))
		if m.gone() {
			at := m.lostFor.Seconds()
			a.LostAtS = &at
			text := m.lossText(f.load.plan, len(f.members))
			made.Wrong = append(made.Wrong, text)
			if m.result == nil {
				made.Lost = append(made.Lost, run.Lost{Agent: a.Name, Written: m.written})
			}
			made.Events = append(made.Events, result.Event{AtS: at, Text: text})
		}
		if m.result != nil {
			made.Live = sumFootprints(made.Live, m.result.Live)
			if m.written.Keys != "" {
				made.Written = append(made.Written, m.written)
			}
			made.Frozen = append(made.Frozen, m.result.Frozen...)
			made.Late = append(made.Late, m.result.Late...)
			made.Wrong = appendNew(made.Wrong, m.result.Wrong)
		}
		made.Agents = append(made.Agents, a)
	}
}

// sumFootprints is the memory of agents, each of which has its fixed part; nil: none knows.
func sumFootprints(a, b *result.Footprint) *result.Footprint {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	sum := *a
	sum.Add(*b)
	return &sum
}

// end of the steady state: the earliest of the agents that reached it, or the loss of the last one.
func (f *Fleet) end() time.Duration {
	end, lost := time.Duration(-1), time.Duration(0)
	for _, m := range f.members {
		switch {
		case m.result != nil && (end < 0 || m.result.To < end):
			end = m.result.To
		case m.gone():
			lost = max(lost, m.lostFor)
		}
	}
	if end < 0 {
		return lost
	}
	return end
}

// lossText is the result's text for a lost agent.
func (m *member) lossText(plan run.Plan, count int) string {
	own := users.Segment{Index: m.number, Count: count}.Of(plan.Users)
	return fmt.Sprintf("%s was lost after %.1f s with %d of %d users (%.1f %%): %s", m.name(), m.lostFor.Seconds(), own,
		plan.Users,
		100*float64(own)/float64(plan.Users), m.lost)
}

func (m *member) record(plan run.Plan, count int) result.Agent {
	p99, _ := m.lag.all.Percentile(99)
	a := result.Agent{
		Name: fmt.Sprintf("%d@%s", m.number+1, m.Host), Host: m.Host, Boot: m.Boot, PID: m.PID, Cores: m.Cores,
		Users:    users.Segment{Index: m.number, Count: count}.Of(plan.Users),
		LagMSP99: human.MS(p99), LagMSMax: human.MS(m.lag.all.Max()),
		ClockOffsetMS: human.MS(m.clock.ahead), ClockErrorMS: human.MS(m.clock.within),
	}
	if m.result != nil {
		a.CPUShare = m.result.CPUShare
		if live := m.result.Live; live != nil {
			a.UsersBytes = live.PerUser
		}
	}
	return a
}

// Close does nothing: the sessions' connections belong to the agents, which leave on Dismiss.
func (f *Fleet) Close() {}

func sleep(ctx context.Context, until time.Time) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

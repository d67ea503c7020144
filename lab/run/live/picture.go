package live

import (
	"fmt"
	"sync"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/stats"
)

// What is kept.
const (
	SecondsKept = 600
	MinutesKept = 24 * 60
	EntriesKept = 200
)

// alarmAgain is how long a problem must be absent before it is reported again.
const alarmAgain = 30 * time.Second

// Picture of a run. It is safe for concurrent use and never waits for a reader.
type Picture struct {
	now func() time.Time

	mu      sync.Mutex
	number  int64 // of the newest item
	changed chan struct{}

	began     time.Time // the picture
	rampBegan time.Time
	plan      Plan
	planned   int64 // number of the plan
	state     State
	endsAt    time.Time

	seconds ring[*Point]
	minutes ring[*Point]
	log     ring[Entry]
	open    *minute
	times   *tally.Times   // of one second
	scored  []stats.Moment // points and weights of each second of the steady state; never changed in place

	cpu       Shares
	database  *Database
	workers   *Workers
	diagnosis *Diagnosis           // nil: none yet; never changed in place
	diagnosed int64                // number of the diagnosis
	alarms    map[string]time.Time // when each kind of problem was last seen
}

// New is empty. now defaults to time.Now.
func New(now func() time.Time) *Picture {
	if now == nil {
		now = time.Now
	}
	number := func(p *Point) int64 { return p.N }
	return &Picture{
		now: now, changed: make(chan struct{}), began: now(), open: newMinute(), times: tally.NewTimes(),
		alarms:  map[string]time.Time{},
		seconds: newRing(SecondsKept, number), minutes: newRing(MinutesKept, number),
		log: newRing(EntriesKept, func(e Entry) int64 {
			return e.N
		}),
		state: State{Phase: "prepare", Band: apdex.NoSample},
	}
}

// change changes the picture under the lock and wakes the readers.
func (p *Picture) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	p.number++
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Picture) next() int64 {
	p.number++
	return p.number
}

// SetPlan sets what the run is going to do.
func (p *Picture) SetPlan(plan Plan) {
	p.change(func() {
		plan.Classes = Classes[:]
		p.plan, p.planned = plan, p.next()
		p.state.Wanted, p.state.Operations = plan.Users, make([]Zones, len(plan.Operations))
	})
}

// Begin a phase; left is the estimate until the result.
func (p *Picture) Begin(phase string, left time.Duration) {
	p.change(func() {
		p.endsAt = p.now().Add(left)
		if p.state.Phase == phase {
			return
		}
		p.state.Phase = phase
		p.say(Note, "phase: "+phase)
	})
}

// RampBegins marks the moment from which seconds count.
func (p *Picture) RampBegins() { p.change(func() { p.rampBegan = p.now() }) }

// LoggedIn sets the number of users logged in.
func (p *Picture) LoggedIn(n int) { p.change(func() { p.state.LoggedIn = n }) }

// Add takes a second of the run, or the rest of one. It keeps nothing of the page.
func (p *Picture) Add(page tally.Page) {
	if page.Rest && page.Ended() == 0 {
		return
	}
	p.change(func() {
		point := newPoint(page, p.times)
		point.N = p.next()
		point.CPU = p.cpu
		point.Database = p.database
		point.Workers = p.workers
		p.seconds.add(point)
		p.open.add(point, page)
		if p.open.seconds == secondsPerMinute {
			p.closeMinute()
		}
		p.watch(page, point)
		p.score(page)
	})
}

func (p *Picture) closeMinute() {
	point := p.open.close()
	point.N = p.next()
	p.minutes.add(point)
	p.open = newMinute()
}

// score the steady state so far.
func (p *Picture) score(page tally.Page) {
	weighed := make([]apdex.Weighed, len(page.Judged))
	all := make([]Zones, len(page.Judged)) // readers may hold the old slice
	copy(all, p.state.Operations)
	for i, c := range page.Judged {
		all[i].add(zones(c.Apdex))
		weighed[i] = apdex.Weighed{Counts: all[i].Counts(), Priority: p.plan.Operations[i].Priority}
		p.state.Ops += c.Apdex.N()
		p.state.Failed += c.Outcomes[tally.Failed] + c.Outcomes[tally.Overload]
	}
	p.state.Operations = all
	p.addScored(page)
	if score, interval, ok := apdex.Overall(weighed); ok {
		p.state.Apdex, p.state.Interval, p.state.Band = &score, &interval, apdex.BandOf(score)
	}
}

// watch reports problems when they begin.
func (p *Picture) watch(page tally.Page, point *Point) {
	failed := point.Errors + point.Overload
	p.alarm("failed", failed > 0, func() string {
		return fmt.Sprintf("operations fail: %d in a second%s", failed, afterColon(page.MostError()))
	})
	late := point.Lag
	p.alarm("lag", p.plan.LagLimitMS > 0 && late > p.plan.LagLimitMS, func() string {
		return fmt.Sprintf("the generator lags: %.0f ms late, limit %.0f ms in 99 of 100 operations", late,
			p.plan.LagLimitMS)
	})
	p.alarm("backlog", point.Backlog > 0, func() string {
		return fmt.Sprintf("users wait for a slot: %d", point.Backlog)
	})
}

func afterColon(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(": %.200s", text)
}

func (p *Picture) alarm(kind string, on bool, text func() string) {
	if !on {
		return
	}
	now := p.now()
	if last, seen := p.alarms[kind]; !seen || now.Sub(last) > alarmAgain {
		p.say(Alarm, text())
	}
	p.alarms[kind] = now
}

// SetCPU sets the latest processor figures.
func (p *Picture) SetCPU(s Shares) { p.mu.Lock(); p.cpu = s; p.mu.Unlock() }

// SetDatabase sets the latest database figures; nil: it cannot be inspected.
func (p *Picture) SetDatabase(d *Database) { p.mu.Lock(); p.database = d; p.mu.Unlock() }

// SetWorkers sets the latest worker figures.
func (p *Picture) SetWorkers(w *Workers) { p.mu.Lock(); p.workers = w; p.mu.Unlock() }

// Changed by the user.
func (p *Picture) Changed(users int, paused bool, text string) {
	p.change(func() {
		p.state.Wanted, p.state.Paused, p.state.ByUser = users, paused, true
		p.say(ByUser, text)
	})
}

// Say adds a line to the log.
func (p *Picture) Say(tone Tone, text string) { p.change(func() { p.say(tone, text) }) }

func (p *Picture) say(tone Tone, text string) {
	e := Entry{N: p.next(), Time: p.now().UTC(), Tone: tone, Text: human.Redact(text)}
	if !p.rampBegan.IsZero() {
		at := p.now().Sub(p.rampBegan).Seconds()
		e.AtS = &at
	}
	p.log.add(e)
}

// Finish ends the picture.
func (p *Picture) Finish(r Result) {
	p.change(func() {
		p.state.Phase, p.state.Result, p.endsAt = "done", &r, p.now()
		p.state.Paused = false
		switch {
		case r.Error != "":
			p.say(Alarm, "the run ended without a result: "+r.Error)
		case r.Valid:
			p.say(Note, "the run is over and valid")
		default:
			p.say(Alarm, "the run is over and not valid")
		}
	})
}

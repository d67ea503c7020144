package run

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/lab/live"
	"plimsoll/lab/tally"
	"plimsoll/lab/users"
)

// feed is what a run does for the picture that is looked at meanwhile; without a picture,
// nothing.
type feed struct {
	picture *live.Picture
	counter *live.Counter
	watches sync.WaitGroup
}

func (r *running) newFeed() feed {
	if r.Live == nil {
		return feed{}
	}
	plan := live.Plan{
		ID: r.id, Title: r.Title, Scenario: r.Scenario.Name, Users: r.Users, UsersMost: r.usersMost(), RampS: r.Ramp.Seconds(), SteadyS: r.Duration.Seconds(),
		Cores: runtime.NumCPU(), LagLimitMS: milliseconds(r.LagLimit),
	}
	if r.Arrivals != nil {
		plan.Open, plan.RatePerS = true, r.Arrivals.Rate
	}
	var targets []time.Duration
	for _, op := range r.operations {
		plan.Operations = append(plan.Operations, live.Operation{ID: op.ID, Title: op.Title, TargetMS: milliseconds(op.Target), Target: op.Target, Priority: op.Priority})
		targets = append(targets, op.Target)
	}
	r.Live.SetPlan(plan)
	return feed{picture: r.Live, counter: live.NewCounter(targets)}
}

// watch begins to look at what serves the load; the answer ends it.
func (f *feed) watch(ctx context.Context, dsn string, urls []string) (stop func()) {
	if f.picture == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if dsn != "" {
		f.watches.Add(1)
		go func() { defer f.watches.Done(); f.picture.WatchDatabase(ctx, dsn) }()
	}
	f.watches.Add(1)
	go func() { defer f.watches.Done(); f.picture.WatchWorkers(ctx, urls) }()
	return func() {
		cancel()
		f.watches.Wait()
	}
}

func (f *feed) begin(phase Phase, left time.Duration) {
	if f.picture != nil {
		f.picture.Begin(string(phase), phase == Steady, left)
	}
}

func (f *feed) count(s tally.Sample) {
	if f.picture != nil {
		f.counter.Count(s)
	}
}

// second gives the picture what ended in the last second.
func (f *feed) second(l users.Look) {
	if f.picture == nil {
		return
	}
	f.counter.Close(l.At, l.Users, l.InFlight, l.Backlog, l.LagMax, func(s live.Second) {
		if err := f.picture.Add(s); err != nil {
			f.picture.Say(live.Alarm, "the picture misses a second: "+err.Error())
		}
	})
}

func (f *feed) changed(before users.Load, c users.Change) {
	if f.picture != nil {
		f.picture.Changed(c.Users, c.Paused, changeText(before, c))
	}
}

func (f *feed) say(tone live.Tone, text string) {
	if f.picture != nil {
		f.picture.Say(tone, text)
	}
}

// logIns shows how many users are in; the answer ends it.
func (f *feed) logIns(in *atomic.Int64) (stop func()) {
	if f.picture == nil {
		return func() {}
	}
	done := make(chan struct{})
	f.watches.Add(1)
	go func() {
		defer f.watches.Done()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				f.picture.LoggedIn(int(in.Load()))
				return
			case <-tick.C:
				f.picture.LoggedIn(int(in.Load()))
			}
		}
	}()
	return func() {
		close(done)
		f.watches.Wait()
	}
}

func (f *feed) rampBegins() {
	if f.picture != nil {
		f.picture.RampBegins()
	}
}

func (f *feed) shares(s live.Shares) {
	if f.picture != nil {
		f.picture.SetCPU(s)
	}
}

package run

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/live"
	"plimsoll/platform/worker/server"
)

// feed is what a run reports to the live picture; without a picture, nothing.
type feed struct {
	picture *live.Picture
	watches sync.WaitGroup
}

func newFeed(o Options, id string, operations []users.Operation) feed {
	if o.Live == nil {
		return feed{}
	}
	plan := live.Plan{
		ID: id, Title: o.Title, Scenario: o.Scenario.Name, Users: o.Users, UsersMost: o.usersMost(),
		RampS: o.Ramp.Seconds(), SteadyS: o.Duration.Seconds(),
		Cores: runtime.NumCPU(), LagLimitMS: human.MS(o.LagLimit),
	}
	if o.Arrivals != nil {
		plan.Open, plan.RatePerS = true, o.Arrivals.Rate
	}
	for _, op := range operations {
		plan.Operations = append(plan.Operations,
			live.Operation{ID: op.ID, Title: op.Title, TargetMS: human.MS(op.Target), Target: op.Target,
				Priority: op.Priority})
	}
	o.Live.SetPlan(plan)
	return feed{picture: o.Live}
}

// watch starts watching what serves the load; the returned function ends it.
func (f *feed) watch(ctx context.Context, dsn string, asker server.Asker, urls []string) (stop func()) {
	if f.picture == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if dsn != "" {
		f.watches.Add(1)
		go func() { defer f.watches.Done(); f.picture.WatchDatabase(ctx, dsn) }()
	}
	f.watches.Add(1)
	go func() { defer f.watches.Done(); f.picture.WatchWorkers(ctx, asker, urls) }()
	return func() {
		cancel()
		f.watches.Wait()
	}
}

func (f *feed) begin(phase Phase, left time.Duration) {
	if f.picture != nil {
		f.picture.Begin(string(phase), left)
	}
}

// second gives the picture what ended in the last second, and then the phase that follows.
func (f *feed) second(s Snapshot, left time.Duration) {
	if f.picture == nil {
		return
	}
	f.picture.Add(s.Page)
	f.begin(s.Phase, left)
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

// logIns shows how many users are logged in; the returned function ends it.
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

package run

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"plimsoll/lab/diagnose"
	"plimsoll/platform/worker/server"
)

// diagnosis runs alongside the load, in the steady state.
type diagnosis struct {
	cancel context.CancelFunc
	done   chan struct{}
	found  *diagnose.Diagnosis
	err    error
}

var errNoSteady = errors.New("the run ended before its steady state")

// beginDiagnosis when the ramp begins; it waits for the steady state.
func (s *setup) beginDiagnosis(ctx context.Context) *diagnosis {
	if s.DSN == "" || s.Sampling == SamplingOff {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	d := &diagnosis{cancel: cancel, done: make(chan struct{}), err: errNoSteady}
	o := diagnose.Options{DSN: s.DSN, Duration: s.Duration, Rate: cmp.Or(s.Sampling, diagnose.RateDefault),
		Software: s.Software}
	if s.feed.picture != nil {
		o.Interim = func(d *diagnose.Diagnosis) { s.feed.picture.SetDiagnosis(liveDiagnosis(d)) }
	}
	if urls := s.crew.urls(); len(urls) > 0 {
		o.Timeline = &timeline{asker: s.Access.asker(), urls: urls}
	}
	go func() {
		defer close(d.done)
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.Ramp):
		}
		d.found, d.err = diagnose.Run(ctx, o)
	}()
	return d
}

// end it with the load.
func (d *diagnosis) end() {
	if d != nil {
		d.cancel()
		<-d.done
	}
}

// timeline asks the workers which operations their connections serve.
type timeline struct {
	asker server.Asker
	urls  []string

	mu      sync.Mutex
	working map[uint32]string
}

// Look at all workers. For one that does not answer in time, the operation is not known.
func (t *timeline) Look(ctx context.Context) {
	all := map[uint32]string{}
	var each sync.WaitGroup
	for _, url := range t.urls {
		each.Add(1)
		go func() {
			defer each.Done()
			w, err := t.asker.RunningOperations(ctx, url)
			if err != nil {
				return
			}
			t.mu.Lock()
			defer t.mu.Unlock()
			for backend, operation := range w.Running {
				all[backend] = operation
			}
		}()
	}
	each.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.working = all
}

// Operation of a server's process at the last look.
func (t *timeline) Operation(pid int, _ string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name, known := t.working[uint32(pid)]
	return name, known
}

package run

import (
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/ground/human"
)

// Phase of a run, in order.
type Phase string

const (
	Starting Phase = "start" // workers come up
	Checking Phase = "audit before the run"
	Login    Phase = "log in" // users log in
	Ramp     Phase = "ramp"
	Steady   Phase = "steady"
	Drain    Phase = "drain"
	Auditing Phase = "audit"
	Finished Phase = "done"
)

// Progress is a snapshot of a run under way.
type Progress struct {
	Phase   Phase
	Elapsed time.Duration
	Left    time.Duration // estimate until the result, including the audit
	Share   float64       // 0..1 of the whole
	Users   int           // logged in during Login, active later
	OpsPerS float64       // valid answers in the last second
	Ops     int64         // in the steady state so far
	Errors  int64         // errors and overload in the steady state so far
	// Apdex of the steady state so far; Scored is false before anything was measured.
	Apdex   float64
	Scored  bool
	Backlog int     // most operations that were due without a free slot in the last second
	LagMS   float64 // largest in the last second
	Audited float64 // share of the books audited, 0..1
}

// Assumed durations of the phases before and after the load, until measured. Only the estimate of the time left depends
// on them.
const (
	logInsPerSecondGuess = 500
	auditGuess           = 3 * time.Second
)

// board holds the progress: the running parts write it, one goroutine reads it.
type board struct {
	show func(Progress)

	mu    sync.Mutex
	began time.Time
	now   Progress
	turn  chan struct{} // a phase has begun

	loggedIn atomic.Int64

	stopped chan struct{}
	read    sync.WaitGroup
}

func newBoard(show func(Progress)) *board {
	b := &board{show: show, began: time.Now(), turn: make(chan struct{}, 1), stopped: make(chan struct{})}
	if show != nil {
		b.read.Add(1)
		go b.readOut()
	}
	return b
}

func (b *board) readOut() {
	defer b.read.Done()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-b.turn:
		case <-second.C:
		case <-b.stopped:
			b.show(b.look())
			return
		}
		b.show(b.look())
	}
}

func (b *board) look() Progress {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.now
	p.Elapsed = time.Since(b.began)
	if p.Phase == Login {
		p.Users = int(b.loggedIn.Load())
	}
	p.Share = p.Elapsed.Seconds() / max(1e-3, (p.Elapsed+p.Left).Seconds())
	return p
}

func (b *board) set(change func(*Progress)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.now)
}

// begin shows a phase without waiting for the next second.
func (b *board) begin(phase Phase, left time.Duration) {
	b.set(func(p *Progress) { p.Phase, p.Left, p.Audited, p.OpsPerS, p.Backlog, p.LagMS = phase, left, 0, 0, 0, 0 })
	select {
	case b.turn <- struct{}{}:
	default:
	}
}

// audits shows how far an audit is, and how long it will take at this pace.
func (b *board) audits() func(done, total int64) {
	began, left := time.Now(), b.look().Left
	return func(done, total int64) {
		if done <= 0 || total < done {
			return
		}
		rest := time.Duration(float64(time.Since(began)) * float64(total-done) / float64(done))
		b.set(func(p *Progress) {
			p.Audited = float64(done) / float64(total)
			p.Left = max(0, left-auditGuess) + rest
		})
	}
}

// close shows the last state.
func (b *board) close() {
	b.set(func(p *Progress) { p.Phase, p.Left = Finished, 0 })
	close(b.stopped)
	b.read.Wait()
}

// watch receives the crowd's state once a second.
func (b *board) watch(o Options) func(Snapshot) {
	return func(s Snapshot) {
		sum := s.Tally.Outcomes()
		score, _, scored := s.Tally.Apdex()
		b.set(func(p *Progress) {
			p.Phase, p.Left = s.Phase, leftAt(s.At, o)
			p.Users, p.OpsPerS, p.LagMS, p.Backlog = s.Page.Users, float64(s.Page.Valid()), human.MS(s.Page.LagMax),
				s.Page.Backlog
			p.Ops, p.Errors = total(sum[:]), failures(sum)
			p.Apdex, p.Scored = score, scored
		})
	}
}

// phaseAt returns the phase at a moment of a run whose steady state is [from, to).
func phaseAt(at, from, to time.Duration) Phase {
	switch {
	case at < from:
		return Ramp
	case at < to:
		return Steady
	}
	return Drain
}

func leftAt(at time.Duration, o Options) time.Duration {
	return max(0, o.End()-at) + auditGuess
}

func logInGuess(users int) time.Duration {
	return time.Duration(users) * time.Second / logInsPerSecondGuess
}

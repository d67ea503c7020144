package diagnose

import (
	"runtime"
	"sync"
	"time"

	"plimsoll/ground/host/cpu"
	"plimsoll/ground/host/process"
)

// stall is a time in which the sampler saw nothing: the server, the network or this process stood still.
type stall struct {
	at, length time.Duration
	who        Culprit
}

// Culprit is who stood still.
type Culprit string

const (
	// StillServer: our session's process neither ran nor waited for a processor, and this program ran.
	StillServer Culprit = "server"
	// StillSession: our session's process was ready and got no processor.
	StillSession Culprit = "session without a processor"
	// StillSampler: this program got no processor itself.
	StillSampler Culprit = "this program"
	// StillElsewhere: the server or the network to it; its machine is not visible here.
	StillElsewhere Culprit = "server or network"
)

// Standstill is a time without a sample.
type Standstill struct {
	AtS  float64 `json:"at_s"`
	ForS float64 `json:"for_s"`
	Who  Culprit `json:"who"`
}

// standstillLeast is the shortest stall worth reporting, and how often it must occur.
const (
	standstillLeast = 200 * time.Millisecond
	stallsMost      = 100
)

// addStall counts a standstill before a look.
func (b *book) addStall(s stall) {
	if s.length < standstillLeast {
		return
	}
	b.still[s.who] += s.length.Seconds()
	if len(b.stalls) < stallsMost {
		b.stalls = append(b.stalls, s)
	}
}

func (b *book) standstills() (all []Standstill) {
	for _, s := range b.stalls {
		all = append(all, Standstill{s.at.Seconds(), s.length.Seconds(), s.who})
	}
	return all
}

// states of our session's process while a look was under way, as the kernel showed them at each beat.
type states struct {
	ready int // on a processor or in the queue for one
	still int // stopped, or asleep for a disk. Asleep otherwise may mean that it has answered, and is not counted
}

// statesLeast are enough to judge by.
const statesLeast = 3

// stallCause says who stood still while a look was late. lost is what this program lost of that time itself; waited is
// how long our session's process was ready without a processor, nil where that is not visible. What was seen of the
// process meanwhile goes before both: a busy machine takes some time from everybody, and that is not why a server
// stands still.
func stallCause(late, lost time.Duration, waited *time.Duration, seen states) Culprit {
	const most = 2 // of so many parts one is enough
	switch {
	case seen.ready+seen.still >= statesLeast && seen.still > seen.ready:
		return StillServer
	case seen.ready >= statesLeast:
		return StillSession
	case lost >= late/most:
		return StillSampler
	case waited == nil:
		return StillElsewhere
	case *waited >= late/most:
		return StillSession
	}
	return StillServer
}

// Beats of this program, by which it feels that it gets no processor.
const (
	beatEvery = 25 * time.Millisecond // each wakes this program up, which costs as much as a tenth of a look
	beatLate  = 30 * time.Millisecond
)

// heart beats while this program runs.
type heart struct {
	mu   sync.Mutex
	last time.Time
	lost time.Duration
	// beats, and how late they were: the sum of squares by the sum, since who waits meets a long one more likely.
	late, squares float64
	over, done    chan struct{}
	// pid of our session's process while a look is under way, since when, and what was seen of it.
	pid   int
	since time.Time
	seen  states
}

// peekAfter so much of a look it is no usual one.
const peekAfter = 20 * time.Millisecond

// watch the process that answers a look from now on; 0: the answer has come.
func (h *heart) watch(pid int, visible bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pid = 0; visible && pid != 0 {
		h.pid, h.since, h.seen = pid, time.Now(), states{}
	}
}

// states that were seen during the last look.
func (h *heart) states() states {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen
}

// peek at the process of a look that is late.
func (h *heart) peek(now time.Time) {
	h.mu.Lock()
	pid := h.pid
	late := pid != 0 && now.Sub(h.since) >= peekAfter
	h.mu.Unlock()
	if !late {
		return
	}
	state, err := process.State(pid)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err != nil || h.pid != pid || state == process.Asleep:
	case state == process.Ready:
		h.seen.ready++
	default:
		h.seen.still++
	}
}

func newHeart() *heart {
	h := &heart{last: time.Now(), over: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(h.done)
		beats := time.NewTicker(beatEvery)
		defer beats.Stop()
		for {
			select {
			case <-h.over:
				return
			case <-beats.C:
				now := time.Now()
				h.beat(now)
				h.peek(now)
			}
		}
	}()
	return h
}

func (h *heart) beat(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	still := now.Sub(h.last) - beatEvery
	if still >= beatLate {
		h.lost += still
	}
	if s := still.Seconds(); s > 0 {
		h.late, h.squares = h.late+s, h.squares+s*s
	}
	h.last = now
}

// take what was lost since it was taken before.
func (h *heart) take() (lost time.Duration) {
	h.beat(time.Now()) // a beat that is due may come after whoever asks
	h.mu.Lock()
	defer h.mu.Unlock()
	lost, h.lost = h.lost, 0
	return lost
}

// wakes is how late this program wakes up, as one who waits for it meets it.
func (h *heart) wakes() float64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.squares / max(h.late, 1e-9) / 2
}

func (h *heart) stop() {
	close(h.over)
	<-h.done
}

// waited is how long our session's process was ready without a processor since it was asked before; nil: not visible.
func (w *watch) waited() *time.Duration {
	if w.session == nil {
		return nil
	}
	now, err := w.session.Read()
	if err != nil {
		w.lookRan = nil
		return nil
	}
	d, ran := now.Waited-w.queued, now.Ran-w.ran
	w.queued, w.ran, w.lookRan = now.Waited, now.Ran, &ran
	return &d
}

// onThread measures the processor time of this thread for a task.
func onThread(task func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := cpu.Thread()
	began := time.Now()
	task()
	after, errAfter := cpu.Thread()
	if err != nil || errAfter != nil {
		return time.Since(began)
	}
	return after - before
}

package diagnose

import (
	"sync"
	"time"

	"plimsoll/lab/host/cpu"
)

// stall is a time in which the sampler saw nothing: the server, the network or this process stood still.
type stall struct {
	at, length time.Duration
	who        Still
}

// Still is who stood still.
type Still string

const (
	// StillServer: our session's process neither ran nor waited for a processor, and this program ran.
	StillServer Still = "server"
	// StillSession: our session's process was ready and got no processor.
	StillSession Still = "session without a processor"
	// StillSampler: this program got no processor itself.
	StillSampler Still = "this program"
	// StillElsewhere: the server or the network to it; its machine is not visible here.
	StillElsewhere Still = "server or network"
)

// Standing is a time without a sample.
type Standing struct {
	AtS  float64 `json:"at_s"`
	ForS float64 `json:"for_s"`
	Who  Still   `json:"who"`
}

// standstillLeast is the shortest stall worth reporting, and how often it must occur.
const (
	standstillLeast = 200 * time.Millisecond
	stallsMost      = 100
)

// stood still before a look.
func (b *book) stood(s stall) {
	if s.length < standstillLeast {
		return
	}
	b.still[s.who] += s.length.Seconds()
	if len(b.stalls) < stallsMost {
		b.stalls = append(b.stalls, s)
	}
}

func (b *book) standstills() (all []Standing) {
	for _, s := range b.stalls {
		all = append(all, Standing{s.at.Seconds(), s.length.Seconds(), s.who})
	}
	return all
}

// blame says who stood still while a look was late. lost is what this program lost of that time itself; waited is how
// long our session's process was ready without a processor, nil where that is not visible.
func blame(late, lost time.Duration, waited *time.Duration) Still {
	const most = 2 // of so many parts one is enough
	switch {
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
	beatEvery = 10 * time.Millisecond
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
				h.beat(time.Now())
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
	if w.host == nil {
		return nil
	}
	now, err := cpu.ReadMainSchedule(int(w.fast.PgConn().PID()))
	if err != nil {
		return nil
	}
	d := now.Waited - w.queued
	w.queued = now.Waited
	return &d
}

package tally

import (
	"context"
	"sync"
	"time"
)

// Notes are what lower layers learn about an operation while it runs. They travel in the operation's context, are safe
// for concurrent use, and a nil one records nothing.
type Notes struct {
	mu      sync.Mutex
	resent  int
	retried int
	waited  time.Duration
	instead string
	first   time.Time // byte of an answer
	bytes   int64

	// Resumes says that whoever plays calls Play again after a think time within the operation.
	Resumes bool
	step    int           // that the operation continues with
	think   time.Duration // before it; 0: it does not pause
}

type notesKey struct{}

// WithNotes gives an operation a place for notes.
func WithNotes(ctx context.Context, n *Notes) context.Context {
	return context.WithValue(ctx, notesKey{}, n)
}

// NotesOf the operation of the context; nil when nobody takes any.
func NotesOf(ctx context.Context) *Notes {
	n, _ := ctx.Value(notesKey{}).(*Notes)
	return n
}

// Resent says that a request was sent again after its connection was lost.
func (n *Notes) Resent() {
	if n != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.resent++
	}
}

// Retried says that a transaction was done again after a serialization failure or a deadlock.
func (n *Notes) Retried() {
	if n != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.retried++
	}
}

// Waited says that the generator made the operation wait for something of its own.
func (n *Notes) Waited(d time.Duration) {
	if n != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.waited += d
	}
}

// Instead says which operation was carried out because there was nothing to act on.
func (n *Notes) Instead(operation string) {
	if n != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.instead = operation
	}
}

// FirstByte says that an answer begins to arrive; that of the first answer counts.
func (n *Notes) FirstByte(at time.Time) {
	if n != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.first.IsZero() {
			n.first = at
		}
	}
}

// Read says how many bytes of an answer's body were read.
func (n *Notes) Read(bytes int) {
	if n != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.bytes += int64(bytes)
	}
}

// Pause says that the user thinks before a step of the operation. If it returns true, Play ends here and is called
// again for that step; otherwise the one who plays waits for itself.
func (n *Notes) Pause(step int, think time.Duration) bool {
	if n == nil || !n.Resumes {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.step, n.think = step, think
	return true
}

// Step that Play begins with; 0: the first.
func (n *Notes) Step() int {
	if n == nil {
		return 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.step
}

// Pausing is how long the user thinks before the operation continues; 0: it has ended.
func (n *Notes) Pausing() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.think
}

// Continue after a pause. What was noted before moves by its length, so that it lies where the operation has it.
func (n *Notes) Continue(paused time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.think = 0
	if !n.first.IsZero() {
		n.first = n.first.Add(paused)
	}
}

// take the notes into the sample; instead is what was done in place of the operation, empty: itself.
func (n *Notes) take(s *Sample, began time.Time) (instead string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s.Resent, s.Retried, s.Waited, s.Bytes = n.resent, n.retried, n.waited, n.bytes
	if !n.first.IsZero() {
		s.FirstByte = n.first.Sub(began)
	}
	return n.instead
}

// Take puts the notes into the sample of an operation that has ended. When another one was carried out in its place,
// the sample becomes that one's; place finds it among the crowd's. What the crowd does not have stays under the name
// that was chosen: nothing that was done may be missing in the counts. The run began at the moment given.
func (n *Notes) Take(s *Sample, began time.Time, place func(operation string) (at int, found bool)) {
	s.Planned = s.Operation
	if s.Instead = n.take(s, began); s.Instead == "" {
		return
	}
	if at, found := place(s.Instead); found {
		s.Operation = at
	}
}

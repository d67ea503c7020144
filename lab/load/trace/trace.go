// Package trace owns the record of what one operation of one user did: requests with their answers, statements with
// their rows, and the variables that were set in between, in order. A run takes none: without a trace in its context
// nothing is recorded, and all methods do nothing.
package trace

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// Trace is filled by the operation whose context carries it. It may send several requests at once.
type Trace struct {
	Events []Event

	mu        sync.Mutex
	variables func() map[string]string
	known     map[string]string
}

// Event is one of these.
type Event struct {
	Request   *Request   `json:"request,omitempty"`
	Statement *Statement `json:"statement,omitempty"`
	Sets      []Variable `json:"sets,omitempty"`
}

// Variable with its value, NULL if it is null.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type key struct{}

// With gives an operation a trace.
func With(ctx context.Context, t *Trace) context.Context { return context.WithValue(ctx, key{}, t) }

// Of the operation of the context; nil when nobody takes one.
func Of(ctx context.Context) *Trace {
	t, _ := ctx.Value(key{}).(*Trace)
	return t
}

// Watch the variables that a function tells: what is new among them from now on was set by the operation. The function
// is called only while the operation waits for what it has asked of the trace.
func (t *Trace) Watch(variables func() map[string]string) {
	if t != nil {
		t.variables, t.known = variables, variables()
	}
}

// Look at the variables, and record those that were set since the last look.
func (t *Trace) Look() {
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.look()
	}
}

func (t *Trace) look() {
	if t.variables == nil {
		return
	}
	now := t.variables()
	var sets []Variable
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if before, had := t.known[name]; !had || before != now[name] {
			sets = append(sets, Variable{name, now[name]})
		}
	}
	if t.known = now; len(sets) > 0 {
		t.Events = append(t.Events, Event{Sets: sets})
	}
}

// add an event, after what was set before it.
func (t *Trace) add(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.look()
	t.Events = append(t.Events, e)
}

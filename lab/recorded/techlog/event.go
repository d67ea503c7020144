// Package techlog reads the technological log of a 1C:Enterprise server: text and JSON, event by event, in bounded
// memory. What it cannot read it counts, with examples; it never stops because of a broken event.
package techlog

import (
	"strings"
	"time"
)

// Event of the log.
type Event struct {
	// At is the end of the event, by the clock of the server that wrote it.
	At       time.Time
	Duration time.Duration
	Name     string // CALL, DBPOSTGRS, TLOCK …
	Fields   []Field
}

// Field of an event, as it stands in the log; the same name may occur twice.
type Field struct{ Name, Value string }

// Start is At less Duration.
func (e *Event) Start() time.Time { return e.At.Add(-e.Duration) }

// Value of the first field with this name that is not empty; "" without one.
func (e *Event) Value(name string) string {
	for _, f := range e.Fields {
		if f.Name == name && f.Value != "" {
			return f.Value
		}
	}
	return ""
}

// Context is where the application was, from outside to inside, one line each.
func (e *Event) Context() []string {
	var lines []string
	for line := range strings.Lines(e.Value("Context")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

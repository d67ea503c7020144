// Package durability owns when an operation is acknowledged: the modes of commit by class of operation, and the watcher
// that tells when the log has been flushed far enough.
//
//	durable-ack:  COMMIT without waiting ─▶ locks and connection are free ─▶ Wait ─────────────▶ answer
//	                                                                         │ log flushed so far
//	                                                                         └ connection of the watcher lost, another
//	                                                                           server or timeline ─▶ ErrUnknown
package durability

import (
	"fmt"
	"strings"
)

// Mode of commit, or of reading.
type Mode string

const (
	// Server leaves it to the configuration of the database.
	Server Mode = "server"
	// Sync waits for the flush with the connection and all locks held.
	Sync Mode = "sync"
	// Group is Sync, and the server waits a moment so that others flush with it.
	Group Mode = "group"
	// Async never waits. A crash loses acknowledged operations.
	Async Mode = "async"
	// DurableAck commits without waiting and answers when the log has been flushed so far.
	DurableAck Mode = "durable-ack"
	// Relaxed is for reading only: an answer may show what a crash undoes.
	Relaxed Mode = "relaxed"
)

// Modes of commit.
var Modes = []Mode{Server, Sync, Group, Async, DurableAck}

// Delay of a group commit in microseconds, and how many other transactions must be open for it.
const (
	GroupDelay    = 1000
	GroupSiblings = 5
)

// Background is the class of work that answers nobody.
const Background = "background"

// Plan has the mode of each class of operation.
type Plan struct {
	text      string
	otherwise Mode
	classes   map[string]Mode
}

// Parse reads a plan: one mode for all, then classes that differ, such as "durable-ack,background=async,list=relaxed".
// A class is an operation (goods_sale.create) or one part of its name (goods_sale, create). Empty text means Server.
func Parse(text string) (Plan, error) {
	p := Plan{text, Server, map[string]Mode{}}
	if text == "" {
		return p, nil
	}
	for i, part := range strings.Split(text, ",") {
		class, mode, named := strings.Cut(part, "=")
		if !named {
			class, mode = "", part
		}
		switch m := Mode(mode); {
		case !m.known(named):
			return Plan{}, fmt.Errorf("no durability %q: use %s; CLASS=relaxed for reading", mode, list())
		case !named && i > 0:
			return Plan{}, fmt.Errorf("durability %q: a second mode without a class; write CLASS=%s", text, part)
		case !named:
			p.otherwise = m
		case class == "" || p.classes[class] != "":
			return Plan{}, fmt.Errorf("durability %q: class %q is empty or given twice", text, class)
		default:
			p.classes[class] = m
		}
	}
	return p, nil
}

// String is what was parsed.
func (p Plan) String() string {
	if p.text == "" {
		return string(Server)
	}
	return p.text
}

func (m Mode) known(class bool) bool {
	for _, each := range Modes {
		if m == each {
			return true
		}
	}
	return class && m == Relaxed
}

func list() string {
	words := make([]string, len(Modes))
	for i, m := range Modes {
		words[i] = string(m)
	}
	return strings.Join(words, ", ")
}

// modeOf returns the mode of an operation: by its name, else by its first part, else by its last. An empty name is
// Background.
func (p Plan) modeOf(operation string) Mode {
	if operation == "" {
		operation = Background
	}
	first, _, _ := strings.Cut(operation, ".")
	for _, class := range []string{operation, first, operation[strings.LastIndexByte(operation, '.')+1:]} {
		if m, ok := p.classes[class]; ok {
			return m
		}
	}
	return p.otherwise
}

// Commit is the mode in which an operation commits.
func (p Plan) Commit(operation string) Mode {
	if m := p.modeOf(operation); m != Relaxed {
		return m
	}
	return p.otherwise
}

// Uses reports whether any class commits in a mode.
func (p Plan) Uses(m Mode) bool {
	if p.otherwise == m {
		return true
	}
	for _, each := range p.classes {
		if each == m {
			return true
		}
	}
	return false
}

// Waits reports whether the answers of an operation wait for the flush of what they may have seen or written. If any
// class commits with DurableAck, all others see its rows before they are flushed.
func (p Plan) Waits(operation string) bool {
	m := p.modeOf(operation)
	return p.Uses(DurableAck) && m != Relaxed && m != Async
}

// Setting is the statement that starts a transaction of a mode; empty: none.
func (m Mode) Setting() string {
	switch m {
	case Sync:
		return "SELECT set_config('synchronous_commit', 'on', true)"
	case Group:
		return fmt.Sprintf("SELECT set_config('synchronous_commit', 'on', true), "+
			"set_config('commit_delay', '%d', true), set_config('commit_siblings', '%d', true)", GroupDelay,
			GroupSiblings)
	case Async, DurableAck:
		return "SELECT set_config('synchronous_commit', 'off', true)"
	}
	return ""
}

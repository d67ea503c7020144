// Package custom runs key operations that a scenario file describes: SQL scripts and HTTP requests, for many users
// against any database or server.
package custom

import (
	"slices"
	"strings"
	"time"

	"plimsoll/lab/load/data"
	"plimsoll/lab/load/request"
	"plimsoll/lab/load/script"
)

// Defaults of Settings.
const (
	ConnectionsDefault = 100
	ModeDefault        = script.Prepared
)

// Settings shared by all custom operations.
type Settings struct {
	// Session says whose the sessions of the database are. Defaults to Shared.
	Session Session `json:"session,omitempty"`
	// Connections to the database that all users share; waiting for a free one is part of the latency.
	Connections int         `json:"connections,omitempty"`
	Mode        script.Mode `json:"mode,omitempty"`
	// Connect is a script that each new session runs before anything else.
	Connect string `json:"connect,omitempty"`
	// Retries is how often a script is done again after a serialization failure or a deadlock.
	Retries int `json:"retries,omitempty"`
	// Reset is a script that restores the database before a load.
	Reset string `json:"reset,omitempty"`
	// Base is the address that relative paths of requests are appended to.
	Base string           `json:"base,omitempty"`
	HTTP request.Settings `json:"http,omitzero"`
	// Variables that every user starts with, as text.
	Variables map[string]string `json:"variables,omitempty"`
	// Data are the rows that operations take variables from.
	Data []*data.Source `json:"data,omitempty"`
	// Login runs once for each user before the load; nil: no login.
	Login *Action `json:"login,omitempty"`
}

// Action is what a custom operation does: first the script, then the request. A script without SQL only sets variables
// for the request. An action with steps does these instead.
type Action struct {
	Script  *script.Script   `json:"-"`
	SQL     string           `json:"sql,omitempty"` // the script's text
	Request *request.Request `json:"request,omitempty"`
	// RefusedStates are the SQLSTATEs of a refusal by a control, which is a valid answer.
	RefusedStates []string `json:"refused_states,omitempty"`
	// Count is a query for one number that each successful operation raises by one.
	Count string `json:"count,omitempty"`
	// Steps that follow each other; none: the action is one step itself.
	Steps []*Action `json:"steps,omitempty"`
	// Think is how long a user thinks before this step. It is no part of the operation's latency.
	Think time.Duration `json:"think_ns,omitempty"`
}

// Parts are the steps, or the action itself; of nil there are none.
func (a *Action) Parts() []*Action {
	switch {
	case a == nil:
		return nil
	case len(a.Steps) > 0:
		return a.Steps
	}
	return []*Action{a}
}

// SharedSessions is how many sessions all users share; 0: each has one of its own.
func (s Settings) SharedSessions() int {
	if s.Session == OfUser {
		return 0
	}
	return s.Connections
}

// HasSQL says whether the action needs a database.
func (a *Action) HasSQL() bool {
	return slices.ContainsFunc(a.Parts(), func(p *Action) bool { return p.Script != nil && p.Script.HasSQL() })
}

// NeedsDatabase says whether any action, or the login, has SQL.
func NeedsDatabase(s Settings, actions []*Action) bool {
	return s.Login.HasSQL() || slices.ContainsFunc(actions, (*Action).HasSQL)
}

// NeedsHTTP says whether any action, or the login, has a request.
func NeedsHTTP(s Settings, actions []*Action) bool { return len(urls(s, actions)) > 0 }

// NeedsBase says whether any action, or the login, has a path without an address.
func NeedsBase(s Settings, actions []*Action) bool {
	return slices.ContainsFunc(urls(s, actions), func(url string) bool { return strings.HasPrefix(url, "/") })
}

// Addresses that requests go to: the base, and those that stand in an action or the login itself.
func Addresses(s Settings, actions []*Action) (all []string) {
	if s.Base != "" {
		all = append(all, s.Base)
	}
	for _, url := range urls(s, actions) {
		// what begins with a variable is known only when the load runs
		if !strings.HasPrefix(url, "/") && !strings.HasPrefix(url, "{{") && !slices.Contains(all, url) {
			all = append(all, url)
		}
	}
	return all
}

// urls of all requests, as they are written.
func urls(s Settings, actions []*Action) (all []string) {
	for _, a := range append([]*Action{s.Login}, actions...) {
		for _, p := range a.Parts() {
			if p.Request != nil && p.Request.URL != "" {
				all = append(append(all, p.Request.URL), p.Request.Resources...)
			}
		}
	}
	return all
}

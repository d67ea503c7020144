// Package own owns key operations that a person described in a scenario file: SQL
// scripts and HTTP requests, done for many users against any database or server.
package own

import (
	"slices"

	"plimsoll/lab/request"
	"plimsoll/lab/script"
)

// Defaults of Settings.
const (
	ConnectionsDefault = 100
	ModeDefault        = script.Prepared
)

// Settings of all own operations.
type Settings struct {
	// Connections to the database that the users share; who finds none free waits, and
	// the wait is in the latency. The session's state is not a user's own.
	Connections int         `json:"connections,omitempty"`
	Mode        script.Mode `json:"mode,omitempty"`
	// Reset is a script that makes the database as it was before a load.
	Reset string `json:"reset,omitempty"`
	// Base is the address that paths of requests are under.
	Base string `json:"base,omitempty"`
	// Variables that every user has from the start, as text.
	Variables map[string]string `json:"variables,omitempty"`
	// Login is done once by each user before the load; nil: nothing.
	Login *Action `json:"login,omitempty"`
}

// Action is what an own operation does: first the script, then the request. A script
// without SQL sets variables for the request.
type Action struct {
	Script  *script.Script   `json:"-"`
	SQL     string           `json:"sql,omitempty"` // the script's text
	Request *request.Request `json:"request,omitempty"`
	// RefusedStates are SQLSTATEs of a control that said no, a valid answer.
	RefusedStates []string `json:"refused_states,omitempty"`
}

// HasSQL says whether it needs a database.
func (a *Action) HasSQL() bool { return a != nil && a.Script != nil && a.Script.HasSQL() }

// NeedsDatabase says whether any of the actions, or the login, has SQL.
func NeedsDatabase(s Settings, actions []*Action) bool {
	return s.Login.HasSQL() || slices.ContainsFunc(actions, (*Action).HasSQL)
}

// NeedsBase says whether any of the actions, or the login, has a path without an address.
func NeedsBase(s Settings, actions []*Action) bool {
	path := func(a *Action) bool {
		return a != nil && a.Request != nil && len(a.Request.URL) > 0 && a.Request.URL[0] == '/'
	}
	return path(s.Login) || slices.ContainsFunc(actions, path)
}

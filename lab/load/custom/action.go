// Package custom runs key operations that a scenario file describes: SQL scripts and HTTP requests, for many users
// against any database or server.
package custom

import (
	"slices"

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
	// Connections to the database, shared by all users. Waiting for a free one is part of the latency. Session state
	// does not belong to a user.
	Connections int         `json:"connections,omitempty"`
	Mode        script.Mode `json:"mode,omitempty"`
	// Reset is a script that restores the database before a load.
	Reset string `json:"reset,omitempty"`
	// Base is the address that relative paths of requests are appended to.
	Base string `json:"base,omitempty"`
	// Variables that every user starts with, as text.
	Variables map[string]string `json:"variables,omitempty"`
	// Login runs once for each user before the load; nil: no login.
	Login *Action `json:"login,omitempty"`
}

// Action is what a custom operation does: first the script, then the request. A script without SQL only sets variables
// for the request.
type Action struct {
	Script  *script.Script   `json:"-"`
	SQL     string           `json:"sql,omitempty"` // the script's text
	Request *request.Request `json:"request,omitempty"`
	// RefusedStates are the SQLSTATEs of a refusal by a control, which is a valid answer.
	RefusedStates []string `json:"refused_states,omitempty"`
	// Count is a query for one number that each successful operation raises by one.
	Count string `json:"count,omitempty"`
}

// HasSQL says whether the action needs a database.
func (a *Action) HasSQL() bool { return a != nil && a.Script != nil && a.Script.HasSQL() }

// NeedsDatabase says whether any action, or the login, has SQL.
func NeedsDatabase(s Settings, actions []*Action) bool {
	return s.Login.HasSQL() || slices.ContainsFunc(actions, (*Action).HasSQL)
}

// NeedsBase says whether any action, or the login, has a path without an address.
func NeedsBase(s Settings, actions []*Action) bool {
	path := func(a *Action) bool {
		return a != nil && a.Request != nil && len(a.Request.URL) > 0 && a.Request.URL[0] == '/'
	}
	return path(s.Login) || slices.ContainsFunc(actions, path)
}

// Addresses that requests go to: the base, and those that stand in an action or the login itself.
func Addresses(s Settings, actions []*Action) (all []string) {
	if s.Base != "" {
		all = append(all, s.Base)
	}
	for _, a := range append([]*Action{s.Login}, actions...) {
		if a != nil && a.Request != nil && len(a.Request.URL) > 0 && a.Request.URL[0] != '/' {
			all = append(all, a.Request.URL)
		}
	}
	return all
}

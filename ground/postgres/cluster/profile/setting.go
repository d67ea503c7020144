// Package profile owns the settings of a local cluster: each is derived from the machine and carries its reason.
package profile

import (
	"fmt"
	"regexp"
	"strings"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/problem"
)

// Name chooses a profile.
type Name string

const (
	Tuned Name = "tuned" // derived from the machine, for the load of a business application
	Stock Name = "stock" // PostgreSQL's own defaults; only the log settings are ours
	// Report has the settings of the field report as it gives them; they lose commits in a crash.
	Report Name = "report"
	OneC   Name = "1c" // for a 1C server, derived from the machine
)

// Names of all, the default first.
var Names = []Name{Tuned, Stock, Report, OneC}

// Setting is one line of the configuration, with its reason.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Reason string `json:"reason,omitempty"`
}

// Input is what a profile is derived from.
type Input struct {
	Machine machine.Facts
	Memory  int64                  // bytes that this cluster plans with; 0 is all of the machine's
	Version int                    // major version of the server
	Knows   func(name string) bool // whether the server has this setting; nil is yes
	// Accepts tells whether the server was built for a value of a setting; nil is yes.
	Accepts func(name, value string) bool
	// Library tells whether the server has a library to preload; nil is yes.
	Library func(name string) bool
}

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

// Check rejects a value that would be more than one setting in a configuration file.
func (s Setting) Check() error {
	if !settingName.MatchString(s.Name) {
		return problem.New(problem.Usage, fmt.Errorf("invalid setting name %q", s.Name),
			"such as work_mem or online_analyze.enable")
	}
	if strings.ContainsAny(s.Value, "\n\r\x00") {
		return problem.New(problem.Usage, fmt.Errorf("setting %s has more than one line", s.Name),
			"give its value on one line")
	}
	return nil
}

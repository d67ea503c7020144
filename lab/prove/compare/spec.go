package compare

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/ground/problem"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/system"
	"plimsoll/platform/worker/shape"
)

// SideSpec is a side as a person describes it.
type SideSpec struct {
	System                                          string // CLUSTER or CLUSTER+SHAPE
	Name, DSN, URL, Scenario, SQL, Restore, Command string
	Reset                                           system.Reset
	Settings, Tweaks                                map[string]string
	Tweaked                                         shape.Tweaks // with Tweaks, if there are any
	Sampling                                        int          // a second; 0: no diagnosis
}

// given says whether anything is particular to the side.
func (f SideSpec) given() bool {
	return f.namesSystem() || len(f.Settings) > 0 || len(f.Tweaks) > 0 || f.Sampling != diagnose.RateDefault ||
		f.SQL != "" || f.Reset != "" || f.Restore != "" || f.Name != ""
}

// namesSystem says whether the side names a system by itself.
func (f SideSpec) namesSystem() bool {
	return f.DSN != "" || f.Command != "" || f.URL != "" || f.Scenario != ""
}

// check what does not go together.
func (f SideSpec) check(common string) error {
	wrong := func(text string) error { return problem.New(problem.Usage, errors.New(text), "") }
	switch {
	case f.URL != "" && f.Scenario == "" && common == "":
		return wrong("a URL needs a scenario of requests: name one with --scenario")
	case f.System == "" && !f.namesSystem():
		return wrong("needs a system, a connection string, a command, or a scenario of requests")
	case f.DSN != "" && f.Command != "":
		return wrong("give a system, a connection string or a command, only one of them")
	case f.Command != "" && (f.Sampling != diagnose.RateDefault || len(f.Settings) > 0 || len(f.Tweaks) > 0 ||
		f.SQL != "" || f.Scenario != "" || f.URL != "" || f.Reset != ""):
		return wrong("a command takes no settings, tweaks, SQL, scenario, URL, sampling or reset")
	}
	return nil
}

// title of a side, if it has no name.
func (f SideSpec) title() string {
	name := f.System
	switch {
	case f.Name != "":
		return f.Name
	case f.Command != "":
		return f.Command
	case f.DSN != "":
		name = system.Target{DSN: f.DSN}.String()
	}
	for _, part := range []string{f.Scenario, f.URL} {
		if part != "" {
			name = strings.TrimPrefix(name+", "+part, ", ")
		}
	}
	for _, values := range []map[string]string{f.Settings, f.Tweaks} {
		for _, one := range slices.Sorted(maps.Keys(values)) {
			name += " " + one + "=" + values[one]
		}
	}
	if f.Sampling != diagnose.RateDefault {
		name += fmt.Sprintf(", %d samples per second", f.Sampling)
	}
	if f.SQL != "" {
		name += ", with SQL before each run"
	}
	if f.Restore != "" {
		name += ", restored before each run"
	}
	return name
}

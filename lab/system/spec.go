package system

import (
	"cmp"

	"plimsoll/ground/host/kept"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run"
	"plimsoll/lab/run/agents"
)

// Spec is a system and the load on it as a person describes them: plain values, of which nothing is checked, read or
// started yet.
type Spec struct {
	Target
	Shape    Shape
	Run      run.Options      // without what the files hold
	Scenario string           // file of the load; empty: that of Of
	Of       string           // whose operations users do: "erp" or empty, "1c", or "1c+" and an outfit
	Pgbench  scenario.Pgbench // instead of a file; none: no scripts
	Users    int              // of a load that has neither any nor a file
	Think    users.Think      // likewise
	Access   run.AccessFiles
	Agents   agents.Spec
	Page     kept.Page  // for the report
	Label    kept.Label // of what is stored
	Flags    []string   // on the command line
}

// Check finds mistakes in what serves a whole measurement, however many systems it has.
func (s Spec) Check() error {
	if err := s.Agents.Check(); err != nil {
		return err
	}
	return cmp.Or(s.Page.Check(), kept.CheckTags(s.Label.Tags))
}

// System checks and reads what belongs to the system.
func (s Spec) System() (y System, err error) {
	y = System{Target: s.Target, Shape: s.Shape, Run: s.Run}
	if _, err := s.Shape.Worker(); err != nil {
		return y, err
	}
	if outfit, is := OutfitOf(s.Of); is && s.Scenario == "" {
		y.Outfit, y.Run.Scenario = outfit, scenario.Of1C()
	}
	if s.Pgbench.Given() && s.Scenario == "" {
		if y.Run.Scenario, err = s.Pgbench.Scenario(); err != nil {
			return y, err
		}
	} else if s.Scenario == "" {
		y.Run.Users = cmp.Or(s.Run.Users, s.Users)
		y.Run.Think = cmp.Or(s.Run.Think, &s.Think)
	}
	if y.Run.Load, err = y.Run.Load.With(s.Scenario); err != nil {
		return y, err
	}
	if !y.Run.Scenario.NeedsDatabase() {
		y.Cluster = "" // nobody asks for it
	}
	for _, one := range s.idle(y.Run.Scenario) {
		if err := one.Refuse(s.Flags); err != nil {
			return y, err
		}
	}
	if y.Run.Access, err = s.Access.Read(); err != nil {
		return y, err
	}
	return y, y.Run.Access.Check(y.Run.URLs)
}

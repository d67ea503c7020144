package scenario

import (
	"fmt"

	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/script"
)

// Prepare makes a scenario that was received as JSON playable: scripts travel as text.
func (s *Scenario) Prepare() error {
	actions := []*custom.Action{s.Own.Login}
	for i := range s.Operations {
		actions = append(actions, s.Operations[i].Action)
	}
	for _, a := range actions {
		for _, p := range a.Parts() {
			if p.SQL == "" {
				continue
			}
			var err error
			if p.Script, err = script.Parse(p.SQL); err != nil {
				return fmt.Errorf("read the scenario's script: %w", err)
			}
		}
	}
	return nil
}

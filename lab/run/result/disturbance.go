package result

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/host/neighbours"
)

// Disturbance is the other work of the machine and the database during the steady state. Null means unknown.
type Disturbance struct {
	// Others is the processor time of processes outside the system and the lab, as a share of all cores.
	Others *float64    `json:"others"`
	Who    []Neighbour `json:"who,omitempty"` // most first
	// Unattributed: not all processes of the system are known, so the others may include some of its own.
	Unattributed bool `json:"unattributed,omitempty"`
	// OthersBefore is Others before the load, when the system had nothing to do, so that it was not the system's; read
	// only where the others may include some of its own.
	OthersBefore *float64    `json:"others_before,omitempty"`
	WhoBefore    []Neighbour `json:"who_before,omitempty"`
	Steal        *float64    `json:"steal"`        // share of all cores that the hypervisor gave to others
	Throttled    *float64    `json:"throttled"`    // share of the time in which a quota withheld the processor
	MemoryStall  *float64    `json:"memory_stall"` // share of the time in which some process waited for memory
	// Clients is the share of requests to the workers that were of other clients; nil: not known.
	Clients *float64 `json:"clients,omitempty"`
	// Loads are other loads of Plimsoll on the same database.
	Loads []string `json:"loads,omitempty"`
	// LoadsUnknown says why nobody could look for other loads and sessions.
	LoadsUnknown string `json:"loads_unknown,omitempty"`
	// Active sessions of other applications on the same database, on average.
	Sessions []NeighbourSessions `json:"sessions,omitempty"`
	// Limit is the share beyond which the run is not valid; 0: no check.
	Limit float64 `json:"limit"`
}

// Neighbour is all processes of one name.
type Neighbour = neighbours.Neighbour

// NeighbourSessions are those of one application.
type NeighbourSessions struct {
	Application string  `json:"application"`
	AtWork      float64 `json:"at_work"`
}

// OnlyDisturbed says that a run is not valid and that others are to blame for it alone.
func (r *Result) OnlyDisturbed() bool {
	return len(r.InvalidCauses) > 0 && !slices.ContainsFunc(r.InvalidCauses, func(c Cause) bool {
		return c != ByDisturbance
	})
}

// Way is one in which others disturbed a measurement.
type Way struct {
	Share float64
	Text  string
}

// Ways that can make a measurement not valid; empty if no limit is set.
func (d *Disturbance) Ways() (all []Way) {
	if d == nil || d.Limit <= 0 || d.Limit >= 1 {
		return nil
	}
	add := func(share *float64, format string, more string) {
		if share != nil {
			all = append(all, Way{*share, fmt.Sprintf(format, 100**share) + more})
		}
	}
	if !d.Unattributed {
		add(d.Others, "other processes used %.0f %% of the processors", d.WhoText())
	}
	add(d.OthersBefore, "other processes used %.0f %% of the processors already before the load", whoText(d.WhoBefore))
	add(d.Steal, "the hypervisor gave %.0f %% of the processors to others", "")
	add(d.Throttled, "a quota of the control group withheld the processor for %.0f %% of the time", "")
	add(d.MemoryStall, "processes waited for memory for %.0f %% of the time", "")
	add(d.Clients, "%.0f %% of the requests to the workers were of other clients", "")
	return all
}

// Beyond says in which ways others took more than the limit.
func (d *Disturbance) Beyond() (texts []string) {
	for _, way := range d.Ways() {
		if way.Share > d.Limit {
			texts = append(texts, fmt.Sprintf("%s, limit %.0f %%", way.Text, 100*d.Limit))
		}
	}
	return texts
}

// WhoText names the others: " (stress (4 processes) 80 %)"; empty if nobody used much.
func (d *Disturbance) WhoText() string { return whoText(d.Who) }

func whoText(who []Neighbour) string {
	const leastShown = 0.01
	var parts []string
	for _, n := range who {
		if n.Share < leastShown {
			continue
		}
		text := fmt.Sprintf("%s %.0f %%", n.Name, 100*n.Share)
		if n.Processes > 1 {
			text = fmt.Sprintf("%s (%d processes) %.0f %%", n.Name, n.Processes, 100*n.Share)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

package report

import (
	"fmt"
	"strings"

	"plimsoll/lab/run/result"
)

// disturbance is what else ran; empty if it was not measured.
func disturbance(d *result.Disturbance) string {
	if d == nil {
		return ""
	}
	others := "other processes " + percent(d.Others)
	var neighbours []string
	for _, n := range d.Who {
		if n.Share >= 0.01 {
			neighbours = append(neighbours, fmt.Sprintf("%s %.0f %%", n.Name, 100*n.Share))
		}
	}
	if len(neighbours) > 0 {
		others += " (" + strings.Join(neighbours, ", ") + ")"
	}
	if d.Unattributed {
		others += ", some of which may belong to the system"
	}
	parts := []string{others + " and hypervisor " + percent(d.Steal) + " of all cores",
		"withheld by a quota " + percent(d.Throttled) + " and waiting for memory " + percent(d.MemoryStall) +
			" of the time"}
	if d.Clients != nil {
		parts = append(parts, "requests of other clients "+percent(d.Clients))
	}
	for _, s := range d.Sessions {
		parts = append(parts, fmt.Sprintf("%.1f sessions of %s on the same database", s.AtWork, s.Application))
	}
	if d.Limit > 0 && d.Limit < 1 {
		parts = append(parts, fmt.Sprintf("not valid beyond %.0f %%", 100*d.Limit))
	}
	return strings.Join(parts, "; ")
}

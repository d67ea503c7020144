package report

import (
	"fmt"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/run/result"
)

// footprintFact is the name of the line about fixed memory and memory of users.
const footprintFact = "memory and users"

// footprints are what each kind of process holds without users, with them, and under load. Nothing but an estimate of
// the generator is divided by users.
func footprints(all []result.Footprint) string {
	var each []string
	for _, f := range all {
		text := fmt.Sprintf("%s %s before log-in, %s with %s sessions", f.Of, human.Bytes(f.BeforeLogIn),
			human.Bytes(f.AfterLogIn), human.Thousands(f.Users))
		switch {
		case f.UnderLoad == nil:
		case f.Measure == result.LiveMemory:
			text += fmt.Sprintf(", %s after the load with counters", human.Bytes(*f.UnderLoad))
		default:
			text += fmt.Sprintf(", at most %s under load", human.Bytes(*f.UnderLoad))
		}
		if f.Connections != nil {
			text += fmt.Sprintf(" and %s of connections", human.Bytes(*f.Connections))
		}
		if f.PerUser != nil {
			text += fmt.Sprintf(", about %s per user by estimate", human.Bytes(*f.PerUser))
		}
		if f.Measure == result.LiveMemory {
			text += " (heap and stacks in use)"
		} else {
			text += " (private memory of its processes)"
		}
		each = append(each, text)
	}
	return strings.Join(each, "; ")
}

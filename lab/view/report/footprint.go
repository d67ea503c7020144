package report

import (
	"fmt"
	"strings"

	"plimsoll/lab/run/result"
)

// footprintFact is the name of the line about fixed memory and memory of users.
const footprintFact = "memory and users"

// footprints are what each kind of process holds without users, with them, and under load. Nothing but an estimate of
// the generator is divided by users.
func footprints(all []result.Footprint) string {
	var each []string
	for _, f := range all {
		text := fmt.Sprintf("%s %s before log-in, %s with %s sessions", f.Of, size(f.BeforeLogIn), size(f.AfterLogIn),
			count(int64(f.Users)))
		switch {
		case f.UnderLoad == nil:
		case f.Measure == result.LiveMemory:
			text += fmt.Sprintf(", %s after the load with counters", size(*f.UnderLoad))
		default:
			text += fmt.Sprintf(", at most %s under load", size(*f.UnderLoad))
		}
		if f.Connections != nil {
			text += fmt.Sprintf(" and %s of connections", size(*f.Connections))
		}
		if f.PerUser != nil {
			text += fmt.Sprintf(", about %s per user by estimate", size(*f.PerUser))
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

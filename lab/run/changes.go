package run

import (
	"fmt"
	"strings"

	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
)

// changesNamed is how many changes the reason names; the result has all.
const changesNamed = 4

// changes of the load, as the result lists them.
func changes(all []users.Change) (listed []result.Change) {
	for _, c := range all {
		listed = append(listed, result.Change{AtS: c.At.Seconds(), Users: c.Users, Paused: c.Paused})
	}
	return listed
}

// changeText describes one change; before is the load until then.
func changeText(before users.Load, c users.Change) string {
	switch {
	case c.Paused && !before.Paused:
		return "paused by the user"
	case !c.Paused && before.Paused:
		return "resumed by the user"
	}
	return fmt.Sprintf("%d users instead of %d, by the user", c.Users, before.Users)
}

// changesText summarizes all changes, the first few one by one.
func changesText(planned int, all []users.Change) string {
	var text []string
	before := users.Load{Users: planned}
	for _, c := range all[:min(len(all), changesNamed)] {
		text = append(text, fmt.Sprintf("at %.0f s: %s", c.At.Seconds(), changeText(before, c)))
		before = c.Load
	}
	if more := len(all) - changesNamed; more > 0 {
		text = append(text, fmt.Sprintf("and %d times more", more))
	}
	return strings.Join(text, ", ")
}

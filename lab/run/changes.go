package run

import (
	"fmt"
	"strings"

	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
)

// changesTold one by one in the reason why a run is not valid; the result has all.
const changesTold = 4

// changes of the load as the result tells them.
func changes(all []users.Change) (told []result.Change) {
	for _, c := range all {
		told = append(told, result.Change{AtS: c.At.Seconds(), Users: c.Users, Paused: c.Paused})
	}
	return told
}

// changeText says what one change did, before being the load it found.
func changeText(before users.Load, c users.Change) string {
	switch {
	case c.Paused && !before.Paused:
		return "paused by hand"
	case !c.Paused && before.Paused:
		return "resumed by hand"
	}
	return fmt.Sprintf("%d users instead of %d, by hand", c.Users, before.Users)
}

// changesText is all of them in short, the first few one by one.
func changesText(planned int, all []users.Change) string {
	var text []string
	before := users.Load{Users: planned}
	for _, c := range all[:min(len(all), changesTold)] {
		text = append(text, fmt.Sprintf("at %.0f s: %s", c.At.Seconds(), changeText(before, c)))
		before = c.Load
	}
	if more := len(all) - changesTold; more > 0 {
		text = append(text, fmt.Sprintf("and %d times more", more))
	}
	return strings.Join(text, ", ")
}

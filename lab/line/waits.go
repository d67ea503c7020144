package line

import "plimsoll/ground/postgres/waits"

// Waits are samples of what the database's active sessions waited for in a trial.
type Waits = waits.Profile

// Wait is one event of them.
type Wait = waits.Wait

// eventsKept per trial.
const eventsKept = 8

// mostFrequent are the most frequent events.
func mostFrequent(w Waits) Waits {
	w.Events = w.Events[:min(eventsKept, len(w.Events))]
	return w
}

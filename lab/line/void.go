package line

// repeatMost is how often a void trial is repeated.
const repeatMost = 2

// Unmeasured is the smallest number of users that could not be measured in any trial; nothing is known from there on,
// though larger numbers may have failed.
type Unmeasured struct {
	Users int    `json:"users"`
	Times int    `json:"times"`
	Why   string `json:"why"` // the reason, the last time
}

// repeated gives the purpose, users and length of the trial that is made again in place of the last one: a void one, of
// twice the length if it only lacked operations; one that is not steady or undecided, of twice the length.
func repeated(trials []Trial) (purpose Purpose, n, longer int) {
	if len(trials) == 0 {
		return "", 0, 0
	}
	last := trials[len(trials)-1]
	switch {
	case !last.madeAgain():
		return "", 0, 0
	case last.Outcome == Unsteady:
		return Longer, last.Users, last.Longer + 1
	case last.Outcome == Undecided, last.Short && last.Longer < lengthenMost:
		return last.Purpose, last.Users, last.Longer + 1
	}
	return last.Purpose, last.Users, last.Longer
}

// voidRepeats counts the void trials at the end, which the next trial repeats.
func voidRepeats(trials []Trial) int {
	if len(trials) == 0 || trials[len(trials)-1].Outcome != Void || !trials[len(trials)-1].madeAgain() {
		return 0
	}
	return trials[len(trials)-1].Again + 1
}

// unmeasured is the last trial of the smallest number that could not be measured; nil: there is none.
func unmeasured(trials []Trial) (least *Unmeasured) {
	for _, t := range trials {
		if t.Outcome == Void && t.Again >= repeatMost && (least == nil || t.Users < least.Users) {
			least = &Unmeasured{t.Users, t.Again + 1, t.Why}
		}
	}
	return least
}

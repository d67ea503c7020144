package line

import "cmp"

// Level is a number of users as the trials made with it show it. The trial that found it was chosen because of its
// outcome. So the trials that repeat it decide, by their majority, once there are enough of them; until then it stands
// as it was found. No single trial decides for good, whether it passed or failed.
type level struct {
	users   int
	found   Outcome // of the first trial that counts
	all     Repeats // all trials that count
	repeats Repeats // those of them that repeat the first
	void    int     // repetitions that could not be measured
	longer  int     // how often its trials had to be doubled
}

// levelOf the trials made with a number of users.
func levelOf(trials []Trial, users int) level {
	l := level{users: users}
	for _, t := range trials {
		if t.Users != users {
			continue
		}
		l.longer = max(l.longer, t.Longer)
		if !t.madeAgain() {
			l.add(t)
		}
	}
	return l
}

// madeAgain says whether the search makes the trial again, so that another counts in its place.
func (t Trial) madeAgain() bool {
	switch t.Outcome {
	case Void:
		return t.Again < repeatMost
	case Unsteady, Undecided:
		return t.Longer < lengthenMost
	}
	return false
}

func (l *level) add(t Trial) {
	repeats := t.Purpose == Confirm || t.Purpose == Beyond
	switch {
	case t.Outcome != Void:
		l.all.add(t.Outcome)
		l.found = cmp.Or(l.found, t.Outcome)
		if repeats {
			l.repeats.add(t.Outcome)
		}
	case repeats:
		l.void++
	}
}

// passed says whether the level passes: its repetitions decide once the rest of those wanted can change nothing.
func (l level) passed(wanted int) bool {
	switch {
	case 2*l.repeats.Passed > wanted:
		return true
	case 2*l.repeats.notPassed() > wanted:
		return false
	}
	return l.found == Passes
}

// left is how many repetitions are still to be made.
func (l level) left(wanted int) int {
	return max(0, wanted-l.repeats.trials()-l.void)
}

// clearlyFails says whether more trials failed with evidence than did not: what a single failure does not show.
func (l level) clearlyFails() bool { return l.all.Failed > 1 && 2*l.all.Failed > l.all.trials() }

// levels are the numbers of users tried that are known to pass or not, ascending.
func levelsOf(trials []Trial) (all []level) {
	for _, users := range numbers(trials) {
		if l := levelOf(trials, users); l.found != "" {
			all = append(all, l)
		}
	}
	return all
}

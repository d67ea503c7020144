package line

import (
	"fmt"
	"math"
	"strings"
	"time"

	"plimsoll/ground/human"
)

// Statement is the answer in a sentence: the interval of the line, where it is known.
func (l *Line) Statement() string {
	if l.Answer == nil {
		return l.unknown()
	}
	what := "95 % interval"
	if !l.Complete {
		what += " so far"
	}
	text := fmt.Sprintf("%s (%s, %.1f operations/s at %s, think time %s)", l.Answer.users(), what, l.Answer.OpsPerS,
		human.Thousands(l.Answer.Users), l.Plan.think())
	switch {
	case l.Answer.Below != nil:
		return text
	case l.Unmeasured != nil:
		return text + fmt.Sprintf("; %s could not be measured", human.Thousands(l.Unmeasured.Users))
	}
	return text + fmt.Sprintf("; more than %s were not tried", human.Thousands(l.Answer.Users))
}

// ServesNobody says whether no number of users passed, and trials of the smallest failed more than once.
func (l *Line) ServesNobody() bool {
	return l.Answer == nil && levelOf(l.Trials, l.Plan.leastFailed(l.Trials)).clearlyFails()
}

// unknown says what is known if no number of users has passed.
func (l *Line) unknown() string {
	if len(l.Trials) == 0 {
		return "nothing was tried"
	}
	least := l.Plan.leastFailed(l.Trials)
	switch at := levelOf(l.Trials, least); {
	case least == 0:
		return fmt.Sprintf("not known: trials with %s were inconclusive", human.Count(numbers(l.Trials)[0], "user"))
	case l.ServesNobody():
		return fmt.Sprintf("not even %s can be served at Apdex %g", human.Count(least, "user"), l.Plan.Target)
	default:
		return fmt.Sprintf("not known: %s did not pass in %d of %d trials, which is too little evidence",
			human.Count(least, "user"), at.all.notPassed(), at.all.trials())
	}
}

// users of the interval; of the bracket, where an older search has none.
func (a *Answer) users() string {
	if a.Interval == nil {
		return a.bracket() + " users"
	}
	return a.Interval.String() + " users"
}

// String has the ends as whole users, rounded outwards.
func (i UsersInterval) String() string {
	low, high := "", ""
	if i.Low != nil {
		low = human.Thousands(int64(math.Floor(*i.Low)))
	}
	if i.High != nil {
		high = human.Thousands(int64(math.Ceil(*i.High)))
	}
	switch {
	case low != "" && high != "":
		return low + " to " + high
	case low != "":
		return "at least " + low
	case high != "":
		return "at most " + high
	}
	return "not known"
}

// brief is the answer in its shortest form, for a table.
func (l *Line) brief() string {
	a := l.Answer
	switch {
	case a != nil:
		text := strings.TrimSuffix(a.users(), " users")
		if !l.Complete {
			text += ", so far"
		}
		return text
	case len(l.Trials) == 0:
		return "not tried"
	}
	if l.ServesNobody() {
		return "below " + human.Thousands(l.Plan.leastFailed(l.Trials))
	}
	return "not known"
}

// bracket that the search ended with, in its shortest form.
func (a *Answer) bracket() string {
	switch {
	case a == nil:
		return "-"
	case a.Below == nil:
		return human.Thousands(a.Users) + " or more"
	}
	return human.Thousands(a.Users) + " to " + human.Thousands(*a.Below)
}

// details say what the answer rests on; empty without one.
func (l *Line) details() (lines []string) {
	a := l.Answer
	if a == nil {
		return nil
	}
	if i := a.Interval; i != nil {
		lines = append(lines, fmt.Sprintf("computed from how %d trials ended: the number of users that half of all "+
			"trials would pass", i.Trials))
	}
	text := fmt.Sprintf("bracket of the search: %s passed in %s", human.Count(a.Users, "user"), a.AtUsers)
	if a.Below != nil {
		text += fmt.Sprintf(", %s in %s", human.Thousands(*a.Below), a.AtBelow)
	}
	return append(lines, text)
}

// String says how many of the repeated trials passed.
func (r *Repeats) String() string {
	if r == nil {
		return "no repeated trial"
	}
	text := fmt.Sprintf("%d of %d repeated trials", r.Passed, r.trials())
	if r.Undecided > 0 {
		text += fmt.Sprintf(" (%d undecided)", r.Undecided)
	}
	return text
}

// endsText formats an interval, one end of which may be unknown.
func endsText(low, high *float64, format string) string {
	switch {
	case low != nil && high != nil:
		return fmt.Sprintf(format+" to "+format, *low, *high)
	case low != nil:
		return fmt.Sprintf(format+" or more", *low)
	case high != nil:
		return fmt.Sprintf("up to "+format, *high)
	}
	return "not known"
}

// think time of the users; of a replay it is recorded.
func (p Plan) think() string {
	if p.Replay != nil {
		return "as recorded"
	}
	return thinkText(p.ThinkS)
}

func thinkText(s float64) string {
	return human.Duration(time.Duration(s * float64(time.Second)).Round(time.Millisecond))
}

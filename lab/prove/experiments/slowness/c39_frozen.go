package slowness

import (
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/confusion"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Sides and figures of C39.
const (
	frozen, running = "frozen", "not frozen"
	freezes         = "freezes named"
	// freezesLeast of those planted, one a second, must be named in a turn of the shortest kind.
	freezesLeast = 3
)

// frozenServer is the experiment behind C39.
func frozenServer(b site.Bench, _ *site.Site) trial.Trial {
	s := &stage{}
	part := s.part(b, trial.Series{Name: freezes, Unit: "a turn"})
	named := func(_ confusion.Trial, d *diagnose.Diagnosis) trial.Figures {
		n := 0.0
		for _, one := range d.Standstills {
			n += flag(one.Who == diagnose.StillServer)
		}
		return trial.Figures{freezes: n}
	}
	part.Sides = []trial.Side{s.plant(running, confusion.Healthy, named),
		s.plant(frozen, "global-stall", named)}
	everyFreeze := func(side string) trial.Every { return trial.Every{Of: trial.At(side, freezes)} }
	part.Measured = []trial.Phrase{trial.Say("freezes that the diagnosis blamed on the server in a turn: %s where it "+
		"was frozen, %s where it was not", everyFreeze(frozen), everyFreeze(running))}
	return trial.Trial{
		Text:  "all processes of a server stop for 400 ms each second, or do not: does the diagnosis blame the server?",
		Parts: []trial.Part{part}, Overhead: 2 * between,
		Rules: trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, least)}, Direction: []trial.Criterion{
			{Of: everyFreeze(frozen), Confirm: trial.AtLeast(freezesLeast), Refute: trial.Below(1)},
			{Of: everyFreeze(running), Confirm: trial.AtMost(0), Refute: trial.AtLeast(1), Anywhere: true},
		}, Situation: []trial.Condition{
			trial.Absent("freezes", "15 s, at random", "0.4 s, one a second"),
			trial.Absent("threads that restore costs", "20, three times slower, and 50, eleven times",
				"users of the lab's load"),
			trial.Absent("a setting that is on while its library is not loaded", "found", "not planted"),
		}},
		Conditions: []claims.Condition{{Name: "freeze", Text: "by SIGSTOP and SIGCONT (report: at random, for 15 s). " +
			"The claim's other half, a setting whose library is not loaded, is found by 'plimsoll advise'"}},
	}
}

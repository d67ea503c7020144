package slowness

import (
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/confusion"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Sides, figures and bars of C56 and C57.
const (
	free, filled = "a core of its own", "a core that another process fills"
	lookTime     = "time of a look-up"
	busyCores    = "cores busy"
	named        = "named"
	// Users feel slowerBy; two runs of one system differ by up to notSlower.
	slowerBy, notSlower = 1.2, 1.05
	// looksIdle is the percentage of busy cores below which nobody takes the machine for full.
	looksIdle = 85
)

// filledCore is the experiment behind C56.
func filledCore(b site.Bench, _ *site.Site) trial.Trial {
	s := &stage{}
	part := s.part(b, trial.Series{Name: lookTime, Unit: "ms"}, trial.Series{Name: busyCores, Unit: "%"},
		trial.Series{Name: named})
	figures := func(t confusion.Trial, d *diagnose.Diagnosis) trial.Figures {
		f := trial.Figures{lookTime: t.Users["desk"].MeanMS,
			named: flag(hasFinding(d, "processors-taken-by-others") || hasFinding(d, "one-core-filled"))}
		if d.Host != nil {
			f[busyCores] = percentOf(d.Host.Busy)
		}
		return f
	}
	part.Sides = []trial.Side{s.plant(free, "one-core", figures), s.plant(filled, "filled-core", figures)}
	slower := trial.Ratio{Of: trial.At(filled, lookTime), To: trial.At(free, lookTime)}
	busy := trial.Every{Of: trial.At(filled, busyCores), Unit: "%"}
	isNamed := trial.Every{Of: trial.At(filled, named)}
	part.Measured = []trial.Phrase{trial.Say("look-ups take %s where other processes fill the server's core; all "+
		"cores together are then busy %s; the diagnosis names the cause (1: yes, 0: no): %s", slower, busy, isNamed)}
	return trial.Trial{
		Text:  "a server on one core, alone and with other processes that fill it",
		Parts: []trial.Part{part}, Overhead: 2 * between,
		Rules: trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, least)}, Direction: []trial.Criterion{
			{Of: slower, Confirm: trial.AtLeast(slowerBy), Refute: trial.Below(notSlower)},
			{Of: busy, Confirm: trial.AtMost(looksIdle), Unless: "the machine is full, and not only one core"},
			{Of: isNamed, Confirm: trial.AtLeast(1), Refute: trial.Below(1)},
		}, Situation: []trial.Condition{trial.Absent("what fills the core", "a component of the system itself",
			"other programs, on the core that the server is pinned to")}},
		Conditions: []claims.Condition{{Name: "core", Text: "all processes of the server and two other processes are " +
			"pinned to the first core; the users are not"}},
	}
}

// Sides and bars of C57.
const (
	alone, aloneFar, crowd = "one user", "one user, slow network", "with many others"
	// claimedSlow is the claim's 30 %.
	claimedSlow = 1.3
	// The band around it.
	slowLow, slowHigh = 1.15, 1.5
)

// oneUserAlone is the experiment behind C57.
func oneUserAlone(b site.Bench, _ *site.Site) trial.Trial {
	s := &stage{}
	part := s.part(b, trial.Series{Name: stepTime, Unit: "ms"}, trial.Series{Name: busyCores, Unit: "%"})
	figures := func(t confusion.Trial, d *diagnose.Diagnosis) trial.Figures {
		f := roundTripFigures(t, d)
		if d.Host != nil {
			f[busyCores] = percentOf(d.Host.Busy)
		}
		return f
	}
	part.Sides = []trial.Side{s.plant(alone, "alone", figures), s.plant(aloneFar, "alone+slow-network", figures),
		s.plant(crowd, "heavy-workload", figures)}
	slow := trial.Ratio{Of: trial.At(aloneFar, stepTime), To: trial.At(alone, stepTime)}
	full := trial.Ratio{Of: trial.At(crowd, stepTime), To: trial.At(alone, stepTime)}
	idle := trial.Every{Of: trial.At(aloneFar, busyCores), Unit: "%"}
	busy := trial.Every{Of: trial.At(crowd, busyCores), Unit: "%"}
	part.Measured = []trial.Phrase{trial.Say("time of an operation against one user alone: %s through a slow "+
		"network, cores busy %s; %s with many others, cores busy %s", slow, idle, full, busy)}
	return trial.Trial{
		Text:  "one user on a good system, on a slow one, and on a full one",
		Parts: []trial.Part{part}, Overhead: 2 * between,
		Rules: trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, least)}, Direction: []trial.Criterion{
			{Of: idle, Confirm: trial.Below(looksIdle), Refute: trial.AtLeast(looksIdle)},
			{Of: full, Confirm: trial.AtLeast(claimedSlow)},
			{Of: busy, Confirm: trial.AtLeast(looksIdle), Unless: "the other users do not fill the machine"},
		}, Situation: []trial.Condition{trial.Absent("the job", "of an application, over its own network",
			"an operation of four round trips")}}.Times(slow, slowLow, slowHigh),
		Conditions: []claims.Condition{{Name: "operation", Text: "four round trips: begin, read for update, change, " +
			"commit"}},
	}
}

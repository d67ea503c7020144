package slowness

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/confusion"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Figures of C39.
const (
	jobPace      = "transactions"
	missedStalls = "freezes not blamed on the server"
	wrongStalls  = "freezes named where there were none"
	adviceGiven  = "advice to load the library"
)

// Parts and sides of C39, besides those of each number of jobs.
const (
	freezing                = "freezes"
	libraries               = "library"
	withLibrary, notLibrary = "no such setting", "a setting without its library"
)

// Sizes of C39: the report's freezes with --full, and a small form.
const (
	c39Turn      = 12 * time.Second
	c39FullTurn  = 90 * time.Second
	c39Between   = 6 * time.Second
	reportFreeze = 15 * time.Second
	// c39Matters: two runs of one system differ by less.
	c39Matters = 1.1
)

var smallStalls, fullStalls = confusion.Stalls{For: 2 * time.Second, Every: 3 * time.Second},
	confusion.Stalls{For: reportFreeze, Every: reportFreeze}

// frozenJobs are the report's numbers of threads, and by how much they were slower; 0: it does not say.
var frozenJobs = []struct {
	n                         int
	claimed, claimLo, claimHi float64
}{{10, 0, 0, 0}, {20, 3, 2.4, 3.75}, {50, 11, 8.8, 13.75}}

func jobsSide(n int, frozen bool) string {
	if frozen {
		return fmt.Sprintf("%d jobs, server freezes", n)
	}
	return fmt.Sprintf("%d jobs", n)
}

// frozenServer is the experiment behind C39, both halves of it: freezes at random, and a setting without its library.
func frozenServer(b site.Bench, _ *site.Site) trial.Trial {
	stalls, length := smallStalls, b.Turn(c39Turn)
	if b.Full {
		stalls, length = fullStalls, b.Turn(c39FullTurn)
	}
	s := &stage{options: confusion.Options{Stalls: stalls, Duration: length}}
	freezes := s.part(b, trial.Series{Name: jobPace, Unit: "1/s"}, trial.Series{Name: missedStalls},
		trial.Series{Name: wrongStalls}, trial.BusySeries)
	freezes.Name, freezes.Turn, freezes.Between = freezing, length, c39Between
	var direction []trial.Criterion
	var sizes []trial.Band
	for _, jobs := range frozenJobs {
		plant := fmt.Sprintf("jobs-%d", jobs.n)
		runs, stands := jobsSide(jobs.n, false), jobsSide(jobs.n, true)
		freezes.Sides = append(freezes.Sides, s.plant(runs, plant, runningJobs),
			s.plant(stands, plant+"+random-stalls", frozenPace))
		slower := trial.Ratio{Of: trial.At(runs, jobPace).In(freezing), To: trial.At(stands, jobPace).In(freezing),
			As: fmt.Sprintf("times slower with %d jobs", jobs.n)}
		missed := trial.Every{Of: trial.At(stands, missedStalls).In(freezing)}
		wrong := trial.Every{Of: trial.At(runs, wrongStalls).In(freezing)}
		direction = append(direction, trial.Criterion{Of: slower, Confirm: trial.AtLeast(c39Matters),
			Refute: trial.Below(1)},
			trial.Criterion{Of: missed, Confirm: trial.AtMost(0), Refute: trial.AtLeast(1)},
			trial.Criterion{Of: wrong, Confirm: trial.AtMost(0), Refute: trial.AtLeast(1), Anywhere: true})
		if jobs.claimed > 0 {
			sizes = append(sizes, trial.Band{Of: slower, None: 1, Low: jobs.claimLo, High: jobs.claimHi})
		}
		freezes.Measured = append(freezes.Measured, trial.Say("%d jobs take %s as long where the server freezes; "+
			"freezes that the diagnosis did not blame on it: %s, named where there were none: %s", jobs.n, slower,
			missed, wrong))
	}
	advised, given := libraryPart(b, s)
	direction = append(direction, given...)
	return trial.Trial{
		Text: fmt.Sprintf("all processes of a server stop for %s at random while 10, 20 and 50 jobs work, or do not; "+
			"a setting is on whose library is not loaded: are both named?", human.Duration(stalls.For)),
		Parts: []trial.Part{freezes, advised}, Overhead: 2 * between,
		Rules: trial.Rules{Requires: []trial.Criterion{site.TurnsOf(length, least)}, Direction: direction, Size: sizes,
			Situation: []trial.Condition{
				{Of: trial.Known{As: "seconds of a freeze", Value: stalls.For.Seconds()}, Report: "15, at random",
					Met: trial.AtLeast(reportFreeze.Seconds())},
				trial.Absent("what makes it freeze", "sessions that collide on a file of statistics, so that more "+
					"threads freeze more often", "a clock, since PostgreSQL 15 keeps no such file: more jobs freeze "+
					"as often"),
			}},
		Conditions: []claims.Condition{
			{Name: "freeze", Text: fmt.Sprintf("by SIGSTOP and SIGCONT for %s, after pauses of %s to %s that are "+
				"drawn (report: for 15 s)", human.Duration(stalls.For), human.Duration(stalls.Every/2),
				human.Duration(3*stalls.Every/2))},
			{Name: "jobs", Text: "each writes documents of twenty lines without a pause, beside twelve users " +
				"(report: 20 threads restore costs three times slower, 50 eleven times, and 100 never end)"},
			{Name: "setting", Text: confusion.MissingLibrary + ".enable is on in the server's settings, and the " +
				"library is not loaded; looked for by 'plimsoll advise'"},
		},
	}
}

func runningJobs(t confusion.Trial, d *diagnose.Diagnosis) trial.Figures {
	return trial.Figures{jobPace: t.Users[confusion.Jobs].PerS, wrongStalls: float64(blamed(d))}
}

// frozenPace is no turn if no freeze was in it from begin to end.
func frozenPace(t confusion.Trial, d *diagnose.Diagnosis) trial.Figures {
	if t.Stalls == 0 {
		return nil
	}
	return trial.Figures{jobPace: t.Users[confusion.Jobs].PerS,
		missedStalls: math.Max(0, float64(t.Stalls-blamed(d)))}
}

// blamed are the freezes for which the diagnosis blames the server.
func blamed(d *diagnose.Diagnosis) (n int) {
	for _, one := range d.Standstills {
		if one.Who == diagnose.StillServer {
			n++
		}
	}
	return n
}

// libraryPart is the claim's other half. What is advised depends on no machine's pace.
func libraryPart(b site.Bench, s *stage) (trial.Part, []trial.Criterion) {
	part := s.part(b, trial.Series{Name: adviceGiven})
	part.Name, part.Turn, part.Between, part.Counted = libraries, 0, 3*time.Second, true
	for _, side := range []struct{ name, plant string }{{withLibrary, confusion.Healthy},
		{notLibrary, "missing-library"}} {
		part.Sides = append(part.Sides, trial.Side{Name: side.name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, _ int) (trial.Figures, error) {
					ids, err := s.Advice(ctx, side.plant)
					return trial.Figures{
						adviceGiven: flag(slices.Contains(ids, "library:"+confusion.MissingLibrary))}, err
				}, nil
			}})
	}
	given := func(side string) trial.Every { return trial.Every{Of: trial.At(side, adviceGiven).In(libraries)} }
	part.Measured = []trial.Phrase{trial.Say("the advice names the library that a setting lacks (1: yes, 0: no): %s "+
		"where it does, %s where there is no such setting", given(notLibrary), given(withLibrary))}
	return part, []trial.Criterion{
		{Of: given(notLibrary), Confirm: trial.AtLeast(1), Refute: trial.Below(1), Anywhere: true},
		{Of: given(withLibrary), Confirm: trial.AtMost(0), Refute: trial.AtLeast(1), Anywhere: true}}
}

package slowness

import (
	"runtime"
	"strings"

	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/confusion"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Figures and bars of C54.
const (
	commits    = "commits at once"
	spinShare  = "spins"
	latchShare = "locks of the log"
	logShare   = "log"
	processors = "processors"
	// spinsHurt: a tenth is what users feel. spinsNone: none worth a note.
	spinsHurt, spinsNone = 10, 2
	// spinsFrom processors: the report's machine has 24; on few, whoever spins is not run beside who holds.
	spinsFrom = 16
)

// logSpins is the experiment behind C54.
func logSpins(b site.Bench, _ *site.Site) trial.Trial {
	s := &stage{}
	part := s.part(b, trial.Series{Name: spinShare, Unit: "%"}, trial.Series{Name: latchShare, Unit: "%"},
		trial.Series{Name: logShare, Unit: "%"}, trial.Series{Name: processors, Hidden: true})
	part.Sides = []trial.Side{s.plant(commits, "concurrent-commits", true,
		func(_ confusion.Trial, d *diagnose.Diagnosis) trial.Figures {
			f := trial.Figures{spinShare: 0, latchShare: 0, logShare: 0, processors: float64(runtime.NumCPU())}
			for _, line := range d.Ledger.Lines {
				for _, e := range line.Events {
					switch {
					case e.Name == "Timeout:SpinDelay":
						f[spinShare] += 100 * e.Share
					case strings.HasPrefix(e.Name, "LWLock:WAL"):
						f[latchShare] += 100 * e.Share
					}
					if line.Class == logShare {
						f[logShare] += 100 * e.Share
					}
				}
			}
			return f
		})}
	of := func(series string) trial.Every { return trial.Every{Of: trial.At(commits, series), Unit: "%"} }
	part.Measured = []trial.Phrase{trial.Say("16 sessions that commit without a pause wait for the log %s of their "+
		"time, "+
		"of it for its locks %s; they spin %s", of(logShare), of(latchShare), of(spinShare))}
	return trial.Trial{
		Text:  "16 sessions commit without a pause: do they wait for the disk, for locks of the log, or spin?",
		Parts: []trial.Part{part}, Overhead: 2 * between,
		Rules: trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, least),
			{Of: trial.Every{Of: trial.At(commits, processors), As: processors}, Confirm: trial.AtLeast(spinsFrom),
				Unless: "the claim speaks of larger machines"}},
			Criteria: []trial.Criterion{{Of: of(spinShare), Confirm: trial.AtLeast(spinsHurt),
				Refute: trial.Below(spinsNone)}}},
		Conditions: []claims.Condition{{Name: "spins", Text: "PostgreSQL shows a spinlock only once who wants it " +
			"gives up " +
			"its processor (Timeout:SpinDelay); LWLocks of the log stand beside it"}},
	}
}

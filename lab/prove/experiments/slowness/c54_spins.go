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
	// In percent of the time of sessions: users feel spinsHurt, and nobody notices spinsNone.
	spinsHurt, spinsNone = 10, 2
	// spinsFrom is the number of processors required (the report's machine has 24): on few, the holder of a spinlock
	// does not run while others spin for it.
	spinsFrom = 16
)

// logSpins is the experiment behind C54.
func logSpins(b site.Bench, _ *site.Site) trial.Trial {
	s := &stage{}
	part := s.part(b, trial.Series{Name: spinShare, Unit: "%"}, trial.Series{Name: latchShare, Unit: "%"},
		trial.Series{Name: logShare, Unit: "%"}, trial.Series{Name: processors, Hidden: true})
	part.Sides = []trial.Side{s.plant(commits, "concurrent-commits",
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
	every := func(series string) trial.Every { return trial.Every{Of: trial.At(commits, series), Unit: "%"} }
	part.Measured = []trial.Phrase{trial.Say("16 sessions that commit without a pause spend %s of their time waiting "+
		"for the log, of it %s on its lightweight locks; they spin %s of their time", every(logShare),
		every(latchShare),
		every(spinShare))}
	return trial.Trial{
		Text: "16 sessions commit without a pause: do they wait for the disk, for lightweight locks of the log, or " +
			"for a spinlock?",
		Parts: []trial.Part{part}, Overhead: 2 * between,
		Rules: trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, least),
			{Of: trial.Every{Of: trial.At(commits, processors), As: processors}, Confirm: trial.AtLeast(spinsFrom),
				Unless: "cannot be had here: with few processors the holder of a spinlock does not run while " +
					"others spin for it, so that it shows nothing of larger machines; " + site.OnLarger("C54")}},
			Direction: []trial.Criterion{{Of: every(spinShare), Confirm: trial.AtLeast(spinsHurt),
				Refute: trial.Below(spinsNone)}}},
		Conditions: []claims.Condition{{Name: "spins", Text: "PostgreSQL reports a spinlock only when a waiting " +
			"process stops spinning and sleeps (Timeout:SpinDelay), so short spins are not seen; waits for the log's " +
			"lightweight locks (LWLock:WAL…) are reported with it"}},
	}
}

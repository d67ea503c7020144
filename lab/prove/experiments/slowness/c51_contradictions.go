package slowness

import (
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/confusion"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Figures of C51: 1 or 0, and a number.
const (
	shown    = "contradiction shown"
	allShown = "contradictions"
)

// contradicted are plants, and the pair of measurements that must disagree with each.
var contradicted = []struct{ plant, pair string }{
	{"hot-row", "idle processors and blocked sessions"},
	{"filled-core", "running sessions and processor time"},
	{"catalog-churn", "catalogs and data"},
	{"topology-lies", "topology"},
}

// contradictions is the experiment behind C51.
func contradictions(b site.Bench, _ *site.Site) trial.Trial {
	s := &stage{}
	part := s.part(b, trial.Series{Name: shown}, trial.Series{Name: allShown})
	look := func(pair string) read {
		return func(_ confusion.Trial, d *diagnose.Diagnosis) trial.Figures {
			f := trial.Figures{shown: 0, allShown: 0}
			for _, c := range d.Contradictions {
				if c.Verdict == diagnose.Contradicts {
					f[allShown]++
					f[shown] += flag(c.Name == pair)
				}
			}
			return f
		}
	}
	healthy := trial.Every{Of: trial.At(confusion.Healthy, allShown)}
	part.Sides = []trial.Side{s.plant(confusion.Healthy, confusion.Healthy, look(""))}
	criteria := []trial.Criterion{{Of: healthy, Confirm: trial.AtMost(0), Refute: trial.AtLeast(1)}}
	for _, c := range contradicted {
		part.Sides = append(part.Sides, s.plant(c.plant, c.plant, look(c.pair)))
		every := trial.Every{Of: trial.At(c.plant, shown)}
		criteria = append(criteria, trial.Criterion{Of: every, Confirm: trial.AtLeast(1), Refute: trial.Below(1)})
		part.Measured = append(part.Measured, trial.Say("%s contradicts '%s': %s", c.plant, c.pair, every))
	}
	part.Measured = append(part.Measured, trial.Say("contradictions of a healthy load: %s", healthy))
	return trial.Trial{
		Text:  "faults that each make two measurements disagree, and a load without a fault",
		Parts: []trial.Part{part}, Overhead: 2 * between,
		Rules: trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, least)}, Direction: criteria},
		Conditions: []claims.Condition{{Name: "figures", Text: "1 if the contradiction is shown, 0 if not; 'plimsoll " +
			"diagnose' prints the measurements of each pair, what they exclude, and the next command"}},
	}
}

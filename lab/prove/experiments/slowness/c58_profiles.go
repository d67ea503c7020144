package slowness

import (
	"context"

	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/confusion"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Figures of C58.
const (
	pointed = "the difference names the fault"
	moreMS  = "greatest difference"
	// twinsMost of the least planted difference may two healthy profiles differ by.
	twinsMost = 0.5
)

// slowed are plants and the class of waits that each must add.
var slowed = []struct{ plant, class string }{{"slow-flush", "log"}, {"hot-row", "lock"}, {"concurrent-commits", "log"}}

// subtractedProfiles is the experiment behind C58.
func subtractedProfiles(b site.Bench, _ *site.Site) trial.Trial {
	s := &stage{}
	part := s.part(b, trial.Series{Name: pointed}, trial.Series{Name: moreMS, Unit: "ms of a transaction"})
	var good *diagnose.Diagnosis
	open := part.Open
	part.Open = func(ctx context.Context, r *trial.Record) error {
		if err := open(ctx, r); err != nil {
			return err
		}
		_, d, err := s.Try(ctx, confusion.Healthy)
		good = d
		return err
	}
	against := func(class string) read {
		return func(_ confusion.Trial, d *diagnose.Diagnosis) trial.Figures {
			all := diagnose.Subtract(d, good)
			if len(all) == 0 {
				return nil
			}
			return trial.Figures{pointed: flag(all[0].Class == class), moreMS: max(0, all[0].MoreMS)}
		}
	}
	part.Sides = []trial.Side{s.plant(confusion.Healthy, confusion.Healthy, against(""))}
	twins := trial.Ref{Side: confusion.Healthy, Series: moreMS}
	var criteria []trial.Criterion
	for _, c := range slowed {
		part.Sides = append(part.Sides, s.plant(c.plant, c.plant, against(c.class)))
		every := trial.Every{Of: trial.At(c.plant, pointed)}
		criteria = append(criteria, trial.Criterion{Of: every, Confirm: trial.AtLeast(1), Refute: trial.Below(1)},
			trial.Criterion{Of: trial.Gap{Of: twins, Times: twinsMost, To: trial.At(c.plant, moreMS)},
				Confirm: trial.Below(0), Unless: "two healthy profiles differ as much"})
		part.Measured = append(part.Measured, trial.Say("%s minus healthy: the largest difference is in class %s (1: "+
			"yes, 0: no): %s, of %s", c.plant,
			c.class, every, trial.Every{Of: trial.At(c.plant, moreMS), Unit: "ms"}))
	}
	part.Measured = append(part.Measured, trial.Say("healthy minus healthy: at most %s", trial.Every{Of: twins,
		Unit: "ms"}))
	return trial.Trial{
		Text:  "the profile of a good system is subtracted from those of slow ones, in time per transaction",
		Parts: []trial.Part{part}, Overhead: 3 * between,
		Rules: trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, least)}, Direction: criteria},
		Conditions: []claims.Condition{{Name: "profile", Text: "milliseconds per transaction in each class of the " +
			"ledger; percentages would add up to 100 % for both systems and hide what grew"}},
	}
}

package experiments

import "plimsoll/lab/prove/trial"

const (
	c20Claimed = 1.11
	// c20WaitsGone is the limit below which waits for the log count as gone, in percent of what active sessions did.
	c20WaitsGone = 1
)

var (
	c20Synchronous  = rewritingSide{"50 jobs, synchronous", 1, 50, small(false)}
	c20Asynchronous = rewritingSide{"50 jobs, asynchronous", 1, 50, small(true)}
)

// asynchronousRewriting is the experiment behind C20.
func asynchronousRewriting(b Bench, s *site) trial.Trial {
	t := b.rewriting(s, "50 jobs of a worker rewrite record sets, with synchronous and asynchronous commit",
		[]rewritingSide{c20Synchronous, c20Asynchronous})
	faster := fasterObjects(c20Asynchronous.name, c20Synchronous.name)
	both := func(format, series, figure string) trial.Phrase {
		return trial.Say(format, trial.Spread{Of: trial.At(c20Synchronous.name, series), Format: figure},
			trial.Spread{Of: trial.At(c20Asynchronous.name, series), Format: figure})
	}
	t.Measured = []trial.Phrase{
		trial.Say("%s objects/s synchronous, %s asynchronous, %s",
			trial.Spread{Of: objects(c20Synchronous.name), Format: "%.0f"},
			trial.Spread{Of: objects(c20Asynchronous.name), Format: "%.0f"}, faster),
		both("waits for the log %s and %s %% of what sessions did", waitsShare, "%.1f"),
		both("the log was flushed %s and %s times a second", flushes, "%.0f"),
	}
	t.Rules.Criteria = []trial.Criterion{trial.Claimed(faster, c20Claimed),
		{Of: trial.Every{Of: trial.At(c20Asynchronous.name, waitsShare), Unit: "%"},
			Confirm: trial.AtMost(c20WaitsGone),
			Unless:  "waits for the log have not disappeared"}}
	return t
}

package rewriting

import (
	"fmt"
	"time"

	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/durability"
)

// Defaults of C27. A dip is a second, so a turn must have many of them.
const (
	c27Turn = 20 * time.Second
	// c27Buffer is as large as the report's server makes a block of its log buffer (60 KB); a server of ours has many
	// times more, which no number of jobs fills.
	c27Buffer = "64kB"
	c27Own    = "the server's own log buffer"
	c27Even   = 80 // percent of the median second that the worst one has where there are no dips
)

// logBuffer is the experiment behind C27.
func logBuffer(b site.Bench, s *site.Site) trial.Trial {
	turn := b.Turn(c27Turn)
	few, many := commitSide{jobs: 50, mode: durability.Sync}, commitSide{jobs: 100, mode: durability.Sync}
	delayed := commitSide{jobs: 100, mode: durability.Async}
	sides := []commitSide{few, many, delayed}
	part := recordSetPart(b, s, recordSetPlace{latency: judgedLatency}, turn, sides,
		profile.Setting{Name: "wal_buffers", Value: c27Buffer})
	own := recordSetPart(b, s, recordSetPlace{name: c27Own, latency: judgedLatency}, turn, sides)
	at := func(c commitSide, series string) trial.Ref { return c.at(judgedLatency, series) }
	for p, in := range map[*trial.Part]string{&part: part.Name, &own: own.Name} {
		text := func(c commitSide, series, format string) trial.Spread {
			return trial.Spread{Of: trial.At(c.String(), series).In(in), Format: format}
		}
		p.Measured = []trial.Phrase{
			trial.Say("%s: the log buffer was full %s times a second with 50 jobs, %s with 100, %s asynchronous",
				trial.Title(in), text(few, bufferFull, "%.1f"), text(many, bufferFull, "%.1f"),
				text(delayed, bufferFull, "%.1f")),
			trial.Say("pace of the worst second in percent of the median second: %s with 100 jobs synchronous, %s "+
				"asynchronous", text(many, worstSecond, "%.0f"), text(delayed, worstSecond, "%.0f")),
			trial.Say("100 jobs: %s objects/s synchronous, %s asynchronous with %s MB/s of log",
				text(many, pace, "%.0f"),
				text(delayed, pace, "%.0f"),
				text(delayed, logVolume, "%.1f")),
		}
	}
	return trial.Trial{
		Text: fmt.Sprintf("50 and 100 jobs rewrite record sets of 1 to %d rows with a log buffer of %s, synchronous "+
			"and asynchronous: waits for the buffer, and the pace of the worst second", recordSetRows, c27Buffer),
		Overhead: 30 * time.Second, Parts: []trial.Part{part, own},
		Rules: trial.Rules{
			Requires: lightlyLoaded(turn, c27Turn, sides...),
			Situation: append(recordSetSituation(many), trial.Condition{Of: trial.Every{
				Of:   trial.At(many.String(), bufferFull).In(c27Own),
				As:   "the server's own log buffer full with 100 jobs",
				Unit: "times a second"}, Report: "waits begin", Met: trial.Above(0)}),
			Direction: []trial.Criterion{
				{Of: trial.Every{Of: trial.At(delayed.String(), worstSecond).In(c27Own), Unit: "%"},
					Confirm: trial.AtLeast(c27Even), Refute: trial.Below(c27Even)},
				{Of: trial.Gap{Of: at(many, bufferFull), Times: 1, To: at(few, bufferFull)}, Confirm: trial.Above(0),
					Refute: trial.AtMost(0), Unless: "waits for the buffer do not begin with 100 jobs"},
				{Of: trial.Every{Of: at(delayed, worstSecond), Unit: "%"}, Confirm: trial.AtLeast(c27Even),
					Refute: trial.Below(c27Even)},
				{Of: trial.Gap{Of: at(delayed, worstSecond), Times: 1, To: at(many, worstSecond)},
					Confirm: trial.Above(0), Refute: trial.AtMost(0), Unless: "synchronous commit is just as even"},
			}},
		Conditions: append(recordSetConditions(), claims.Condition{Name: "log buffer", Text: "wal_buffers " +
			"= " + c27Buffer +
			", about the size of a log block of the report's server; and the size from the cluster's " +
			"profile, of which no number of jobs here may fill any: with that the pace must be even, too"}),
	}
}

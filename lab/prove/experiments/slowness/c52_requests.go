package slowness

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/probe"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Sides, figures and bars of C52.
const (
	asked      = "requested in parallel"
	below      = "under way below"
	readsPerS  = "reads"
	readTime   = "time of a read"
	limitFound = "limit found"
	readTurn   = 3 * time.Second
	// sideBySide is what the report's server asked for.
	sideBySide = 100
	// limitBy is the share by which a found limit may differ from the planted one.
	limitBy = 0.25
	// reportedLimit is the report's. A disk that takes fewer requests than that hides it, so that it is a matter of the
	// situation, and smaller ones show the effect.
	reportedLimit = 64
)

// limits that are planted; 0: none.
var limits = []int{0, 4, 16, reportedLimit}

func limitSide(limit int) string {
	if limit == 0 {
		return "no limit"
	}
	return fmt.Sprintf("a limit of %d", limit)
}

// outstandingRequests is the experiment behind C52.
func outstandingRequests(b site.Bench, _ *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(rounds), Turn: b.Turn(readTurn), Series: []trial.Series{
		{Name: asked}, {Name: below}, {Name: readsPerS, Unit: "1/s"}, {Name: readTime, Unit: "ms"}, {Name: limitFound}}}
	var criteria []trial.Criterion
	var situation []trial.Condition
	for _, limit := range limits {
		side := limitSide(limit)
		part.Sides = append(part.Sides, trial.Side{Name: side,
			Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
				dir, err := os.MkdirTemp(dirs.State(), "prove-requests-")
				if err != nil {
					return nil, err
				}
				r.AtEnd(func() error { return os.RemoveAll(dir) })
				return func(ctx context.Context, _ int) (trial.Figures, error) {
					got, err := probe.Read(ctx, dir, sideBySide, limit, time.Now().Add(part.Turn))
					return trial.Figures{asked: got.Asked, below: got.Below, readsPerS: got.PerS, readTime: got.MS,
						limitFound: got.Limit()}, err
				}, nil
			}})
		found := trial.Every{Of: trial.At(side, limitFound)}
		low, high := float64(limit)*(1-limitBy), float64(limit)*(1+limitBy)
		switch limit {
		case 0: // a machine with a limit of its own refutes nothing
			criteria = append(criteria, trial.Criterion{Of: found, Confirm: trial.AtMost(0)})
		case reportedLimit:
			situation = append(situation, trial.Condition{Of: found, Report: strconv.Itoa(limit),
				Met: trial.Within(low, high)})
		default: // a slow disk lets fewer pass, but none is found as no limit, or as a larger one
			criteria = append(criteria, trial.Criterion{Of: found, Confirm: trial.Within(low, high),
				Refute: trial.Outside(1, high)})
		}
		part.Measured = append(part.Measured, trial.Say("%s: %s reads requested at once, %s under way at the device, "+
			"%s reads/s of %s ms, limit found: %s", side, trial.Median{Of: trial.At(side, asked), Format: "%.0f"},
			trial.Median{Of: trial.At(side, below), Format: "%.0f"},
			trial.Median{Of: trial.At(side, readsPerS), Format: "%.0f"},
			trial.Median{Of: trial.At(side, readTime), Format: "%.2f"}, found))
	}
	return trial.Trial{
		Text: fmt.Sprintf("%d random reads at once that bypass the page cache, through planted limits of outstanding "+
			"requests", sideBySide),
		Overhead: 10 * time.Second, Parts: []trial.Part{part},
		Rules: trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, time.Second)}, Direction: criteria,
			Situation: situation},
		Conditions: []claims.Condition{
			{Name: "limit", Text: "found where less than 80 % of the requested reads are under way at the device, by " +
				"Little's law; the device's percentage of busy time is not used"},
			{Name: "planted", Text: "by this program, between itself and the device, where a hypervisor or a " +
				"controller has its limit"}},
	}
}

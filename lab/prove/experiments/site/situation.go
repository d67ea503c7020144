package site

import (
	"fmt"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/prove/trial"
)

// What counts as the situation of the field reports, where they do not say it by a figure.
const (
	// WholeScale of the report's base: from it on no machine's caches hold it.
	WholeScale = 0.3
	// SessionsLeast at work: fewer than that compete for nothing.
	SessionsLeast = 16
	// RoomMost is how busy processors are at most, in percent, that are not the limit.
	RoomMost = 80
)

// OnLarger says how a machine that has what this one lacks answers the claim.
func OnLarger(claim string) string {
	return fmt.Sprintf("on one that has it: 'plimsoll prove %s --archive FILE'; 'plimsoll prove --report PAGE --from "+
		"FILE' shows the result anywhere", claim)
}

// ScaleOf the base, of which the report's is 1.
func ScaleOf(scale float64) trial.Condition {
	return trial.Condition{Of: trial.Known{As: "scale of the base", Value: scale},
		Report: "1, about 1 TB", Met: trial.AtLeast(WholeScale)}
}

// AtWork are the sessions at work at once.
func AtWork(sessions int, report string) trial.Condition {
	return trial.Condition{Of: trial.Known{As: "sessions at work", Value: float64(sessions)}, Report: report,
		Met: trial.AtLeast(SessionsLeast)}
}

// Lasting is the length of the load in one go.
func Lasting(turn, least time.Duration, report string) trial.Condition {
	return trial.Condition{Of: trial.Given{As: "load in one go of at least " + human.Duration(least),
		Holds: turn >= least, Else: human.Duration(turn)}, Report: report, Met: trial.Measured()}
}

// WithRoom: processors that are not the limit, as busy as measured.
func WithRoom(sides ...trial.Ref) (all []trial.Condition) {
	for _, of := range sides {
		all = append(all, trial.Condition{Of: trial.Every{Of: of, Unit: "%"}, Report: "processors with room",
			Met: trial.AtMost(RoomMost)})
	}
	return all
}

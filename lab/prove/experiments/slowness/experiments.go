// Package slowness holds the experiments on what makes a system slow that has nothing to do: freezes, network,
// topology, queues before idle devices, one full core. Faults are those of the confusion matrix (lab/prove/confusion).
package slowness

import (
	"context"

	"plimsoll/lab/prove/experiments/site"
)

// Experiments lists the experiments of this package; a new one is registered here.
func Experiments() []site.Experiment {
	return []site.Experiment{
		{Claim: "C39", On: ownStage, Declare: frozenServer},
		{Claim: "C50", On: ownStage, Declare: networkAndTopology},
		{Claim: "C51", On: ownStage, Declare: contradictions},
		{Claim: "C52", On: ownStage, Declare: outstandingRequests},
		{Claim: "C53", On: ownStage, Declare: farMemory},
		{Claim: "C54", On: ownStage, Declare: logSpins},
		{Claim: "C56", On: ownStage, Declare: filledCore},
		{Claim: "C57", On: ownStage, Declare: oneUserAlone},
		{Claim: "C58", On: ownStage, Declare: subtractedProfiles},
	}
}

// ownStage: each part of these experiments makes what it needs.
func ownStage(context.Context, site.Bench, *site.Site) error { return nil }

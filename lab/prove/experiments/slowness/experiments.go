// Package slowness holds the experiments on what makes a system slow that has nothing to do: freezes, network,
// topology, queues before idle devices, one full core. Faults are those of the confusion matrix (lab/prove/confusion),
// or planted around our ERP at work.
package slowness

import "plimsoll/lab/prove/experiments/site"

// Experiments lists the experiments of this package; a new one is registered here.
func Experiments() []site.Experiment {
	return []site.Experiment{
		{Claim: "C39", On: site.Nowhere, Declare: frozenServer},
		{Claim: "C50", On: site.Nowhere, Declare: networkAndTopology, Refuse: refuseNoNetwork("C50")},
		{Claim: "C51", On: site.Nowhere, Declare: contradictions},
		{Claim: "C52", On: site.Nowhere, Declare: outstandingRequests},
		{Claim: "C53", On: site.Nowhere, Declare: farMemory},
		{Claim: "C54", On: site.Nowhere, Declare: logSpins},
		{Claim: "C56", On: site.Nowhere, Declare: filledCore},
		{Claim: "C57", On: site.Nowhere, Declare: oneUserAlone, Refuse: refuseNoNetwork("C57")},
		{Claim: "C58", On: site.Nowhere, Declare: subtractedProfiles},
	}
}

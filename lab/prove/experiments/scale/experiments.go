// Package scale holds the experiments on size: many users, a large base, loads from several machines, the data of many
// sessions.
package scale

import "plimsoll/lab/prove/experiments/site"

// Experiments lists the experiments of this package; a new one is registered here.
func Experiments() []site.Experiment {
	return []site.Experiment{
		{Claim: "C01", On: site.FilledCluster, Declare: thirtyThousandUsers},
		{Claim: "C02", On: site.OneCluster, Declare: largeBase, Refuse: refuseSmallBase},
		{Claim: "C03", On: site.FilledCluster, Declare: loadFromAgents},
		{Claim: "C04", On: site.OneCluster, Declare: sessionData, Refuse: refuseFewSessions},
	}
}

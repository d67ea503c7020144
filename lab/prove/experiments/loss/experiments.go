// Package loss holds the experiments on what the end of a server loses, and on books that disagree afterwards.
package loss

import (
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/prove/experiments/site"
)

// Experiments lists the experiments of this package; a new one is registered here.
func Experiments() []site.Experiment {
	return []site.Experiment{
		{Claim: "C22", On: site.Nowhere, Declare: crashes},
		{Claim: "C23", On: site.OnOwnCluster(cluster.Spec{Memory: "25%"}), Declare: objectIntegrity},
		{Claim: "C25", On: site.Nowhere, Declare: plannedStops},
	}
}

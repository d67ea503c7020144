// Package bases holds the experiments on whole bases: dumped and restored, and many of them on one server.
package bases

import (
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/prove/experiments/site"
)

// Experiments lists the experiments of this package; a new one is registered here.
func Experiments() []site.Experiment {
	return []site.Experiment{
		{Claim: "C30", On: site.OnOwnCluster(cluster.Spec{Memory: "25%"}), Declare: restoredDump},
		{Claim: "C38", On: site.Nowhere, Declare: manyFiles, Refuse: refuseNoLoop},
	}
}

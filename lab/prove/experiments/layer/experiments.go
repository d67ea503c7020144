// Package layer holds the experiments on the data layer and on the settings of the server below it: pool, connections,
// chains, autovacuum, statistics.
package layer

import (
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/prove/experiments/site"
)

// Experiments lists the experiments of this package; a new one is registered here.
func Experiments() []site.Experiment {
	return []site.Experiment{
		{Claim: "C05", On: site.OnOwnCluster(cluster.Spec{Profile: profile.Stock}), Declare: reportedSettings},
		{Claim: "C13", On: site.BothFlavours(), Declare: tempTablePool},
		{Claim: "C14", On: site.BothFlavours(), Declare: connectionLifetime},
		{Claim: "C15", On: site.BothFlavours(), Declare: skippedTruncates},
		{Claim: "C16", On: site.OneCluster, Declare: chains},
		{Claim: "C18", On: site.BothFlavours(c18Settings...), Declare: poolOptimum, Refuse: refuseLittleMemory},
		{Claim: "C19", On: site.Nowhere, Declare: separateDisks, Refuse: refuseNoDisks},
		{Claim: "C32", On: site.BothFlavours(), Declare: autovacuum},
		{Claim: "C36", On: site.OneCluster, Declare: statisticsTarget},
	}
}

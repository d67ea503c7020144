// Package rewriting holds the experiments on jobs that rewrite record sets, on the log that limits them, and on what is
// half-done when jobs are killed.
package rewriting

import (
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/prove/experiments/site"
)

// Experiments lists the experiments of this package; a new one is registered here.
func Experiments() []site.Experiment {
	return []site.Experiment{
		{Claim: "C20", On: site.OnSlowDisks, Declare: asynchronousRewriting},
		{Claim: "C21", On: site.OnSlowDisks, Declare: moreJobs},
		{Claim: "C24", On: site.OneCluster, Declare: largerStatements},
		{Claim: "C26", On: site.OnOwnCluster(cluster.Spec{Memory: "25%"}), Declare: halfDoneGroups},
		{Claim: "C27", On: site.OnSlowDisk, Declare: logBuffer},
		{Claim: "C28", On: site.OnSlowDisk, Declare: longTransactions},
		{Claim: "C55", On: site.OnSlowDisk, Declare: untilItBreaks},
	}
}

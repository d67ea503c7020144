// Package rewriting holds the experiments on jobs that rewrite record sets, and on the log that limits them.
package rewriting

import "plimsoll/lab/prove/experiments/site"

// Experiments lists the experiments of this package; a new one is registered here.
func Experiments() []site.Experiment {
	return []site.Experiment{
		{Claim: "C20", On: site.OnSlowDisk, Declare: asynchronousRewriting},
		{Claim: "C21", On: site.OnSlowDisk, Declare: moreJobs},
		{Claim: "C24", On: site.OneCluster, Declare: largerStatements},
		{Claim: "C27", On: site.OnSlowDisk, Declare: logBuffer},
		{Claim: "C55", On: site.OnSlowDisk, Declare: untilItBreaks},
	}
}

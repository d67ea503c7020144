// Package restoring holds the experiments on restoring the sequence of a month's documents.
package restoring

import "plimsoll/lab/prove/experiments/site"

// Experiments lists the experiments of this package; a new one is registered here.
func Experiments() []site.Experiment {
	return []site.Experiment{
		{Claim: "C31", On: site.BothFlavours(), Declare: restoringSequence, Refuse: refuseNoRoom},
		{Claim: "C33", On: site.BothFlavours(), Declare: rewrittenQueries, Refuse: refuseNoRoom},
		{Claim: "C34", On: site.BothFlavours(), Declare: recalculatedTotals, Refuse: refuseNoRoom},
		{Claim: "C37", On: site.BothFlavours(), Declare: restoringThreads, Refuse: refuseNoRoom},
	}
}

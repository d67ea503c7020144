// Package temptables holds the experiments on what temporary tables cost a server, stock and ours: locks, messages,
// catalogs, flushes, latches.
package temptables

import "plimsoll/lab/prove/experiments/site"

// Experiments lists the experiments of this package; a new one is registered here.
func Experiments() []site.Experiment {
	return []site.Experiment{
		{Claim: "C06", On: site.BothFlavours(c06Settings...), Declare: unsentInvalidations},
		{Claim: "C07", On: site.BothFlavours(), Declare: skippedLocks},
		{Claim: "C08", On: site.BothFlavours(), Declare: messageStorm},
		{Claim: "C09", On: site.BothFlavours(), Declare: analyzedColumns},
		{Claim: "C11", On: site.BothFlavours(), Declare: unflushedCommits},
		{Claim: "C12", On: site.BothFlavours(), Declare: memoryCatalogRows},
		{Claim: "C40", On: site.BothFlavours(), Declare: systemPages},
		{Claim: "C41", On: site.BothFlavours(c41Settings...), Declare: endingSession},
		{Claim: "C42", On: site.BothFlavours(c42Settings...), Declare: drilledWaits},
		{Claim: "C43", On: site.BothFlavours(), Declare: settingOffAndOn},
		{Claim: "C44", On: site.BothFlavours(c41Settings...), Declare: endingControl},
		{Claim: "C45", On: site.BothFlavours(), Declare: waitsBegin},
	}
}

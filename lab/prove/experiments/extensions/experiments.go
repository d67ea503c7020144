// Package extensions holds the experiments on what the extensions for 1C do on a server of either flavour: search in
// texts, statistics of temporary tables, and whether all of them are there.
package extensions

import (
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/prove/experiments/site"
)

// Experiments lists the experiments of this package; a new one is registered here.
func Experiments() []site.Experiment {
	return []site.Experiment{
		{Claim: "C10", On: site.BothFlavours(), Declare: substringSearch},
		{Claim: "C17", On: site.BothFlavours(c17Settings...), Declare: carriedExtensions},
		{Claim: "C35", On: site.BothFlavours(), Declare: tempStatistics},
	}
}

// c17Settings: logical decoding, and the plugin that is allowed.
var c17Settings = []profile.Setting{
	{Name: "wal_level", Value: "logical", Reason: "logical decoding needs it"},
	{Name: "output_plugin_libraries", Value: "dbcopies_decoding", Reason: "others are refused since 18.6"},
}

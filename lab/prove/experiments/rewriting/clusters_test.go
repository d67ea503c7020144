package rewriting

import (
	"testing"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/prove/experiments/site"
)

// benchOfOwnClusters makes the clusters of experiments that bring up their own.
func benchOfOwnClusters(t *testing.T) site.Bench {
	t.Helper()
	return site.Bench{Clusters: cluster.Open(clustertest.State(t))}
}

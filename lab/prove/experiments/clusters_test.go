package experiments

import (
	"testing"

	"plimsoll/lab/postgres/cluster"
	"plimsoll/lab/postgres/cluster/clustertest"
)

// benchOfOwnClusters makes the clusters of experiments that bring up their own.
func benchOfOwnClusters(t *testing.T) Bench {
	t.Helper()
	return Bench{Clusters: cluster.Open(clustertest.State(t))}
}

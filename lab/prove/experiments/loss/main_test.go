package loss_test

import (
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/run/worker/workertest"
)

func TestMain(m *testing.M) {
	workertest.Become()
	clustertest.Main(m)
}

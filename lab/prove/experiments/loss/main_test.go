package loss_test

import (
	"testing"

	"plimsoll/lab/postgres/cluster/clustertest"
	"plimsoll/lab/run/worker/workertest"
)

func TestMain(m *testing.M) {
	workertest.Become()
	clustertest.Main(m)
}

package run

import (
	"testing"

	"go.uber.org/goleak"

	"plimsoll/lab/postgres/cluster/clustertest"
	"plimsoll/lab/run/worker/workertest"
)

func TestMain(m *testing.M) {
	workertest.Become()
	goleak.VerifyTestMain(clustertest.Runner(m))
}

package run

import (
	"testing"

	"go.uber.org/goleak"

	"plimsoll/lab/cluster/clustertest"
	"plimsoll/lab/worker/workertest"
)

func TestMain(m *testing.M) {
	workertest.Become()
	goleak.VerifyTestMain(clustertest.Runner(m))
}

package run

import (
	"testing"

	"plimsoll/lab/postgres/cluster/clustertest"
	"plimsoll/lab/run/worker/workertest"
	"plimsoll/test/leak"
)

func TestMain(m *testing.M) {
	workertest.Become()
	leak.Main(clustertest.Runner(m))
}

package run

import (
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/run/worker/workertest"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) {
	workertest.Become()
	AuditInterruptedWithin = patience.Max
	leak.Main(clustertest.Runner(m))
}

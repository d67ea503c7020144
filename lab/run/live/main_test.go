package live

import (
	"testing"

	"go.uber.org/goleak"

	"plimsoll/lab/postgres/cluster/clustertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(clustertest.Runner(m)) }

package bases_test

import (
	"testing"

	"plimsoll/lab/postgres/cluster/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

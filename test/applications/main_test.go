package applications

import (
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

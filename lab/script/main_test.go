package script

import (
	"testing"

	"plimsoll/lab/cluster/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

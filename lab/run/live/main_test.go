package live

import (
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/leak"
)

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m)) }

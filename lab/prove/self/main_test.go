package self_test

import (
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/leak"
	"plimsoll/test/program"
)

func TestMain(m *testing.M) {
	program.Become()
	leak.Main(clustertest.Runner(m))
}

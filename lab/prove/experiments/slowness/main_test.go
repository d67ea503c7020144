package slowness_test

import (
	"os"
	"testing"

	"plimsoll/cmd/plimsoll/cli"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/run/worker/workertest"
)

func TestMain(m *testing.M) {
	workertest.BecomeProgram(func() int {
		return cli.Exec(cli.Interruptible(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	})
	clustertest.Main(m)
}

package experiments_test

import (
	"os"
	"testing"

	"plimsoll/cmd/plimsoll/cli"
	"plimsoll/lab/cluster/clustertest"
	"plimsoll/lab/worker/workertest"
)

func TestMain(m *testing.M) {
	workertest.BecomeProgram(func() int { return cli.Exec(cli.Interruptible(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr) })
	clustertest.Main(m)
}

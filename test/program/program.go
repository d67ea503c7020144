// Package program lets a test binary be the plimsoll program in every process that a test starts from it: a cluster's
// keeper, a run's workers, a diagnosis.
//
//	func TestMain(m *testing.M) { program.Main(m) }
package program

import (
	"os"
	"testing"

	"plimsoll/cmd/plimsoll/cli"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/run/worker/workertest"
)

// Become the program if a test started this process.
func Become() {
	workertest.BecomeProgram(func() int {
		return cli.Exec(cli.Interruptible(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	})
}

// Main runs the program, or the tests of a package that uses clusters.
func Main(m *testing.M) {
	Become()
	clustertest.Main(m)
}

package experiments_test

import (
	"os"
	"testing"

	"plimsoll/cmd/plimsoll/cli"
	"plimsoll/lab/cluster/clustertest"
)

// asProgram makes this test binary be plimsoll itself, so that workers of the experiments are real ones.
const asProgram = "PLIMSOLL_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Exec(cli.Interruptible(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Setenv(asProgram, "1")
	clustertest.Main(m)
}

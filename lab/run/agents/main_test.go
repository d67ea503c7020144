package agents

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/run"
	"plimsoll/lab/run/worker/workertest"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

// The test binary also serves as agent and coordinator, so that they are real processes.
func TestMain(m *testing.M) {
	workertest.Become()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	switch os.Getenv("PLIMSOLL_TEST_ROLE") {
	case "agent":
		exit(Join(ctx, JoinOptions{
			URL: os.Args[len(os.Args)-1], Access: Access{Token: os.Getenv("PLIMSOLL_TOKEN")},
			DSN:      os.Getenv("PLIMSOLL_DSN"),
			Software: os.Getenv("PLIMSOLL_TEST_SOFTWARE"), Wait: patience.Max, Say: func(string, ...any) {},
		}))
	case "coordinator":
		exit(coordinate(ctx))
	}
	stop() // an ordinary test run
	run.AuditInterruptedWithin = patience.Max
	leak.Main(clustertest.Runner(m))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

package agents

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plimsoll/erp"
	"plimsoll/lab/cluster/clustertest"
	"plimsoll/platform/database"
	"plimsoll/platform/server"
)

// The test binary is the worker and the agent too, so that both are real processes.
func TestMain(m *testing.M) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	switch os.Getenv("PLIMSOLL_TEST_ROLE") {
	case "worker":
		exit(serve(ctx, os.Getenv("PLIMSOLL_TEST_DSN")))
	case "agent":
		exit(Join(ctx, JoinOptions{
			URL: os.Args[len(os.Args)-1], Access: Access{Token: os.Getenv("PLIMSOLL_TOKEN")},
			Software: os.Getenv("PLIMSOLL_TEST_SOFTWARE"), Wait: 20 * time.Second, Say: func(string, ...any) {},
		}))
	case "coordinator":
		exit(coordinate(ctx))
	}
	stop() // an ordinary test run
	goleak.VerifyTestMain(clustertest.Runner(m))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(ctx context.Context, dsn string) error {
	db, err := database.Open(ctx, dsn, database.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	worker, err := erp.NewServer(server.Config{Database: db})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("{\"listening\":\"http://%s\"}\n", listener.Addr())
	return worker.Serve(ctx, listener)
}

package run

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"plimsoll/erp"
	"plimsoll/lab/cluster/clustertest"
	"plimsoll/platform/database"
	"plimsoll/platform/server"
)

// The test binary is the worker process too, so that it is a real one: the ERP behind
// HTTP on the database that PLIMSOLL_TEST_DSN names.
func TestMain(m *testing.M) {
	if dsn := os.Getenv("PLIMSOLL_TEST_DSN"); dsn != "" {
		if err := serve(dsn); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(clustertest.Runner(m))
}

func serve(dsn string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
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

// Package workertest lets a test binary start itself as other processes: workers of the ERP, and the plimsoll program.
//
//	func TestMain(m *testing.M) {
//		workertest.Become()
//		clustertest.Main(m)
//	}
package workertest

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"plimsoll/erp"
	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/shape"
)

const (
	// Variable is set for a worker.
	Variable = "PLIMSOLL_TEST_WORKER"
	// programVariable names the program that is the worker instead of the test binary: the same code, but without the
	// race detector, which takes most of the processor time of a suite under it. A worker is tested in
	// platform/worker/server.
	programVariable = "PLIMSOLL_TEST_WORKER_PROGRAM"
	// asProgram is set for everything that a test of the program starts.
	asProgram = "PLIMSOLL_TEST_AS_PROGRAM"
)

// Command of a worker, for a binary whose TestMain calls Become. It takes --shape, --durability, --connections and
// --listen, and the database from PLIMSOLL_DSN, as 'plimsoll serve' does.
func Command() []string {
	return []string{"/usr/bin/env", Variable + "=1", cmp.Or(os.Getenv(programVariable), os.Args[0])}
}

// Become runs a worker instead of the tests if this process was started as one.
func Become() {
	if os.Getenv(Variable) == "" {
		return
	}
	if err := serve(os.Getenv("PLIMSOLL_DSN"), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// BecomeProgram runs the program instead of the tests, in every process that a test starts from its binary: a cluster's
// keeper, a run's workers.
func BecomeProgram(program func() (code int)) {
	if os.Getenv(asProgram) != "" {
		os.Exit(program())
	}
	if err := os.Setenv(asProgram, "1"); err != nil {
		panic(err)
	}
}

func serve(dsn string, args []string) error {
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	name := flags.String("shape", "", "")
	durability := flags.String("durability", "", "")
	connections := flags.Int("connections", 0, "")
	address := flags.String("listen", "127.0.0.1:0", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s, err := shape.New(shape.Name(*name), shape.Tweaks{Durability: *durability})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	db, err := database.Open(ctx, dsn, s.Options(database.Options{Connections: *connections, Worker: true}))
	if err != nil {
		return err
	}
	defer db.Close()
	worker, err := erp.NewServer(server.Config{Database: db, Shape: s})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	fmt.Printf("{\"listening\":\"http://%s\"}\n", listener.Addr())
	return worker.Serve(ctx, listener)
}

package crash_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/platformtest"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/session"
)

// The test binary starts itself as a worker of a small application, whose documents are cheap.
const (
	shopDurability   = "PLIMSOLL_TEST_SHOP"
	shopOrganisation = "PLIMSOLL_TEST_SHOP_ORGANISATION"
)

// runAsShop runs a worker instead of the tests if this process was started as one.
func runAsShop() {
	durability := os.Getenv(shopDurability)
	if durability == "" {
		return
	}
	if err := serveShop(durability); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serveShop(durability string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var organisation id.ID
	if err := organisation.UnmarshalText([]byte(os.Getenv(shopOrganisation))); err != nil {
		return err
	}
	db, err := database.Open(ctx, os.Getenv("PLIMSOLL_DSN"), database.Options{Connections: 6, Worker: true,
		Durability: durability})
	if err != nil {
		return err
	}
	defer db.Close()
	app := platformtest.Application()
	worker, err := server.New(server.Config{Database: db}, server.Application{Metadata: app,
		Rules: platformtest.Rules(app),
		Login: func(_ context.Context, _ *database.Database, user string) (session.User, error) {
			return session.User{ID: organisation, Organisation: organisation, Code: user}, nil
		}})
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

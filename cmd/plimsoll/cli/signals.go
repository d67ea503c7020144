package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Interruptible gives a context that the first Ctrl-C or SIGTERM cancels, so that the
// command stops cleanly. The second ends the process at once; the kernel then ends
// what it started, for every child is tied to its parent's life.
func Interruptible() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(ExitInterrupted)
	}()
	return ctx
}

// Command worker is the worker of tests by itself: test/go builds it without the race detector, for suites under it.
package main

import (
	"fmt"
	"os"

	"plimsoll/lab/run/worker/workertest"
)

func main() {
	workertest.Become()
	fmt.Fprintln(os.Stderr, "worker: set "+workertest.Variable)
	os.Exit(2)
}

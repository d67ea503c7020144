// Plimsoll finds how many users a business application on PostgreSQL carries
// before they stop being satisfied.
package main

import (
	"os"

	"plimsoll/cmd/plimsoll/cli"
)

func main() {
	os.Exit(cli.Exec(cli.Interruptible(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

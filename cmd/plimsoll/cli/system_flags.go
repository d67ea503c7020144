package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/lab/run"
)

// systemOptions are the system that a load is put on: a database, and the application servers on it.
type systemOptions struct {
	target
	shapeOptions
	engine, url string
	workers     int
}

func (a *app) systemFlags(c *cobra.Command, o *systemOptions) {
	fs := c.Flags()
	config.Count(fs, &o.workers, "workers", run.WorkersDefault, 1, 64, "application-server processes to start")
	fs.StringVar(&o.url, "url", "", "`URL`s of application servers that run already, separated by commas; starts none")
	a.targetFlags(c, &o.target)
	engineFlag(c, &o.engine)
	shapeFlags(c, &o.shapeOptions)
}

// urls of the application servers that run already.
func (o systemOptions) urls() (all []string) {
	for _, u := range strings.Split(o.url, ",") {
		if u = strings.TrimSpace(u); u != "" {
			all = append(all, strings.TrimRight(u, "/"))
		}
	}
	return all
}

// program is this program, which starts itself as a worker or an agent.
func program() string {
	self, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return self
}

// serveCommand starts this same program as a worker on a port of its own.
func serveCommand() []string {
	return []string{program(), "serve", "--listen", "127.0.0.1:0", "--jobs", "0", "--json"}
}

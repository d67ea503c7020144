package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/erp/fill"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/prove/rig"
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

// serveCommand starts this same program as a worker on a port of its own.
func serveCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return []string{self, "serve", "--listen", "127.0.0.1:0", "--jobs", "0", "--json"}, nil
}

// prepareDatabase gives the ERP's database, creates what is missing, and returns how to stop what it started.
func (a *app) prepareDatabase(ctx context.Context, o systemOptions) (dsn, profile string, takeDown func() error,
	err error) {
	if o.foreign() {
		return o.dsn, "", func() error { return nil }, nil
	}
	if o.url != "" {
		// Workers that run already have a base; one created here would be another.
		dsn, takeDown, err := a.lockForLoad(ctx, o.target,
			"--url needs the database of those workers: --dsn, or a cluster that runs")
		return dsn, "", takeDown, err
	}
	name, err := a.pickOrName(ctx, o.cluster, o.engine)
	if err != nil {
		return "", "", nil, err
	}
	r, err := rig.Up(ctx, rig.Options{
		Clusters: a.clusters(), Name: name, Spec: cluster.Spec{Engine: specEngine(name, o.engine)},
		Fill: fill.Options{Progress: a.fillProgress()}, Say: a.meter.Say,
	})
	a.meter.End()
	if err != nil {
		return "", "", nil, err
	}
	return r.DSN().Secret(), r.Profile(), r.Close, nil
}

// prepareFor is prepareDatabase for what the scenario needs: without the ERP nothing is created.
func (a *app) prepareFor(ctx context.Context, o systemOptions, s *scenario.Scenario) (dsn, profile string,
	takeDown func() error, err error) {
	if s.Application == scenario.ERP {
		return a.prepareDatabase(ctx, o)
	}
	nothing := func() error { return nil }
	if o.foreign() || !s.NeedsDatabase() {
		return o.dsn, "", nothing, nil
	}
	dsn, takeDown, err = a.lockForLoad(ctx, o.target,
		"the scenario speaks to a database: name it with --dsn, or start a cluster with 'plimsoll up'")
	return dsn, "", takeDown, err
}

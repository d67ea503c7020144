package cli

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/lab/diagnose/layout"
	"plimsoll/lab/system"
)

type topologyOptions struct {
	target
	dir, root string
	within    time.Duration
	compare   bool
}

func (a *app) addTopology(root *cobra.Command) {
	var o topologyOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "topology [FILE FILE] [flags]",
		Short: "Show this machine as a database uses it, measure it, and name what is odd",
		Long: `Show sockets, cores, threads, caches, NUMA nodes, hypervisor and clock source as the kernel
does, how PostgreSQL uses them, and what probes measure: access to memory from processors of
each node, a cache line between pairs of processors, reading the clock, a sleep, a flush, and
the round trip to the database. Each item has a verdict:

  trustworthy    nothing contradicts it
  odd            it contradicts itself or a probe, or no real hardware looks like that
  harmful        it costs speed here
  not measured   with the reason

The probes end after --within. They write one temporary file to --dir (a local cluster's folder,
if there is one) and nothing to the database. --root reads the files of another machine, as a
copy of its /proc and /sys; nothing is probed then.

--compare compares two files that --json wrote, item by item.`,
		Example: `  plimsoll topology
  plimsoll topology --dsn postgres://monitor@db.example/erp --dir /var/lib/postgresql
  plimsoll topology --json > here.json
  plimsoll topology --compare good.json here.json`,
		Args: arguments(0, 2, "two files"),
	}, func(ctx context.Context, args []string) error { return a.topology(ctx, args, o) })
	fs := c.Flags()
	fs.BoolVar(&o.compare, "compare", false, "compare two files that --json wrote; nothing is probed")
	fs.StringVar(&o.dir, "dir", "", "`FOLDER` on the device of the server's data, to measure flushes")
	fs.StringVar(&o.root, "root", "/", "read /proc and /sys below this `FOLDER`")
	config.Span(fs, &o.within, "within", layout.WithinDefault, time.Second, "time for all probes")
	config.FlagOnly(fs, "compare", "dir", "root", "within")
	a.targetFlags(c, &o.target)
}

func (a *app) topology(ctx context.Context, args []string, o topologyOptions) error {
	if o.compare {
		return a.compareTopologies(args)
	}
	if len(args) > 0 {
		return problem.New(problem.Usage, errors.New("files apply only to --compare"),
			"plimsoll topology --compare "+args[0]+" …")
	}
	options := layout.Options{Root: o.root, Dir: o.dir, Within: o.within, Software: software().Version,
		Progress: func(share float64, left time.Duration, note string) { a.meter.UpdateLeft(share, left, note) }}
	if err := a.topologyServer(ctx, o, &options); err != nil {
		return err
	}
	a.meter.Phase("topology", 1, "")
	r, err := layout.Take(ctx, options)
	a.meter.End()
	if r == nil {
		return err
	}
	return errors.Join(err, a.answer(r, r.Text))
}

// topologyServer is the named one, or a local cluster if one runs. A machine without a server has a topology, too.
func (a *app) topologyServer(ctx context.Context, o topologyOptions, options *layout.Options) error {
	if o.foreign() {
		options.DSN = o.dsn
		return nil
	}
	if o.root != "/" {
		return nil
	}
	c, err := a.clusters().Running(ctx, o.cluster)
	if err != nil {
		if o.cluster != "" {
			return err
		}
		return nil
	}
	options.DSN, _ = system.DatabaseOf(ctx, c) // without an answer, the one that every cluster has
	if options.Dir == "" {
		options.Dir = filepath.Dir(c.DataDir()) // next to the data, not in it
	}
	return nil
}

func (a *app) compareTopologies(args []string) error {
	if len(args) != 2 {
		return problem.New(problem.Usage, errors.New("--compare needs two files"),
			"create them with: plimsoll topology --json > FILE")
	}
	one, err := layout.Load(args[0])
	if err != nil {
		return err
	}
	other, err := layout.Load(args[1])
	if err != nil {
		return err
	}
	c := layout.Compare(args[0], one, args[1], other)
	return a.answer(c, c.Text)
}

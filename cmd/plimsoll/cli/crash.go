package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/lab/crash"
	"plimsoll/lab/crash/image"
	"plimsoll/lab/postgres/cluster"
	"plimsoll/lab/postgres/cluster/profile"
	"plimsoll/lab/postgres/storage"
	"plimsoll/platform/problem"
)

type crashOptions struct {
	powerCut                                                      bool
	kill, stop, durability, names, engine, flushLatency, duration string
	set                                                           []string
	seeds, seed, sessions                                         int
}

func (a *app) addCrash(root *cobra.Command) {
	var o crashOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "crash [flags]",
		Short: "Cut the power of a server, kill or stop it under load, and count what is lost",
		Long: `Make a cluster, put sessions on it that post small documents, and end it by a power cut, a
kill or a stop. Then let it recover, look for damage (amcheck, totals = documents), and
count what it had acknowledged and lost: operations, milliseconds, bytes of WAL. The
cluster is removed again; no other cluster is touched.

A power cut needs neither root nor a virtual machine. A preloaded library writes down all
that the server writes and flushes. From one load each seed chooses a moment and rebuilds
the data directory as a power cut then may leave it: what was flushed is there; of the
rest any part may be, torn at 512 or 4096 bytes and in any order. The server recovers
without the library.

A kill is not a power cut: the system keeps what the server has written, so even
fsync=off loses nothing.

Exit code 3 when something acknowledged as durable is lost, or data are damaged. With
--durability async a loss is counted but allowed, except after an orderly stop; with
unsafe (fsync=off) both loss and damage are.`,
		Example: `  plimsoll crash --power-cut --seeds 50
  plimsoll crash --power-cut --durability async --flush-latency 2ms
  plimsoll crash --power-cut --set full_page_writes=off
  plimsoll crash --kill backend --seeds 5
  plimsoll crash --stop orderly --durability async --seeds 3`,
	}, func(ctx context.Context, _ []string) error { return a.crash(ctx, o) })
	fs := c.Flags()
	fs.BoolVar(&o.powerCut, "power-cut", false, "cut the power: one load, and a cut and a recovery for each seed")
	config.Choice(fs, &o.kill, "kill", "", []string{"backend", "all"},
		"SIGKILL: to one backend, or to all processes of the server; one load for each seed")
	config.Choice(fs, &o.stop, "stop", "", []string{"immediate", "orderly"}, "stop the server; one load for each seed")
	config.Choice(fs, &o.durability, "durability", string(crash.Sync),
		[]string{string(crash.Sync), string(crash.Async), string(crash.Unsafe)},
		"commits are flushed before they are acknowledged, or after, or never (fsync=off)")
	config.Count(fs, &o.seeds, "seeds", crash.SeedsDefault, 1, mostOfAnything, "power cuts, kills or stops")
	config.Count(fs, &o.seed, "seed", 1, 0, mostOfAnything, "the first random seed")
	config.Count(fs, &o.sessions, "sessions", crash.SessionsDefault, 1, 1000, "sessions that post at the same time")
	fs.StringVar(&o.duration, "duration", crash.DurationDefault.String(), "length of a load")
	fs.StringVar(&o.flushLatency, "flush-latency", "0", "what a flush takes at least, such as 2ms")
	config.Choice(fs, &o.names, "names", string(image.Ordered), []string{string(image.Ordered), string(image.Strict)},
		"names of files after a power cut: in order, as ext4 and XFS keep them, or only those whose folder was "+
			"flushed, which is all that POSIX promises and less than PostgreSQL relies on")
	fs.StringArrayVar(&o.set, "set", nil, "`SETTING=VALUE` of the server; may be repeated")
	engineFlag(c, &o.engine)
	c.MarkFlagsMutuallyExclusive("power-cut", "kill", "stop")
	c.MarkFlagsOneRequired("power-cut", "kill", "stop")
	config.FlagOnly(fs, "power-cut", "kill", "stop", "seed", "seeds", "set", "names")
}

func (o crashOptions) way() crash.Way {
	switch {
	case o.kill != "":
		return crash.Way("kill-" + o.kill)
	case o.stop != "":
		return crash.Way("stop-" + o.stop)
	}
	return crash.PowerCut
}

// crashMemory is what the cluster's tuned profile plans with: crashes happen to small servers as to large ones.
const crashMemory = "512MB"

func (o crashOptions) options() (options crash.Options, err error) {
	duration, err := time.ParseDuration(o.duration)
	if err != nil || duration <= 0 {
		return options, problem.New(problem.Usage, fmt.Errorf("--duration %q is no duration", o.duration), "like 3s")
	}
	latency, err := storage.ParseLatency(o.flushLatency)
	if err != nil {
		return options, err
	}
	spec := cluster.Spec{Engine: o.engine, Memory: crashMemory}
	for _, text := range o.set {
		name, value, found := strings.Cut(text, "=")
		if !found {
			return options, problem.New(problem.Usage, fmt.Errorf("--set %q has no =", text),
				"like --set full_page_writes=off")
		}
		spec.Settings = append(spec.Settings, profile.Setting{Name: name, Value: value, Reason: "--set"})
	}
	return crash.Options{Spec: spec, Way: o.way(), Durability: crash.Durability(o.durability), Sessions: o.sessions,
		Duration: duration, Seeds: o.seeds, Seed: uint64(o.seed), Model: image.Model(o.names),
		FlushLatency: latency}, nil
}

func (a *app) crash(ctx context.Context, o crashOptions) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	options.Clusters = a.clusters()
	a.meter.Phase(string(options.Way), float64(options.Seeds), "")
	options.Progress = func(done, _ int, what string) { a.meter.Update(float64(done), what) }
	report, err := crash.Run(ctx, options)
	a.meter.End()
	if err != nil {
		return err
	}
	if a.json {
		err = a.emit(report)
	} else {
		err = report.Write(a.stdout)
	}
	if err != nil || !report.Broken() {
		return err
	}
	return problem.New(problem.Threshold, fmt.Errorf("%d acknowledged operations are lost, "+
		"%d recoveries have damage", report.Lost(), report.Damaged()), "")
}

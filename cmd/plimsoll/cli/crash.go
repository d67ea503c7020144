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
	"plimsoll/platform/shape"
)

type crashOptions struct {
	powerCut                                                            bool
	kill, stop, durability, names, engine, flushLatency, duration, kept string
	load, shape                                                         string
	set                                                                 []string
	seeds, seed, sessions, workers, perLoad                             int
	stopAfter                                                           time.Duration
}

func (a *app) addCrash(root *cobra.Command) {
	var o crashOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "crash [flags]",
		Short: "Cut the power of a server, kill or stop it under load, and count what is lost",
		Long: `Make a cluster, put a load on it, and end it by a power cut, a kill or a stop. Then let it
recover, look for damage (amcheck, audit, temporary files and tables that stayed), and count
what it had acknowledged and lost. The cluster is removed again; no other cluster is touched.
What a killed 'plimsoll crash' left, the next one removes.

--load erp: users carry out the ERP's key operations over HTTP, at workers with --durability.
An operation is acknowledged by its idempotency key. What readers were shown must not be lost
either. --load sql: sessions write small documents; quicker, and only sync, async and unsafe.

A power cut needs neither root nor a virtual machine. A preloaded library writes down all
that the server writes and flushes. From one load each seed chooses a moment and rebuilds
the data directory as a power cut then may leave it: what was flushed is there; of the
rest any part may be, torn at 512 or 4096 bytes and in any order. The server recovers
without the library.

A kill is not a power cut: the system keeps what the server has written, so even
fsync=off loses nothing. With --load erp the users work on through all kills: what was cut
off is repeated under its key, and must be done exactly once.

--keep FILE makes a long count in pieces: it keeps what each seed showed, and the same command
goes on with the next seed. --for ends a piece.

Exit code 3 when something acknowledged as durable is lost, or data are damaged. With
--durability async a loss is counted but allowed, except after an orderly stop; with
unsafe (fsync=off) both loss and damage are.`,
		Example: `  plimsoll crash --power-cut --seeds 50
  plimsoll crash --power-cut --durability durable-ack --seeds 1000 --keep cuts.jsonl --for 10m
  plimsoll crash --power-cut --durability async --flush-latency 2ms
  plimsoll crash --power-cut --load sql --set full_page_writes=off
  plimsoll crash --kill backend --durability durable-ack --seeds 5
  plimsoll crash --kill worker --seeds 5
  plimsoll crash --stop orderly --durability async --seeds 3`,
	}, func(ctx context.Context, _ []string) error { return a.crash(ctx, o) })
	fs := c.Flags()
	fs.BoolVar(&o.powerCut, "power-cut", false, "cut the power: one load, and a cut and a recovery for each seed")
	config.Choice(fs, &o.kill, "kill", "", []string{"backend", "all", "worker"},
		"SIGKILL: to one backend, to all processes of the server, or to a worker of the ERP")
	config.Choice(fs, &o.stop, "stop", "", []string{"immediate", "orderly"}, "stop the server")
	config.Choice(fs, &o.durability, "durability", string(crash.Sync),
		words([]crash.Durability{crash.Sync, crash.Group, crash.DurableAck, crash.Async, crash.Unsafe}),
		"commits are flushed before they are acknowledged (sync; group: several at once; durable-ack: without locks), "+
			"or after (async), or never (unsafe: fsync=off)")
	config.Choice(fs, &o.load, "load", string(crash.ERP), words([]crash.Load{crash.ERP, crash.SQL}),
		"operations of the ERP over HTTP, or small documents by SQL")
	config.Choice(fs, &o.shape, "shape", string(shape.Tuned), words(shape.Names), "of the ERP's workers; classic and "+
		"tuned use temp tables")
	config.Count(fs, &o.workers, "workers", crash.WorkersDefault, 1, 16, "workers of the ERP")
	config.Count(fs, &o.seeds, "seeds", crash.SeedsDefault, 1, mostOfAnything, "power cuts, kills or stops")
	config.Count(fs, &o.seed, "seed", 1, 0, mostOfAnything, "the first random seed")
	config.Count(fs, &o.sessions, "sessions", crash.SessionsDefault, 1, 1000, "sessions that work at the same time")
	config.Count(fs, &o.perLoad, "per-load", crash.PerLoadDefault, 1, mostOfAnything, "power cuts that share a load")
	fs.StringVar(&o.duration, "duration", crash.DurationDefault.String(), "length of a load, or between two kills")
	fs.StringVar(&o.kept, "keep", "", "`FILE` that keeps what each seed showed, and to go on from")
	config.Span(fs, &o.stopAfter, "for", 0, 0, "begin no further seed after this time; 0: try all seeds")
	fs.StringVar(&o.flushLatency, "flush-latency", "0", "what a flush takes at least, such as 2ms")
	config.Choice(fs, &o.names, "names", string(image.Ordered), []string{string(image.Ordered), string(image.Strict)},
		"names of files after a power cut: in order, as ext4 and XFS keep them, or only those whose folder was "+
			"flushed, which is all that POSIX promises and less than PostgreSQL relies on")
	fs.StringArrayVar(&o.set, "set", nil, "`SETTING=VALUE` of the server; may be repeated")
	engineFlag(c, &o.engine)
	c.MarkFlagsMutuallyExclusive("power-cut", "kill", "stop")
	c.MarkFlagsOneRequired("power-cut", "kill", "stop")
	config.FlagOnly(fs, "power-cut", "kill", "stop", "seed", "seeds", "set", "names", "load", "per-load", "keep", "for")
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
		FlushLatency: latency, Load: crash.Load(o.load), Shape: shape.Name(o.shape), Workers: o.workers,
		PerLoad: o.perLoad, Kept: o.kept, For: o.stopAfter}, nil
}

func (a *app) crash(ctx context.Context, o crashOptions) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	options.Clusters = a.clusters()
	if options.Serve, err = serveCommand(); err != nil {
		return err
	}
	a.meter.Phase(string(options.Way), float64(options.Seeds), "")
	options.Progress = func(p crash.Progress) { a.meter.UpdateLeft(float64(p.Done), p.Left, p.What) }
	report, err := crash.Run(ctx, options)
	a.meter.End()
	if err != nil && (report == nil || len(report.Cuts) == 0) {
		return err
	}
	var shown error
	if a.json {
		shown = a.emit(report)
	} else {
		shown = report.Write(a.stdout)
	}
	switch {
	case err != nil:
		return err
	case shown != nil || !report.Broken():
		return shown
	}
	return problem.New(problem.Threshold, fmt.Errorf("%d acknowledged operations are lost, "+
		"%d recoveries have damage", report.Lost(), report.Damaged()), "")
}

package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/storage"
	"plimsoll/ground/problem"
	"plimsoll/lab/crash"
	"plimsoll/lab/crash/image"
	"plimsoll/platform/worker/shape"
)

type crashOptions struct {
	powerCut, promote                                         bool
	standby                                                   string
	kill, stop, durability, names, engine, flushLatency, kept string
	load, shape                                               string
	set                                                       []string
	seeds, seed, sessions, workers, perLoad, recoveries       int
	duration, stopAfter                                       time.Duration
	details                                                   bool
	given                                                     *pflag.FlagSet
}

func (a *app) addCrash(root *cobra.Command) {
	var o crashOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "crash [flags]",
		Short: "Simulate a power cut, kill or stop a server under load, and count what is lost",
		Long: `Create a cluster for the test, put a load on it, and end the server by a simulated power cut, a
kill or a stop. Then recover it, look for damage (amcheck, audit, leftover temporary files and
tables), and count the acknowledged operations that are lost. The cluster is removed at the
end; no other is touched. If the command itself is killed, the next one removes what it left.

--load erp: users carry out the ERP's key operations over HTTP, on workers with --durability.
Operations are identified by their idempotency keys. What readers were shown must not be lost
either. --load sql: sessions write small documents: quicker, but only sync, async and unsafe.

The power cut is simulated: it needs neither root nor a virtual machine. A preloaded library
records every write and flush of the server during one load. Each seed picks a moment of that
load and rebuilds the data directory as a power cut at that moment may leave it: all that was
flushed, and any part of the rest, in any order, torn at 512 or 4096 bytes. A new, changed or
removed file name survives as --names says. The server then recovers without the library.
Cuts of one load are examined side by side (--recoveries).

A kill is milder than a power cut: the operating system keeps what the server has written, so
even fsync=off loses nothing. With --load erp the users continue through all kills: an
interrupted operation is repeated under its key, and must be carried out exactly once.

--promote gives the server a standby and ends the server for good: the standby is promoted and
examined. A power cut then cuts both, and what is left is the standby's disk. With --standby
sync commits wait for the standby and nothing acknowledged may be lost; with async the loss is
counted. With --load erp and a kill or a stop the users continue at the promoted server.

--keep FILE splits a long count into parts: it stores the result of each seed, and the same
command continues with the next seed. --for ends a part.

Exit code 3: an operation acknowledged as durable is lost, or data are damaged. --durability
async allows loss, except after a planned stop; unsafe (fsync=off) allows loss and damage.`,
		Example: `  plimsoll crash --power-cut --seeds 50
  plimsoll crash --power-cut --durability durable-ack --seeds 1000 --keep cuts.jsonl --for 10m
  plimsoll crash --power-cut --durability async --flush-latency 2ms
  plimsoll crash --power-cut --load sql --set full_page_writes=off
  plimsoll crash --kill backend --durability durable-ack --seeds 5
  plimsoll crash --kill worker --seeds 5
  plimsoll crash --kill all --promote --durability durable-ack --seeds 5
  plimsoll crash --power-cut --promote --standby async --load sql
  plimsoll crash --stop orderly --durability async --seeds 3`,
	}, func(ctx context.Context, _ []string) error { return a.crash(ctx, o) })
	fs := c.Flags()
	o.given = fs
	fs.BoolVar(&o.powerCut, "power-cut", false, "simulate power cuts: one load, then a cut and a recovery for each "+
		"seed")
	config.Choice(fs, &o.kill, "kill", "", []string{"backend", "all", "worker"},
		"send SIGKILL to one backend, to all processes of the server, or to a worker of the ERP")
	config.Choice(fs, &o.stop, "stop", "", []string{"immediate", "orderly", "smart", "down", "worker"},
		"stop the server at once (immediate), as pg_ctl -m fast (orderly) or -m smart does, by 'plimsoll down', or "+
			"send SIGTERM to a worker of the ERP")
	fs.BoolVar(&o.promote, "promote", false, "the server does not come back: its standby is promoted")
	config.Choice(fs, &o.standby, "standby", "sync", []string{"sync", "async"}, "with --promote: whether commits wait "+
		"for the standby")
	config.Choice(fs, &o.durability, "durability", string(crash.Sync),
		words([]crash.Durability{crash.Sync, crash.Group, crash.DurableAck, crash.Async, crash.Unsafe}),
		"commits are flushed before they are acknowledged (sync; group: several together; durable-ack: after the "+
			"locks are released), later (async) or never (unsafe: fsync=off)")
	config.Choice(fs, &o.load, "load", string(crash.ERP), words([]crash.Load{crash.ERP, crash.SQL}),
		"operations of the ERP over HTTP, or small documents by SQL")
	config.Choice(fs, &o.shape, "shape", string(shape.Tuned), words(shape.Names), "shape of the ERP; classic and "+
		"tuned use temp tables")
	config.Count(fs, &o.workers, "workers", crash.WorkersDefault, 1, 16, "workers of the ERP")
	config.Count(fs, &o.seeds, "seeds", crash.SeedsDefault, 1, mostOfAnything, "number of power cuts, kills or stops")
	config.Count(fs, &o.seed, "seed", 1, 0, mostOfAnything, "the first random seed")
	config.Count(fs, &o.sessions, "sessions", crash.SessionsDefault, 1, 1000, "concurrent sessions")
	config.Count(fs, &o.perLoad, "per-load", crash.PerLoadDefault, 1, mostOfAnything, "power cuts per load")
	config.Count(fs, &o.recoveries, "recoveries", 0, 0, 64, "concurrent recoveries after power cuts; "+
		"0: one per core")
	config.Span(fs, &o.duration, "duration", crash.DurationDefault, time.Millisecond, "length of a load, or the time "+
		"between two kills")
	fs.StringVar(&o.kept, "keep", "", "`FILE` that stores the result of each seed, to continue later")
	config.Span(fs, &o.stopAfter, "for", 0, 0, "start no further seed after this time; 0: try all seeds")
	fs.StringVar(&o.flushLatency, "flush-latency", "0", "minimum time of a flush, such as 2ms; 0: what the disk takes")
	config.Choice(fs, &o.names, "names", string(image.Strict), words(image.Models),
		"which changes of file names survive a power cut: strict: those whose folder was flushed, and the first name "+
			"of a file for which fsync was called; ordered: all before a flush that commits the journal of ext4 or "+
			"XFS; posix: those whose folder was flushed, less than PostgreSQL relies on")
	fs.StringArrayVar(&o.set, "set", nil, "`SETTING=VALUE` for the server; may be repeated")
	fs.BoolVar(&o.details, "details", false, "list all rounds and all damage")
	engineFlag(c, &o.engine)
	c.MarkFlagsMutuallyExclusive("power-cut", "kill", "stop")
	c.MarkFlagsOneRequired("power-cut", "kill", "stop")
	config.FlagOnly(fs, "details", "promote", "standby")
	config.FlagOnly(fs, "power-cut", "kill", "stop", "seed", "seeds", "set", "names", "load", "per-load", "recoveries",
		"keep", "for")
}

// idle flags of an end that is no power cut, of a server without a standby, and of a load without the ERP.
func (o crashOptions) idle() []idle {
	return []idle{
		{!o.powerCut, []string{"names", "per-load", "recoveries"}, "has no effect without --power-cut", "leave it out"},
		{!o.promote, []string{"standby"}, "has no effect without --promote", "leave it out, or add --promote"},
		{o.load != string(crash.ERP), []string{"shape", "workers"}, "has no effect with --load " + o.load,
			"leave it out"},
	}
}

func (o crashOptions) way() crash.Ending {
	switch {
	case o.kill != "":
		return crash.Ending("kill-" + o.kill)
	case o.stop != "":
		return crash.Ending("stop-" + o.stop)
	}
	return crash.PowerCut
}

// crashMemory is what the cluster's tuned profile assumes: small servers crash as large ones do.
const crashMemory = "512MB"

func (o crashOptions) options() (options crash.Options, err error) {
	latency, err := storage.ParseLatency(o.flushLatency)
	if err != nil {
		return options, err
	}
	spec := cluster.Spec{Engine: o.engine, Memory: crashMemory}
	for _, text := range o.set {
		name, value, found := strings.Cut(text, "=")
		if !found {
			return options, problem.New(problem.Usage, fmt.Errorf("--set %q has no =", text),
				"such as --set full_page_writes=off")
		}
		spec.Settings = append(spec.Settings, profile.Setting{Name: name, Value: value, Reason: "--set"})
	}
	return crash.Options{Spec: spec, Ending: o.way(), Durability: crash.Durability(o.durability), Sessions: o.sessions,
		Duration: o.duration, Seeds: o.seeds, Seed: uint64(o.seed), Model: image.Model(o.names),
		FlushLatency: latency, Load: crash.Load(o.load), Shape: shape.Name(o.shape), Workers: o.workers,
		Promote: o.promote, Asynchronous: o.promote && o.standby == "async",
		PerLoad: o.perLoad, Recoveries: o.recoveries, Kept: o.kept, For: o.stopAfter}, nil
}

func (a *app) crash(ctx context.Context, o crashOptions) error {
	if err := refuseIdle(o.given, o.idle()...); err != nil {
		return err
	}
	options, err := o.options()
	if err != nil {
		return err
	}
	options.Clusters, options.Serve = a.clusters(), serveCommand()
	a.meter.Phase(string(options.Ending), float64(options.Seeds), "")
	options.Progress = func(p crash.Progress) { a.meter.UpdateLeft(float64(p.Done), p.Left, p.What) }
	report, err := crash.Run(ctx, options)
	a.meter.End()
	if err != nil && (report == nil || len(report.Cuts) == 0) {
		return err
	}
	text := report.Summary
	if o.details {
		text = report.Write
	}
	shown := a.answer(report, text)
	switch {
	case err != nil:
		return err
	case shown != nil || !report.Broken():
		return shown
	}
	return problem.New(problem.Threshold, fmt.Errorf("%d acknowledged operations are lost, "+
		"%d recoveries have damage", report.Lost(), report.Damaged()), "")
}

package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/lab/postgres/cluster"
	"plimsoll/lab/postgres/storage"
	"plimsoll/lab/prove/commits"
	"plimsoll/platform/problem"
)

type commitsOptions struct {
	latencies, engine, memory     string
	sessions, connections, rounds int
	duration                      time.Duration
}

func (a *app) addCommits(root *cobra.Command) {
	var o commitsOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "commits [flags]",
		Short: "Measure the modes of commit on hot and on spread rows",
		Long: `Measure sync, group, durable-ack and async against each other, in turns on one server that is
made for it and removed. Sessions write a row and change a total, and begin again when that
is acknowledged: all the same total (hot), or each another one (spread). Flushes take
at least --flush-latency, and what the disk takes.

With 2 ms among the latencies it judges durable-ack by the worst turn, exit code 3 when a
criterion is not met: on hot rows 5 times sync, on spread rows 0.9 times async; and with as
many sessions as connections, an acknowledgement within a flush and 2 ms for 95 %. async is
measured twice, to show how far equal sides differ. The machine should do nothing else.`,
		Example: `  plimsoll commits
  plimsoll commits --sessions 16 --connections 16 --flush-latency 2ms
  plimsoll commits --flush-latency 0.1ms,1ms,2ms,5ms --rounds 6 --json`,
	}, func(ctx context.Context, _ []string) error { return a.commits(ctx, o) })
	fs := c.Flags()
	fs.StringVar(&o.latencies, "flush-latency", "2ms", "`LIST` of what a flush takes at least")
	config.Count(fs, &o.sessions, "sessions", commits.SessionsDefault, 1, 10000, "sessions that work at the same time")
	config.Count(fs, &o.connections, "connections", commits.ConnectionsDefault, 1, 90, "connections they share")
	config.Count(fs, &o.rounds, "rounds", commits.RoundsDefault, 1, 100, "turns of each mode")
	config.Span(fs, &o.duration, "duration", commits.DurationDefault, time.Millisecond, "measured time of a turn")
	fs.StringVar(&o.memory, "memory", "2GB", "share of the machine's memory that the server plans with")
	engineFlag(c, &o.engine)
	config.FlagOnly(fs, "rounds")
}

func (a *app) commits(ctx context.Context, o commitsOptions) error {
	options := commits.Options{Clusters: a.clusters(), Sessions: o.sessions, Connections: o.connections,
		Duration: o.duration, Rounds: o.rounds,
		Spec: cluster.Spec{Engine: o.engine, Memory: o.memory, SocketOnly: true}}
	for _, text := range strings.Split(o.latencies, ",") {
		latency, err := storage.ParseLatency(text)
		if err != nil {
			return err
		}
		options.Latencies = append(options.Latencies, latency)
	}
	a.meter.Phase("commits", 0, "")
	options.Progress = func(done, all int, what string) {
		a.meter.Grow(float64(all))
		a.meter.Update(float64(done), what)
	}
	report, err := commits.Run(ctx, options)
	a.meter.End()
	if err != nil {
		return err
	}
	if a.json {
		err = a.emit(report)
	} else {
		err = report.Write(a.stdout)
	}
	if err != nil || report.Met() {
		return err
	}
	return problem.New(problem.Threshold, errors.New("durable-ack does not keep what it promises"), "")
}

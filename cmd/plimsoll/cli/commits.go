package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/storage"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/commits"
)

type commitsOptions struct {
	latencies, engine, memory     string
	sessions, connections, rounds int
	rate                          int
	duration                      time.Duration
}

func (a *app) addCommits(root *cobra.Command) {
	var o commitsOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "commits [flags]",
		Short: "Compare the modes of commit on hot and on spread rows",
		Long: `Compare sync, group, durable-ack and async, in turns, on one server that is created for this
and removed. Each session writes a row and changes a total, and starts again when that is
acknowledged. All change the same total (hot), or each its own (spread). A flush takes at
least --flush-latency.

If 2 ms is among the latencies, durable-ack is judged: at least 5 times the rate of sync on hot
rows, and at least 0.9 times the rate of async on spread rows, with the whole 95 % interval of
the ratio (which needs 4 rounds; 8 or more make it narrow). With as many sessions as
connections, p95 of an acknowledgement is in each turn at most 2 ms beyond that of sync on spread
rows. async is measured twice, to show how far equal modes differ. Nothing else should run on the
machine.

With --rate that many operations per second are due, spread over the sessions, and the time of
each begins when it is due, so falling behind is visible. Then durable-ack is judged by that
alone: at least 0.95 of the rate, and p95 at most 2 ms beyond that of sync on spread rows. Without
it each session begins when the last operation is acknowledged, and waits for processors.

Ctrl-C shows the turns so far, marked as incomplete and not judged.
Exit code 3: a criterion is not met.`,
		Example: `  plimsoll commits
  plimsoll commits --sessions 16 --connections 16 --flush-latency 2ms
  plimsoll commits --rate 500 --flush-latency 2ms
  plimsoll commits --flush-latency 0.1ms,1ms,2ms,5ms --rounds 6 --json`,
	}, func(ctx context.Context, _ []string) error { return a.commits(ctx, o) })
	fs := c.Flags()
	fs.StringVar(&o.latencies, "flush-latency", "2ms", "`LIST` of minimum times of a flush")
	config.Count(fs, &o.sessions, "sessions", commits.SessionsDefault, 1, 10000, "concurrent sessions")
	config.Count(fs, &o.connections, "connections", commits.ConnectionsDefault, 1, 90, "connections that they share")
	config.Count(fs, &o.rate, "rate", 0, 0, 1_000_000, "operations a second that are due; 0: as many as the server "+
		"bears")
	config.Count(fs, &o.rounds, "rounds", commits.RoundsDefault, 1, 100, "turns of each mode")
	config.Span(fs, &o.duration, "duration", commits.DurationDefault, time.Millisecond, "measured time of a turn")
	fs.StringVar(&o.memory, "memory", "2GB", "memory that the server may use, such as 50% or 2GB")
	engineFlag(c, &o.engine)
	config.FlagOnly(fs, "rounds", "rate")
}

func (a *app) commits(ctx context.Context, o commitsOptions) error {
	options := commits.Options{Clusters: a.clusters(), Sessions: o.sessions, Connections: o.connections,
		Duration: o.duration, Rounds: o.rounds, Rate: o.rate,
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
	if err = a.answer(report, report.Write); err == nil && report.Incomplete {
		return problem.New(problem.Interrupted, fmt.Errorf("stopped after %d of %d turns", report.TurnsDone,
			report.Turns), "")
	}
	if err != nil || report.Met() {
		return err
	}
	return problem.New(problem.Threshold, errors.New("durable-ack does not meet its criteria"), "")
}

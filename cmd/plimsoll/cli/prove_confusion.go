package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/confusion"
)

// proveConfusion tests the diagnosis and shows each trial as soon as it has ended.
func (a *app) proveConfusion(ctx context.Context, args []string, o proveOptions) error {
	if len(args) > 0 || o.all || o.self || o.archive != "" || o.from != "" {
		return problem.New(problem.Usage, errors.New("--confusion tests no claims"),
			"leave out --all, --self, --archive, --from and the claims")
	}
	options := confusion.Options{Clusters: a.clusters(), Rounds: o.repeat, Only: o.only, Kept: o.kept,
		Software: software().Version,
		Spec:     cluster.Spec{Engine: o.engine, Memory: "512MB", SocketOnly: true},
		Duration: o.duration, Set: o.set, Seed: uint64(o.seed), Trials: o.trials, Budget: o.budget,
		Step: func(share float64, left time.Duration, name string) { a.meter.UpdateLeft(share, left, name) },
		Ended: func(t confusion.Trial) {
			if !a.json {
				fmt.Fprintln(a.stdout, t.Line())
			}
		},
	}
	if o.cure != "" {
		return a.proveCure(ctx, o, options)
	}
	a.meter.Say("about %s", human.Roughly(options.Takes(ctx)))
	a.meter.Phase("confusion", 1, "")
	report, err := confusion.Run(ctx, options)
	a.meter.End()
	if len(report.Trials) == 0 {
		return err
	}
	if a.json {
		return errors.Join(err, a.emit(report))
	}
	return errors.Join(err, report.Text(a.stdout))
}

package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/costs"
)

type profileOptions struct {
	target
	engine       string
	rounds, seed int
	tweaks       bool
}

func (a *app) addProfile(root *cobra.Command) {
	var o profileOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "profile [flags]",
		Short: "Show what each key operation costs the database, by shape of the ERP",
		Long: `Carry out every key operation in each shape of the ERP, on the same documents, one at a time
and in turns. For each, count statements, round trips, temp tables (and empty ones), rows
written, log, latency, and processor time of server and worker. If both flavours of the engine
are built, measure both. Nothing else should run on the machine.`,
		Example: `  plimsoll profile
  plimsoll profile --cluster vanilla --rounds 100
  plimsoll profile --tweaks          classic with each of its four tweaks alone, too
  plimsoll profile --json | jq '.operations[0].sides'`,
	}, func(ctx context.Context, _ []string) error { return a.profile(ctx, o) })
	fs := c.Flags()
	config.Count(fs, &o.rounds, "rounds", costs.RoundsDefault, 1, 100_000,
		"runs of every operation in each shape")
	config.Count(fs, &o.seed, "seed", 1, 0, mostOfAnything, "random seed of the documents' contents")
	fs.BoolVar(&o.tweaks, "tweaks", false, "also measure the classic shape with each tweak alone")
	a.targetFlags(c, &o.target)
	engineFlag(c, &o.engine)
}

func (a *app) profile(ctx context.Context, o profileOptions) (err error) {
	here := a.local()
	sides, down, err := costs.Sides(ctx, here, o.target.system(o.engine), o.tweaks)
	a.meter.End()
	if err != nil {
		return err
	}
	defer func() {
		if ended := down(); err == nil {
			err = ended
		}
	}()
	a.meter.Phase("profile", 1, "")
	p, err := costs.Run(ctx, costs.Options{
		Serve: here.Serve, Sides: sides, Rounds: o.rounds, Seed: uint64(o.seed),
		Progress: func(share float64, left time.Duration, note string) { a.meter.UpdateLeft(share, left, note) },
	})
	a.meter.End()
	if err != nil {
		return err
	}
	err = a.answer(p, func(w io.Writer) error { return showProfile(w, p) })
	if err == nil && p.Partial {
		err = problem.New(problem.Interrupted, fmt.Errorf("stopped after %d rounds of %d", p.Rounds, o.rounds), "")
	}
	return err
}

func showProfile(to io.Writer, p *costs.Profile) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, op := range p.Operations {
		fmt.Fprintf(w, "\n%s\tstatements\tround trips\ttemp tables\tempty\trows\tlog KB\tp50 ms\tp95 ms\tserver "+
			"ms\tworker ms\n", op.ID)
		for _, f := range op.Sides {
			name := f.Server + " " + f.Shape
			if f.Refused > 0 {
				name += fmt.Sprintf(" (%d of %d refused)", f.Refused, f.Count)
			}
			fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%s\t%.1f\t%s\t%.2f\t%.2f\t%s\t%s\n", name, f.Statements, f.RoundTrips,
				f.TempTables,
				known(f.EmptyShare, 100, "%.0f %%"), f.Rows, known(f.WALBytes, 1.0/1024, "%.1f"), f.LatencyMS,
				f.LatencyP95, known(f.ServerMS, 1, "%.2f"), known(f.WorkerMS, 1, "%.2f"))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(to, strings.TrimSpace(fmt.Sprintf(`
%d rounds, every side one user on one connection, in turns. Counts are means, log and latency medians; server ms and
worker ms are processor time per operation. Latency is the user's, over HTTP.`, p.Rounds)))
	return err
}

// known writes a figure, or a dash for one that is not known.
func known(v *float64, times float64, format string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v*times)
}

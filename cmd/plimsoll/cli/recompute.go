package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/lab/run/agents"
	"plimsoll/lab/view/samples"
)

func (a *app) addRecompute(root *cobra.Command) {
	var against string
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "recompute FILE... [flags]",
		Short: "Recompute a run's figures from its individual operations",
		Long: `Compute a run's figures again from the file that 'plimsoll run --samples FILE' wrote, one row
for each operation: counts, Apdex, percentiles, rate, lag of the generator. It shares no code
with 'plimsoll run'. --against compares the result with the run's own figures: counts must be
equal, percentiles must agree within 0.2 % (histograms are exact to 0.1 %), ends of intervals
within a third of their width. Standstills, availability and the generator's own waits are
compared too. Exit code 3: a figure differs.

Each agent writes its own file; name them all. If the process that wrote a file was killed, its
rows so far are read from FILE.part next to it.

Samples do not contain disturbances, processors, memory, cost of statements, audit and
reconciliation.`,
		Example: `  plimsoll run --users 1000 --samples run.parquet
  plimsoll recompute run.parquet --against latest
  plimsoll recompute run.1.parquet run.2.parquet run.3.parquet --against latest`,
		Args: arguments(1, agents.AgentsMax, "a file, or one of each agent"),
	}, func(_ context.Context, args []string) error { return a.recompute(args, against) })
	fs := c.Flags()
	fs.StringVar(&against, "against", "", "compare with this `RUN`, or a file of its JSON")
	config.FlagOnly(fs, "against")
}

// recomputed is the JSON.
type recomputed struct {
	*samples.Figures
	Differences []samples.Difference `json:"differences,omitempty"`
}

func (a *app) recompute(paths []string, against string) error {
	figures, err := samples.Recompute(paths...)
	if err != nil {
		return problem.New(problem.Usage, err, "name a file that 'plimsoll run --samples FILE' wrote")
	}
	all := recomputed{Figures: figures}
	if against != "" {
		if all.Differences, err = a.differences(figures, against); err != nil {
			return err
		}
	}
	if err = a.answer(all, figures.Text); err != nil || against == "" {
		return err
	}
	if n := len(all.Differences); n > 0 {
		d := all.Differences[0]
		return problem.New(problem.Threshold, fmt.Errorf("%d figures differ; %s: recomputed %.6g, the run says %.6g", n,
			d.Figure, d.Recomputed, d.Printed), "--json lists them all")
	}
	a.meter.Say("all figures match run %s", figures.Run)
	return nil
}

func (a *app) differences(figures *samples.Figures, against string) ([]samples.Difference, error) {
	r, err := a.stored().Run(against)
	if err != nil {
		return nil, err
	}
	if figures.CutAtS != nil {
		return nil, problem.New(problem.Usage, errors.New("a process that wrote the samples died, so they end "+
			"at another moment than the figures of the run"), "leave out --against")
	}
	if r.ID != figures.Run {
		return nil, problem.New(problem.Usage, fmt.Errorf("the file holds run %s, not %s", figures.Run, r.ID),
			"--against "+figures.Run)
	}
	text, err := json.Marshal(r)
	var printed samples.Printed
	if err := errors.Join(err, json.Unmarshal(text, &printed)); err != nil {
		return nil, err
	}
	return figures.Against(printed), nil
}

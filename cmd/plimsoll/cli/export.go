package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/lab/view/archive"
	"plimsoll/lab/view/export"
)

// Words of export.
const (
	exportSeries, exportOperations = "series", "operations"
	exportCSV, exportParquet       = "csv", "parquet"
)

func (a *app) addExport(root *cobra.Command) {
	var subject, as, out, file string
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "export [RUN|FILE]... [flags]",
		Short: "Write a run's figures as CSV or Parquet, or whole runs as one archive",
		Long: `Write the figures of a run as a table for other programs: one row per second (series), or one
row per key operation with a histogram in units of its target (operations). Values that were
not measured are empty. CSV goes to stdout unless --out names a file; Parquet needs --out.

--archive writes one run or several whole: result, report, conditions and scenario, with every
password and token masked. 'plimsoll report FILE' opens it on another machine, and several runs
in one archive are a baseline for 'plimsoll run --against' and 'plimsoll compare --baseline'.`,
		Example: `  plimsoll export > series.csv
  plimsoll export 20260131-154500 --of operations --as parquet --out operations.parquet
  plimsoll export --archive result.tar.zst                  the last run, to be shared
  plimsoll export --archive baseline.zip latest:8           a baseline of eight runs`,
		Args: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("archive") {
				return nil
			}
			return arguments(0, 1, "one run")(c, args)
		},
		ValidArgsFunction: a.completeRuns,
	}, func(_ context.Context, args []string) error {
		if file != "" {
			return a.archive(args, file)
		}
		return a.export(first(args), subject, as, out)
	})
	fs := c.Flags()
	config.Choice(fs, &subject, "of", exportSeries, []string{exportSeries, exportOperations}, "table to write")
	config.Choice(fs, &as, "as", exportCSV, []string{exportCSV, exportParquet}, "file format")
	fs.StringVar(&out, "out", "", "write to this `FILE`")
	fs.StringVar(&file, "archive", "", "write the runs whole to this `FILE`: its name ends in .tar.zst or .zip")
	config.FlagOnly(fs, "of", "as", "out", "archive")
	for _, one := range []string{"of", "as", "out"} {
		c.MarkFlagsMutuallyExclusive("archive", one)
	}
}

// archive writes runs to one file.
func (a *app) archive(names []string, file string) error {
	if err := archive.Check(file); err != nil {
		return err
	}
	if len(names) == 0 {
		names = []string{store.Latest}
	}
	runs, err := a.loadRuns(names)
	if err != nil {
		return err
	}
	whole := archive.Archive{Software: software().Version}
	for _, r := range runs {
		// of a run that is stored here; one that came in a file has none
		played, _ := os.ReadFile(store.Default().ScenarioPath(r.ID))
		whole.Runs = append(whole.Runs, archive.Run{Result: r, Scenario: played})
	}
	if err := archive.Write(file, whole); err != nil {
		return err
	}
	return a.answerLine(map[string]any{"archive": file, "runs": len(runs)}, "%s: %s", file,
		human.Count(len(runs), "run"))
}

func (a *app) export(which, subject, as, out string) error {
	if as == exportParquet && out == "" {
		return problem.New(problem.Usage, fmt.Errorf("a Parquet file cannot go to a terminal"),
			"name a file with --out")
	}
	r, err := a.stored().Run(which)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := exported(&b, r, subject, as); err != nil {
		return err
	}
	if out == "" {
		_, err := a.stdout.Write(b.Bytes())
		return err
	}
	if err := os.WriteFile(out, b.Bytes(), 0o644); err != nil {
		return problem.New(problem.Environment, fmt.Errorf("write export: %w", err),
			"name a file in a folder that exists and that you may write to")
	}
	a.meter.Say("wrote %s", out)
	return nil
}

func exported(b *bytes.Buffer, r *result.Result, subject, as string) error {
	switch {
	case subject == exportOperations && as == exportParquet:
		return export.Parquet(b, export.Operations(r))
	case subject == exportOperations:
		return export.CSV(b, export.Operations(r))
	case as == exportParquet:
		return export.Parquet(b, export.Series(r))
	}
	return export.CSV(b, export.Series(r))
}

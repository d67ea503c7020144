package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/lab/run/result"
	"plimsoll/lab/view/export"
)

// Words of export.
const (
	exportSeries, exportOperations = "series", "operations"
	exportCSV, exportParquet       = "csv", "parquet"
)

func (a *app) addExport(root *cobra.Command) {
	var subject, as, out string
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "export [RUN|FILE] [flags]",
		Short: "Write a run's figures as CSV or Parquet",
		Long: `Write the figures of a run as a table for other programs: one row per second (series), or one
row per key operation with a histogram in units of its target (operations). Values that were
not measured are empty. CSV goes to stdout unless --out names a file; Parquet needs --out.`,
		Example: `  plimsoll export > series.csv
  plimsoll export 20260131-154500 --of operations --as parquet --out operations.parquet`,
		Args:              arguments(0, 1, "one run"),
		ValidArgsFunction: a.completeRuns,
	}, func(_ context.Context, args []string) error { return a.export(first(args), subject, as, out) })
	fs := c.Flags()
	config.Choice(fs, &subject, "of", exportSeries, []string{exportSeries, exportOperations}, "table to write")
	config.Choice(fs, &as, "as", exportCSV, []string{exportCSV, exportParquet}, "file format")
	fs.StringVar(&out, "out", "", "write to this `FILE`")
	config.FlagOnly(fs, "of", "as", "out")
}

func (a *app) export(which, subject, as, out string) error {
	if as == exportParquet && out == "" {
		return problem.New(problem.Usage, fmt.Errorf("a Parquet file cannot go to a terminal"),
			"name a file with --out")
	}
	r, err := a.loadRun(which)
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

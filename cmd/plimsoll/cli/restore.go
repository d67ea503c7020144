package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/erp/restoration"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/worker/jobs"
)

// threadsMax is beyond what one database carries.
const threadsMax = 500

type restoreOptions struct {
	target
	organisation, manner string
	threads, lines       int
}

func (a *app) addRestore(root *cobra.Command) {
	var o restoreOptions
	c := a.command(root, groupServer, &cobra.Command{
		Use:   "restore [flags]",
		Short: "Restore the order of costs after back-dated documents",
		Long: `Restore the order of costs: give documents after a back-dated one the costs that posting in
the order of time would have given them. The base records for each warehouse and item from
which date on that is necessary. Warehouses are restored in parallel, also by running workers
('serve'). Users may post meanwhile: goods are locked only while their part is restored.

Ctrl-C keeps the finished parts; the same command continues.

  lean      layers in memory, many documents at a time, only differences written
  classic   documents reposted one by one, a round trip for each statement`,
		Example: `  plimsoll restore
  plimsoll restore --threads 4 --organisation ORG001
  plimsoll restore --manner classic --json`,
	}, func(ctx context.Context, _ []string) error { return a.restore(ctx, o) })
	fs := c.Flags()
	config.Count(fs, &o.threads, "threads", 10, 1, threadsMax, "warehouses that this command restores in parallel")
	fs.StringVar(&o.organisation, "organisation", "", "restore only the organisation with this `CODE`")
	config.Choice(fs, &o.manner, "manner", "lean", []string{"lean", "classic"}, "method, see above")
	config.Count(fs, &o.lines, "lines", restoration.LinesDefault, 1, restoration.LinesMax,
		"maximum lines in one transaction; fewer lock goods for a shorter time")
	a.targetFlags(c, &o.target)
	config.FlagOnly(fs, "organisation")
}

func (a *app) restore(ctx context.Context, o restoreOptions) error {
	organisation, err := a.organisation(ctx, o.target, o.organisation)
	if err != nil {
		return err
	}
	job, err := a.runJob(ctx, backgroundJob{
		target: o.target, kind: restoration.Kind, threads: o.threads, phase: "restore", unit: "lines",
		again:     "the same command continues with the rest",
		arguments: map[string]any{"organisation": organisation, "classic": o.manner == "classic", "lines": o.lines},
	})
	if err != nil {
		return err
	}
	var done posting.Restored
	if err := json.Unmarshal(job.Result, &done); err != nil {
		return fmt.Errorf("read result: %w", err)
	}
	if a.json {
		return a.emit(struct {
			posting.Restored
			ElapsedMS float64 `json:"elapsed_ms"`
		}{done, float64(elapsed(job).Microseconds()) / 1000})
	}
	return a.showRestored(done, elapsed(job))
}

func (a *app) showRestored(done posting.Restored, took time.Duration) error {
	if done.Keys == 0 {
		_, err := fmt.Fprintln(a.stdout, "nothing to restore: costs follow the order of time")
		return err
	}
	fmt.Fprintf(a.stdout, "restored: %d goods, %d lines of %d documents, %d of them changed, in %s\n", done.Keys,
		done.Lines, done.Documents, done.Changed, took.Round(100*time.Millisecond))
	if done.Short > 0 {
		fmt.Fprintf(a.stdout, "%d goods were issued before they were received: their boundary stays at that date "+
			"until the documents are corrected\n", done.Short)
	}
	return nil
}

func elapsed(j jobs.Job) time.Duration {
	if j.Started == nil || j.Ended == nil {
		return 0
	}
	return j.Ended.Sub(*j.Started)
}

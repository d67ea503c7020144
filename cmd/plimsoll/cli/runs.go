package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
)

func (a *app) addRuns(root *cobra.Command) {
	a.command(root, groupJob, &cobra.Command{
		Use:   "runs [flags]",
		Short: "List stored runs",
		Long:  "List the runs stored in the state directory, newest first.",
		Example: `  plimsoll runs
  plimsoll runs --json | jq '.runs[].apdex'`,
	}, func(context.Context, []string) error {
		a.recoverRuns()
		all, broken, err := store.Default().List()
		if err != nil {
			return err
		}
		for _, why := range broken {
			fmt.Fprintf(a.stderr, "plimsoll: left out: %v\n", why) // also for the quiet
		}
		if all == nil {
			all = []*result.Result{}
		}
		if a.json {
			return a.emit(map[string]any{"runs": all})
		}
		return a.showRuns(all)
	})
}

// recoverRuns completes runs whose process died, from their journals; otherwise an older run would pass for the last.
func (a *app) recoverRuns() {
	kept := keptRuns()
	ids, err := kept.Unfinished()
	for _, id := range ids {
		ended := "did not end properly"
		if why := kept.WhyNotKept(id); why != "" {
			ended = "ended, but its result could not be kept (" + why + ")"
		}
		var r *result.Result
		if r, err = run.Recover(kept, id); err != nil {
			break
		}
		fmt.Fprintf(a.stderr, "plimsoll: run %s %s; what its journal has is kept: %s of the steady state\n", id, ended,
			human.Seconds(r.DurationS))
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "plimsoll: left out: %v\n", err)
	}
}

func (a *app) showRuns(all []*result.Result) error {
	if len(all) == 0 {
		fmt.Fprintln(a.stdout, "no runs; 'plimsoll run' creates one")
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tUSERS\tOPS/S\tAPDEX\tBAND\tBOOKS\tENGINE\tVALID")
	for _, r := range all {
		fmt.Fprintf(w, "%s\t%d\t%.1f\t%s\t%s\t%s\t%s %s\t%s\n", r.ID, r.Users, r.OpsPerS, scoreText(r.Apdex), r.Band,
			booksText(r.Audit), r.Conditions.Engine.Version, r.Conditions.Engine.Flavour, validText(r))
	}
	return w.Flush()
}

func scoreText(score *float64) string { return human.Known(score, "-", apdex.Text) }

func booksText(a result.Audit) string {
	switch {
	case a.None:
		return "no audit"
	case !a.Done:
		return "not audited"
	case a.Clean:
		return "clean"
	}
	return fmt.Sprintf("%d wrong", a.Violations)
}

func validText(r *result.Result) string {
	switch {
	case r.Interrupted:
		return "interrupted"
	case r.Valid:
		return "yes"
	}
	return "no"
}

package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"plimsoll/erp/audit"
	"plimsoll/platform/database"
	"plimsoll/platform/problem"
)

func (a *app) addAudit(root *cobra.Command) {
	var t target
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "audit [flags]",
		Short: "Check that the books balance",
		Long: `Check every invariant of the books in one snapshot: debit = credit, totals = movements,
stock not negative and so on. It may run beside live posting. Exit code 3 when one is
violated; each violation is named by its document or key.`,
		Example: `  plimsoll audit
  plimsoll audit --cluster vanilla --json`,
	}, func(ctx context.Context, _ []string) error { return a.audit(ctx, t) })
	a.targetFlags(c, &t)
}

func (a *app) audit(ctx context.Context, t target) error {
	dsn, err := a.database(ctx, t)
	if err != nil {
		return err
	}
	db, err := database.Open(ctx, dsn, database.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	a.meter.Phase("audit", 0, "")
	report, err := audit.Run(ctx, db)
	a.meter.End()
	if err != nil {
		return err
	}
	if a.json {
		err = a.emit(report)
	} else {
		err = a.showAudit(report)
	}
	if err != nil || report.Clean() {
		return err
	}
	return problem.New(problem.Threshold, fmt.Errorf("the books are wrong: %d violations", report.Violations), "")
}

func (a *app) showAudit(r audit.Report) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "INVARIANT\tCHECKED\tVIOLATIONS\tWHAT")
	for _, c := range r.Checks {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", c.Invariant, c.Checked, c.Violations, c.Title)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, c := range r.Checks {
		for _, v := range c.Examples {
			fmt.Fprintf(a.stdout, "%s: %s: expected %s, found %s\n", c.Invariant, v.Subject, v.Expected, v.Found)
		}
	}
	if r.Clean() {
		fmt.Fprintf(a.stdout, "audit: clean (%d invariants in %.1f s)\n", len(r.Checks), r.ElapsedMS/1000)
	} else {
		fmt.Fprintf(a.stdout, "audit: %d violations\n", r.Violations)
	}
	return nil
}

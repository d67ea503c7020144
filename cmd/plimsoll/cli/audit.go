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
	var digest bool
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "audit [flags]",
		Short: "Check that the books balance",
		Long: `Check every invariant of the books in one snapshot: debit = credit, totals = movements,
stock not negative and so on. It may run beside live posting. Exit code 3 when one is
violated; each violation is named by its document or key.

With --digest also what the books hold, in a few bytes: two bases with the same digest
hold the same documents, movements, totals and entries, in whatever order and under
whatever ids of documents. That is how the shapes of the ERP are shown to do the same.`,
		Example: `  plimsoll audit
  plimsoll audit --digest
  plimsoll audit --cluster vanilla --json`,
	}, func(ctx context.Context, _ []string) error { return a.audit(ctx, t, digest) })
	c.Flags().BoolVar(&digest, "digest", false, "print the digest of the books too")
	a.targetFlags(c, &t)
}

func (a *app) audit(ctx context.Context, t target, withDigest bool) error {
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
	var report audited
	if report.Report, err = audit.Run(ctx, db); err == nil && withDigest {
		var books audit.Digest
		books, err = audit.Books(ctx, db)
		report.Books = &books
	}
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

// audited is the report and, when asked for, the digest.
type audited struct {
	audit.Report
	Books *audit.Digest `json:"books,omitempty"`
}

func (a *app) showAudit(r audited) error {
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
	if r.Books != nil {
		fmt.Fprintln(w, "\nTABLE\tROWS\tDIGEST")
		for _, t := range r.Books.Tables {
			fmt.Fprintf(w, "%s\t%d\t%s\n", t.Table, t.Rows, t.Digest)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "digest: %s\n", r.Books.Digest)
	}
	if r.Clean() {
		fmt.Fprintf(a.stdout, "audit: clean (%d invariants in %.1f s)\n", len(r.Checks), r.ElapsedMS/1000)
	} else {
		fmt.Fprintf(a.stdout, "audit: %d violations\n", r.Violations)
	}
	return nil
}

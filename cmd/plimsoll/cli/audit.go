package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/erp/audit"
	"plimsoll/erp/fill"
	"plimsoll/platform/database"
	"plimsoll/platform/problem"
)

type auditOptions struct {
	target
	digest, all, sinceClean bool
	sample                  string
	seed, connections       int
	given                   *pflag.FlagSet
}

func (a *app) addAudit(root *cobra.Command) {
	var o auditOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "audit [flags]",
		Short: "Check that the books balance",
		Long: `Check every invariant of the books in one snapshot: debit = credit, totals = movements,
stock not negative and so on. It may run beside live posting. Exit code 3 when one is
violated; each violation is named by its document or key.

Without further flags it looks at everything, on all cores. When nothing is wrong it
keeps a clean point in the database, from which --since-clean starts: it reads each
table once or twice to see what was written, changed or deleted since, by whomever, and
checks those documents and months; balances are always checked in whole. Where there is
no clean point, or the base was restored since, it says so and looks at everything.

--sample looks at a share of all documents and keys, the same for the same seed. It
says with which probability it finds a single wrong one, and keeps no clean point.

With --digest also what the books hold, in a few bytes: two bases with the same digest
hold the same documents, movements, totals and entries, in whatever order and under
whatever ids of documents. That is how the shapes of the ERP are shown to do the same.`,
		Example: `  plimsoll audit
  plimsoll audit --since-clean             every night, after one whole audit
  plimsoll audit --sample 1% --seed 7
  plimsoll audit --digest
  plimsoll audit --cluster vanilla --json`,
	}, func(ctx context.Context, _ []string) error { return a.audit(ctx, o) })
	fs := c.Flags()
	o.given = fs
	fs.BoolVar(&o.all, "full", false, "look at everything, which is what it does anyway")
	fs.BoolVar(&o.sinceClean, "since-clean", false, "look at what has changed since the last audit that found nothing wrong")
	fs.StringVar(&o.sample, "sample", "", "look at this `SHARE` of documents and keys, as 1% or 0.01")
	config.Count(fs, &o.seed, "seed", 1, 0, mostOfAnything, "seed of the sample")
	config.Count(fs, &o.connections, "connections", 0, 0, auditConnectionsMax, "how many connections look at once; 0: one per core")
	fs.BoolVar(&o.digest, "digest", false, "print the digest of the books too")
	a.targetFlags(c, &o.target)
	c.MarkFlagsMutuallyExclusive("full", "since-clean", "sample")
	config.FlagOnly(fs, "full", "since-clean", "sample", "seed")
}

const auditConnectionsMax = 256

func (o auditOptions) options() (audit.Options, error) {
	options := audit.Options{Mode: audit.All, Keep: true, Connections: o.connections, Seed: int64(o.seed)}
	switch {
	case o.sinceClean:
		options.Mode = audit.SinceClean
	case o.sample != "":
		options.Mode = audit.Sample
		var err error
		if options.Share, err = shareOf(o.sample); err != nil {
			return options, problem.New(problem.Usage, fmt.Errorf("--sample: %w", err), "for example --sample 1%")
		}
	}
	return options, nil
}

func (a *app) audit(ctx context.Context, o auditOptions) error {
	if err := refuseIdle(o.given, idle{o.sample == "", []string{"seed"}, "is of the sample, and everything that is asked for is looked at", "add --sample SHARE"}); err != nil {
		return err
	}
	options, err := o.options()
	if err != nil {
		return err
	}
	dsn, err := a.database(ctx, o.target)
	if err != nil {
		return err
	}
	db, err := database.Open(ctx, dsn, database.Options{Connections: audit.Connections(o.connections) + 1, Application: "plimsoll audit"})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := fill.Finished(ctx, db); err != nil {
		return err
	}
	report, err := a.look(ctx, db, options, o.digest)
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

func (a *app) look(ctx context.Context, db *database.Database, options audit.Options, withDigest bool) (report audited, err error) {
	a.meter.Phase("audit", 0, "MB")
	defer a.meter.End()
	options.Progress = func(done, total int64) {
		a.meter.Grow(float64(total) / 1e6)
		a.meter.Update(float64(done)/1e6, "")
	}
	if report.Report, err = audit.RunAs(ctx, db, options); err == nil && withDigest {
		a.meter.Phase("digest", 0, "")
		var books audit.Digest
		books, err = audit.Books(ctx, db)
		report.Books = &books
	}
	return report, err
}

// audited is the report and, when asked for, the digest.
type audited struct {
	audit.Report
	Books *audit.Digest `json:"books,omitempty"`
}

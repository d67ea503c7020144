package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/erp"
	"plimsoll/erp/audit"
	"plimsoll/erp/fill"
	"plimsoll/ground/problem"
	"plimsoll/lab/system"
	"plimsoll/platform/data/database"
)

type auditOptions struct {
	target
	digest, all, sinceClean bool
	list, details           bool
	load                    string
	sample                  string
	seed, connections       int
	examples                int
	lag                     lagFlags
	given                   *pflag.FlagSet
}

func (a *app) addAudit(root *cobra.Command) {
	var o auditOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "audit [flags]",
		Short: "Check that the books balance",
		Long: `Check every invariant of the books in one snapshot: debit = credit, totals = movements,
stock not negative and so on. Users may post meanwhile. Exit code 3: one is violated; each
violation is named by its document or key, and its field.

Documents are the truth: each posted document is posted again in memory by its rules, and the
result is compared with what is stored: header, lines, movements, records and entries.
References, lines, sums and number counters are checked too, and costs are replayed in the
order of time. What cannot be derived is listed.

Without further flags it checks everything, on all cores. If nothing is wrong it stores a clean
point in the database. --since-clean starts there: it reads each table once or twice to find
what was written, changed or deleted since, and checks those documents and months; balances are
always checked in full. If there is no clean point, or the base was restored since, it says so
and checks everything.

Clean books take one line; --details says what was checked and what cannot be derived.

--sample checks a share of all documents and keys, the same for the same seed. It
prints the probability of finding a single wrong one, and stores no clean point.

On a local standby (--cluster) it checks what the standby has applied, and waits until that is at
most --max-lag behind its primary; it fails after --wait.

--load 1c checks a 1C base instead: totals against records, records against documents, analytics
against accounts, slices of the last. --list shows every check.

--digest also prints a digest of the books: two bases with the same digest hold the
same documents, movements, totals and entries, in any order and with any document ids.`,
		Example: `  plimsoll audit
  plimsoll audit --list                    what is checked, and on how many rows
  plimsoll audit --since-clean             every night, after one whole audit
  plimsoll audit --sample 1% --seed 7
  plimsoll audit --digest
  plimsoll audit --cluster vanilla --json
  plimsoll audit --load 1c --list`,
	}, func(ctx context.Context, _ []string) error { return a.audit(ctx, o) })
	fs := c.Flags()
	o.given = fs
	fs.BoolVar(&o.all, "full", false, "check everything (the default)")
	fs.BoolVar(&o.sinceClean, "since-clean", false,
		"check what changed since the last audit that found nothing wrong")
	fs.StringVar(&o.sample, "sample", "", "check this `SHARE` of documents and keys, such as 1% or 0.01")
	config.Count(fs, &o.seed, "seed", 1, 0, mostOfAnything, "random seed of the sample")
	config.Count(fs, &o.connections, "connections", 0, 0, auditConnectionsMax,
		"connections that check in parallel; 0: one per core")
	config.Count(fs, &o.examples, "examples", audit.ExamplesMax, 1, mostOfAnything,
		"most violations of each invariant to list; all are counted")
	fs.BoolVar(&o.list, "list", false, "list every invariant, not only the violated ones; --json always does")
	fs.BoolVar(&o.details, "details", false, "also say what was checked, and what cannot be derived")
	fs.BoolVar(&o.digest, "digest", false, "print the digest of the books too")
	loadFlag(fs, &o.load, "which base: the ERP's, or that of a 1C server; of 1c+plain, 1c+extensions and 1c+memory "+
		"the first has plain texts")
	completeLoads(c)
	o.lag.add(fs)
	a.targetFlags(c, &o.target)
	c.MarkFlagsMutuallyExclusive("full", "since-clean", "sample")
	config.FlagOnly(fs, "full", "since-clean", "sample", "seed", "examples", "list", "load", "details")
}

// checkFilled refuses an incomplete base, and a database without a base: each missing table would be a violation.
func checkFilled(ctx context.Context, db *database.Database) error {
	var tables []string
	documents := erp.Metadata().Documents
	for i := range documents {
		tables = append(tables, documents[i].Table())
	}
	var there bool
	err := db.Borrow(ctx, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT EXISTS (SELECT FROM unnest($1::text[]) t WHERE to_regclass(t) IS NOT NULL)",
			tables).Scan(&there)
	})
	if err == nil && !there {
		err = problem.New(problem.Usage, errors.New("the database has none of the ERP's tables"),
			"plimsoll fill creates them")
	}
	if err != nil {
		return err
	}
	return fill.Finished(ctx, db)
}

const auditConnectionsMax = 256

func (o auditOptions) options() (audit.Options, error) {
	options := audit.Options{Mode: audit.All, Keep: true, Connections: o.connections, Seed: int64(o.seed),
		Examples: o.examples}
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
	if outfit, is := system.OutfitOf(o.load); is {
		return a.auditOneC(ctx, o, outfit)
	}
	if err := refuseIdle(o.given, idle{o.sample == "", []string{"seed"},
		"applies only to --sample", "add --sample SHARE"}); err != nil {
		return err
	}
	options, err := o.options()
	if err != nil {
		return err
	}
	if err := a.awaitTarget(ctx, o.target, o.lag); err != nil {
		return err
	}
	db, err := a.open(ctx, o.target, database.Options{Connections: audit.Connections(o.connections) + 1,
		Application: "plimsoll audit"})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := checkFilled(ctx, db); err != nil {
		return err
	}
	report, err := a.auditBooks(ctx, db, options, o.digest)
	switch {
	case err != nil && ctx.Err() != nil:
		return problem.New(problem.Interrupted, errors.New("the audit was stopped before its end, so the state "+
			"of the books is unknown"), "nothing was changed; the same command starts over")
	case err != nil:
		return err
	}
	if a.json {
		err = a.emit(report)
	} else {
		err = a.showAudit(report, o.list, o.details)
	}
	if err != nil || report.Clean() {
		return err
	}
	return problem.New(problem.Threshold, fmt.Errorf("the books are wrong: %d violations", report.Violations),
		"'plimsoll repair --dry-run' shows what can be repaired")
}

func (a *app) auditBooks(ctx context.Context, db *database.Database, options audit.Options,
	withDigest bool) (report audited, err error) {
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

// audited is the report and, if asked for, the digest.
type audited struct {
	audit.Report
	Books *audit.Digest `json:"books,omitempty"`
}

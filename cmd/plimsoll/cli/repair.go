package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/erp"
	"plimsoll/erp/audit"
	erprepair "plimsoll/erp/repair"
	"plimsoll/ground/postgres/backup"
	"plimsoll/ground/problem"
	"plimsoll/platform/care/repair"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

type repairOptions struct {
	target
	dryRun, online, trust bool
	forgetLost, backup    bool
	only, documents       []string
	journal               string
	connections           int
	flags                 *pflag.FlagSet
}

// repairJournal is where a repair notes what it did.
const repairJournal = "repair.jsonl"

func (a *app) addRepair(root *cobra.Command) {
	var o repairOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "repair [flags]",
		Short: "Repair what an audit finds wrong",
		Long: `Audit the books, make a plan, and repair one object after the other. Documents are the truth.

  resubmit  free the key of an acknowledged operation whose document is gone: its client sends
            it again with the same key, and it is done exactly once; until then it stays noted, and
            a violation (--forget-lost deletes the note)
  reverse   remove what no posted document has recorded, if totals do not include it either, and
            boundaries of costs that belong to no document
  repost    write again what the rules derive from a document: computed fields, movements, records,
            entries and their totals
  rebuild   sum totals from movements; drop boundaries of costs under keys without movements
  renumber  move a number counter beyond the numbers used
  restore   a document itself or a catalog is damaged: only a backup has it; nothing is done

Where a document contradicts what it has recorded, two sources show which side was changed:
totals, added up when it was posted, and the transactions that wrote the rows. If they point to
the document, the class is restore. If neither is conclusive, the risk is high, and the step is
only carried out with --trust-documents.

Each step is one transaction: it locks the object, examines it, writes, examines it again, and
notes in the table plimsoll_repair what it did, with digests of the rows before and after. The
journal has the same as JSON lines. At the end all other rows are proven to be unchanged, and
the books are audited again. If a repair was stopped or killed, the same command continues it.

--backup takes a verified backup of the local cluster before the first step, as 'plimsoll backup'
does; if that fails, nothing is repaired. It prints the command that restores this backup.

It refuses if amcheck or a checksum finds physical damage, and while other sessions use the
database (--online allows that). Exit code 3: violations remain.`,
		Example: `  plimsoll repair --dry-run
  plimsoll repair
  plimsoll repair --backup
  plimsoll repair --only rebuild,renumber
  plimsoll repair --documents 01a20955-c927-7261-9b60-d0175d175d9c
  plimsoll repair --online --journal /var/log/repair.jsonl`,
	}, func(ctx context.Context, _ []string) error { return a.repair(ctx, o) })
	fs := c.Flags()
	o.flags = fs
	fs.BoolVar(&o.dryRun, "dry-run", false, "print the plan and change nothing")
	fs.StringSliceVar(&o.only, "only", nil, "carry out only steps of these `CLASSES`")
	fs.StringSliceVar(&o.documents, "documents", nil, "repair only the documents with these `IDS`")
	fs.BoolVar(&o.trust, "trust-documents", false, "carry out steps of high risk too")
	fs.BoolVar(&o.forgetLost, "forget-lost", false, "delete the note of an acknowledged operation that is gone")
	fs.BoolVar(&o.online, "online", false, "allow other sessions; it is then not proven that nothing else changed")
	fs.BoolVar(&o.backup, "backup", false, "take a backup of the local cluster first")
	fs.StringVar(&o.journal, "journal", repairJournal, "`FILE` of JSON lines to which the steps are appended")
	config.Count(fs, &o.connections, "connections", 0, 0, auditConnectionsMax,
		"connections that audit in parallel; 0: one per core")
	a.targetFlags(c, &o.target)
	config.FlagOnly(fs, "dry-run", "only", "documents", "trust-documents", "forget-lost", "online", "backup", "journal")
}

func (o repairOptions) options() (r repair.Options, err error) {
	r = repair.Options{DryRun: o.dryRun, TrustDocuments: o.trust, ForgetLost: o.forgetLost, Online: o.online,
		Audit: audit.Options{Connections: o.connections}}
	for name, given := range map[string][]string{"only": o.only, "documents": o.documents} {
		if o.flags.Changed(name) && len(given) == 0 { // an empty variable of a script must not mean everything
			return r, problem.New(problem.Usage, fmt.Errorf("--%s: nothing is named", name), "leave it out for all")
		}
	}
	var classes []string
	for _, c := range repair.Classes[:len(repair.Classes)-1] {
		classes = append(classes, string(c))
	}
	for _, name := range o.only {
		if !slices.Contains(classes, name) {
			return r, problem.New(problem.Usage, fmt.Errorf("--only: no class %q that repairs", name),
				"choose from "+strings.Join(classes, ", "))
		}
		r.Only = append(r.Only, repair.Class(name))
	}
	for _, text := range o.documents {
		v, err := id.Parse(text)
		if err != nil || v.IsZero() {
			return r, problem.New(problem.Usage, fmt.Errorf("--documents: %q is not an id", text),
				"the ids are those that 'plimsoll audit' names")
		}
		r.Documents = append(r.Documents, v)
	}
	return r, nil
}

func (a *app) repair(ctx context.Context, o repairOptions) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	if o.backup {
		if options.Backup, err = a.backupFirst(ctx, o); err != nil {
			return err
		}
	}
	db, err := a.open(ctx, o.target, database.Options{Application: "plimsoll repair",
		Connections: audit.Connections(o.connections) + erprepair.Connections})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := checkFilled(ctx, db); err != nil {
		return err
	}
	if !o.dryRun {
		if err := erp.Migrate(ctx, db); err != nil { // an older base has no journal
			return err
		}
		if _, err := repair.Journal(ctx, db, o.journal); err != nil { // what a killed repair did not write
			return err
		}
	}
	report, err := a.repairBooks(ctx, db, options)
	if !o.dryRun {
		_, noted := repair.Journal(context.WithoutCancel(ctx), db, o.journal)
		err = errors.Join(err, noted)
	}
	if err != nil {
		return problem.New(problem.ClassOf(err), err, cmp.Or(problem.HintOf(err),
			"finished steps stay; the same command continues"))
	}
	if a.json {
		err = a.emit(report)
	} else {
		err = a.showRepaired(report, o.journal)
	}
	if err != nil || report.Open() == 0 {
		return err
	}
	if o.dryRun {
		return problem.New(problem.Threshold, fmt.Errorf("the books are wrong: %d violations",
			report.ViolationsBefore), "without --dry-run the steps are carried out")
	}
	return problem.New(problem.Threshold, fmt.Errorf("the books are still wrong: %d violations", report.Open()),
		"what is named restore must come from a backup; 'plimsoll audit' names the rest")
}

// backupFirst backs up the cluster that is repaired. What stands in the way is said before the books are read.
func (a *app) backupFirst(ctx context.Context, o repairOptions) (func(context.Context) error, error) {
	switch {
	case o.dryRun:
		return nil, problem.New(problem.Usage,
			errors.New("--backup has no effect with --dry-run, which changes nothing"), "leave one of them out")
	case o.foreign():
		return nil, problem.New(problem.Usage, errors.New("--backup is for local clusters, and the database is one of "+
			"--dsn"), "back it up with its own tools, and leave out --backup")
	}
	c, err := a.clusters().Running(ctx, o.cluster)
	if err != nil {
		return nil, err
	}
	if err := c.MayStream(ctx); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		backups := backup.Open(a.copying())
		backups.Step = func(what string) { a.meter.Phase(what, 0, "") }
		r, err := backups.Take(ctx, c)
		if err != nil {
			return problem.New(problem.ClassOf(err), fmt.Errorf("%w; nothing was repaired", err), problem.HintOf(err))
		}
		a.meter.Say("backup %s is complete and verified; to restore it: %s", r.ID, goBack(r))
		return nil
	}, nil
}

// goBack is the command that restores a backup as it was, without what its archive has got since.
func goBack(r backup.Record) string {
	command := "plimsoll backup restore " + r.ID
	if r.Archive != "" {
		command += " --point " + r.EndLSN
	}
	return command
}

func (a *app) repairBooks(ctx context.Context, db *database.Database, options repair.Options) (repair.Report, error) {
	a.meter.Phase("audit", 0, "MB")
	defer a.meter.End()
	options.Audit.Progress = func(done, total int64) {
		a.meter.Grow(float64(total) / 1e6)
		a.meter.Update(float64(done)/1e6, "")
	}
	options.Planned = func(steps []repair.Step) error {
		if !a.json {
			return a.showPlan(steps)
		}
		return nil
	}
	options.Progress = func(done, total int, s repair.Step) {
		if done == 1 {
			a.meter.Phase("repair", float64(total), "steps")
		}
		a.meter.Update(float64(done), s.Object)
	}
	return erprepair.Run(ctx, db, options)
}

// planFields are shown of each object; the JSON has all.
const planFields = 4

func (a *app) showPlan(steps []repair.Step) error {
	for _, s := range steps {
		risk := ""
		if s.Risk != "" {
			risk = ", risk " + string(s.Risk)
		}
		fmt.Fprintf(a.stdout, "%-8s  %s\n          %s%s\n", s.Class, s.Object, s.Why, risk)
		for i, c := range s.Changes {
			if i == planFields {
				fmt.Fprintf(a.stdout, "          … and %d more\n", len(s.Changes)-planFields)
				break
			}
			fmt.Fprintf(a.stdout, "          %s: %s → %s\n", c.Field, c.Has, c.WillHave)
		}
		if s.Skipped != "" {
			fmt.Fprintf(a.stdout, "          not done: %s\n", s.Skipped)
		}
	}
	return nil
}

func (a *app) showRepaired(r repair.Report, journal string) error {
	count := map[repair.Class]int{}
	for _, s := range r.Steps {
		if r.DryRun && s.Skipped == "" || s.Done {
			count[s.Class]++
		}
	}
	var parts []string
	for _, c := range repair.Classes {
		if count[c] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[c], c))
		}
	}
	text := cmp.Or(strings.Join(parts, ", "), "nothing")
	if r.DryRun && len(parts) == 0 {
		_, err := fmt.Fprintf(a.stdout, "%d violations; nothing to do\n", r.ViolationsBefore)
		return err
	}
	if r.DryRun {
		_, err := fmt.Fprintf(a.stdout, "%d violations; would do: %s\n", r.ViolationsBefore, text)
		return err
	}
	for _, s := range r.Steps {
		if s.Class != repair.Restore && !s.Done && s.Skipped != "" {
			fmt.Fprintf(a.stdout, "not done: %s %s: %s\n", s.Class, s.Object, s.Skipped)
		}
	}
	fmt.Fprintf(a.stdout, "done: %s; journal %s\n", text, journal)
	if r.Untouched != "" {
		fmt.Fprintf(a.stdout, "proof: %s\n", r.Untouched)
	}
	_, err := fmt.Fprintf(a.stdout, "audit: %d violations before, %d after\n", r.ViolationsBefore, r.Open())
	return err
}

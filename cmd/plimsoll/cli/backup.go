package cli

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres/backup"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
)

type backupOptions struct {
	cluster, point, into string
	lag                  lagFlags
	places               placeFlags
	yes, incremental     bool
}

// What follows 'plimsoll backup'; anything else is the name of a cluster.
var backupVerbs = []string{"list", "verify", "restore", "remove"}

func (a *app) addBackup(root *cobra.Command) {
	var o backupOptions
	var c *cobra.Command
	c = a.command(root, groupDatabase, &cobra.Command{
		Use:   "backup [CLUSTER | list | verify ID | restore ID | remove ID] [flags]",
		Short: "Back up a local cluster, and restore it as a new one",
		Long: `Back up a running cluster without stopping it: its data, and the log needed to start from
them. The copy is verified file by file (pg_verifybackup) before it counts as a backup;
Ctrl-C or a failure leaves nothing behind. The cluster needs --log replica or --log archive of
'plimsoll up'.

  backup [CLUSTER]   take a backup; the cluster defaults to the running one
  backup list        list all backups
  backup verify ID   verify a backup again
  backup restore ID  verify a backup and create a new cluster from it; others are not touched
  backup remove ID   remove a backup, and archived log that no other backup needs

A restore goes as far as there is log: to the end of the backup, or of the archive of a cluster
with --log archive. --point stops at a time or at a position of the log in that archive; a time
without a zone is this machine's. Tablespaces and log on other disks (--tablespace and --wal-dir
of 'plimsoll up') get folders of the new cluster's own on the same disks, or where these flags
say. A tablespace that somebody made with SQL gets one in the cluster's folder.

Every backup is a full one. --incremental is refused with the reason that the server's version
gives; docs/engine/minor.md has more.

A backup of a standby takes load off its primary. It waits until the standby is at most
--max-lag behind, and fails after --wait. 'plimsoll restore' is
another command: it restores the order of costs.`,
		Example: `  plimsoll up main --log archive && plimsoll backup main
  plimsoll backup list
  plimsoll backup restore plimsoll-20261123-163000
  plimsoll backup restore plimsoll-20261123-163000 --point 2026-11-23T16:45:00Z --into before
  plimsoll backup plimsoll-replica --max-lag 500ms
  plimsoll backup verify plimsoll-20261123-163000`,
		Args:              backupArguments,
		ValidArgsFunction: a.completeBackup,
	}, func(ctx context.Context, args []string) error {
		if err := o.checkFlags(c, args); err != nil {
			return err
		}
		return a.backup(ctx, args, o)
	})
	fs := c.Flags()
	fs.StringVar(&o.cluster, "cluster", "", "back up the cluster `NAME`, even if its name is one of the words above")
	fs.StringVar(&o.point, "point", backup.Latest, "restore: `POINT` to stop at: latest, a time, or a position of "+
		"the log")
	fs.StringVar(&o.into, "into", "", "restore: `NAME` of the new cluster (default: the old name with -restored)")
	o.places.add(fs, "restore: ")
	o.lag.add(fs)
	fs.BoolVar(&o.yes, "yes", false, "remove: do not ask for confirmation")
	fs.BoolVar(&o.incremental, "incremental", false, "refused: says why there are no incremental backups")
	config.FlagOnly(fs, "cluster", "point", "into", "yes", "incremental")
	_ = c.RegisterFlagCompletionFunc("cluster", a.completeClusters)
}

func backupArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 && slices.Contains(backupVerbs[1:], args[0]) {
		return arguments(2, 2, args[0]+" and the ID of a backup")(c, args)
	}
	return arguments(0, 1, "one cluster, or a word with an ID")(c, args)
}

// checkFlags refuses flags that have no effect.
func (o backupOptions) checkFlags(c *cobra.Command, args []string) error {
	for flag, verb := range map[string]string{"point": "restore", "into": "restore",
		"tablespace": "restore", "wal-dir": "restore", "yes": "remove"} {
		if c.Flags().Changed(flag) && first(args) != verb {
			return problem.New(problem.Usage, fmt.Errorf("--%s applies only to 'backup %s'", flag, verb),
				"usage: "+c.UseLine())
		}
	}
	for _, flag := range []string{"max-lag", "wait", "cluster", "incremental"} {
		if c.Flags().Changed(flag) && slices.Contains(backupVerbs, first(args)) {
			return problem.New(problem.Usage, fmt.Errorf("--%s applies only to taking a backup", flag),
				"usage: "+c.UseLine())
		}
	}
	if o.cluster != "" && len(args) > 0 {
		return problem.New(problem.Usage, fmt.Errorf("--cluster and a name, %q, exclude each other", args[0]), "")
	}
	return nil
}

func (a *app) backup(ctx context.Context, args []string, o backupOptions) error {
	backups := backup.Open(a.copying())
	backups.Step = func(what string) { a.meter.Phase(what, 0, "") }
	switch first(args) {
	case "list":
		return a.listBackups(backups)
	case "verify":
		r, err := backups.Verify(ctx, args[1])
		if err != nil {
			return err
		}
		a.meter.End()
		return a.showBackup(r, "is intact")
	case "restore":
		return a.restoreBackup(ctx, backups, args[1], o)
	case "remove":
		return a.removeBackup(ctx, backups, args[1], o.yes)
	}
	if o.cluster == "" {
		o.cluster = first(args)
	}
	return a.takeBackup(ctx, backups, o)
}

func (a *app) takeBackup(ctx context.Context, backups *backup.Store, o backupOptions) error {
	c, err := a.clusters().Running(ctx, o.cluster)
	if err != nil {
		return err
	}
	if o.incremental {
		return backup.RefuseIncremental(c.Server())
	}
	if err := a.await(ctx, c, o.lag); err != nil {
		return err
	}
	r, err := backups.Take(ctx, c)
	if err != nil {
		return err
	}
	a.meter.End()
	return a.showBackup(r, "is complete and verified")
}

func (a *app) showBackup(r backup.Record, what string) error {
	if a.json {
		return a.emit(r)
	}
	fmt.Fprintf(a.stdout, "backup %s %s: %s in %d files, in %s\n", r.ID, what, human.Bytes(r.Bytes), r.Files,
		(time.Duration(r.TookS * float64(time.Second))).Round(100*time.Millisecond))
	fmt.Fprintf(a.stdout, "  of       cluster %s, PostgreSQL %s %s, system %s\n", r.Cluster, r.Server.Version,
		r.Server.Flavour, r.SystemIdentifier)
	_, err := fmt.Fprintf(a.stdout, "  log      timeline %d, %s to %s\n  restore  plimsoll backup restore %s\n",
		r.Timeline, r.StartLSN, r.EndLSN, r.ID)
	return err
}

func (a *app) listBackups(backups *backup.Store) error {
	all, err := backups.List()
	if err != nil {
		return err
	}
	if a.json {
		return a.emit(map[string][]backup.Record{"backups": all})
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(a.stdout, "no backups; 'plimsoll backup' takes one")
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tPOSTGRESQL\tSIZE\tTIMELINE\tEND OF LOG\tPOINT IN TIME")
	for _, r := range all {
		archived := "no"
		if r.Archive != "" {
			archived = "yes"
		}
		fmt.Fprintf(w, "%s\t%s %s\t%s\t%d\t%s\t%s\n", r.ID, r.Server.Version, r.Server.Flavour, human.Bytes(r.Bytes),
			r.Timeline, r.EndLSN, archived)
	}
	return w.Flush()
}

func (a *app) restoreBackup(ctx context.Context, backups *backup.Store, id string, o backupOptions) error {
	at, err := backup.ParsePoint(o.point)
	if err != nil {
		return err
	}
	var in backup.Places
	if in.Tablespaces, in.WalDir, err = o.places.read(); err != nil {
		return err
	}
	c, err := backups.Restore(ctx, id, o.into, at, in)
	if err != nil {
		return err
	}
	a.meter.End()
	return a.answerLine(c.Status(ctx), "cluster %s is restored from %s, to %s; start it: plimsoll up %s", c.Name(), id,
		at, c.Name())
}

func (a *app) removeBackup(ctx context.Context, backups *backup.Store, id string, yes bool) error {
	if _, err := backups.Find(id); err != nil {
		return err
	}
	if !yes {
		if err := a.confirm("This removes backup "+id+".", "backup "+id+" was not removed", id); err != nil {
			return err
		}
	}
	if err := backups.Remove(ctx, id); err != nil {
		return err
	}
	return a.answerLine(map[string]string{"removed": id}, "backup %s was removed", id)
}

func (a *app) completeBackup(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return append(slices.Clone(backupVerbs), a.clusters().Names()...), cobra.ShellCompDirectiveNoFileComp
	case 1:
		var ids []string
		all, _ := backup.Open(cluster.Open("")).List()
		for _, r := range all {
			ids = append(ids, r.ID)
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/cmd/plimsoll/uninstall"
	"plimsoll/ground/host/dirs"
	"plimsoll/ground/human"
)

func (a *app) addUninstall(root *cobra.Command) {
	var dryRun, yes, systemUser bool
	c := a.command(root, groupOther, &cobra.Command{
		Use:   "uninstall [flags]",
		Short: "List, and remove, everything that Plimsoll has left on this machine",
		Long: `List everything that Plimsoll has left on this machine, with sizes, and remove it after asking:
stopped clusters with all their data, backups, results, the cache with its builds of PostgreSQL,
completions and manual pages that were written for your shell. It refuses while a cluster runs
or a measurement is under way.

What is not its own stays and is listed: the configuration file, the program, files that it does
not know, and journals of 'plimsoll advise' that could still undo changes. The system user that
setup created stays, too, unless --system-user is given.`,
		Example: `  plimsoll uninstall --dry-run
  plimsoll uninstall
  plimsoll uninstall --yes --system-user`,
	}, func(ctx context.Context, _ []string) error {
		for _, dir := range []string{dirs.State(), dirs.Cache()} {
			if err := dirs.Guard(dir); err != nil {
				return err
			}
		}
		s, err := uninstall.Look(ctx, uninstall.Options{Clusters: a.clusters(), User: systemUser})
		if err != nil {
			return err
		}
		return a.uninstall(ctx, s, dryRun, yes)
	})
	fs := c.Flags()
	fs.BoolVar(&dryRun, "dry-run", false, "only list what would be removed")
	fs.BoolVar(&yes, "yes", false, "do not ask for confirmation")
	fs.BoolVar(&systemUser, "system-user", false, "also remove the system user "+uninstall.SystemUser)
	config.FlagOnly(fs, "dry-run", "yes", "system-user")
}

func (a *app) uninstall(ctx context.Context, s *uninstall.Survey, dryRun, yes bool) error {
	answer := struct {
		DryRun bool `json:"dry_run"`
		*uninstall.Survey
	}{dryRun, s}
	if dryRun {
		return a.answer(answer, func(w io.Writer) error { return showSurvey(w, s, "would remove") })
	}
	if len(s.Hinders) == 0 && len(s.Removes) > 0 && !yes {
		if err := showSurvey(a.stderr, s, "removes"); err != nil {
			return err
		}
		if err := a.confirmBy("uninstall", "This removes all that.", "nothing was removed", "uninstall"); err != nil {
			return err
		}
	}
	if err := s.Remove(ctx); err != nil {
		return err
	}
	return a.answer(answer, func(w io.Writer) error { return showSurvey(w, s, "removed") })
}

func showSurvey(to io.Writer, s *uninstall.Survey, verb string) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	bytes := int64(0)
	for _, t := range s.Removes {
		size := ""
		if t.Bytes > 0 {
			size = human.Bytes(t.Bytes)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", verb, t.What, size, t.Path)
		bytes += t.Bytes
	}
	if len(s.Removes) == 0 {
		fmt.Fprintln(w, "nothing of Plimsoll's is left to remove")
	}
	for _, t := range s.Stays {
		fmt.Fprintf(w, "stays\t%s\t\t%s\t%s\n", t.What, t.Path, t.Note)
	}
	for _, h := range s.Hinders {
		fmt.Fprintf(w, "first\t%s\t\t%s\n", h.What, h.Do)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if bytes > 0 {
		_, err := fmt.Fprintf(to, "%s in all: %s\n", verb, human.Bytes(bytes))
		return err
	}
	return nil
}

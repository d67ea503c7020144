package cli

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
	"plimsoll/lab/system"
)

func (a *app) addScenario(root *cobra.Command) {
	var load string
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "scenario [FILE] [flags]",
		Short: "Print the default scenario, or check a scenario file",
		Long: `Print the default scenario as a file to start from, or check a file and show its contents:
roles with users and think times, key operations with targets, priorities and shares, the
curve of the day, and the shares that are back-dated or must be refused.

'plimsoll run --scenario FILE' runs it. The result names the scenario and its digest.`,
		Example: `  plimsoll scenario > own.toml
  plimsoll scenario own.toml
  plimsoll scenario --load 1c > own.toml
  plimsoll run --scenario own.toml --duration 1m`,
		Args: arguments(0, 1, "one file"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return []string{"toml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}, func(_ context.Context, args []string) error { return a.scenario(first(args), load) })
	loadFlag(c.Flags(), &load, "whose scenario to print, without a file")
	completeLoads(c)
	config.FlagOnly(c.Flags(), "load")
}

func (a *app) scenario(path, load string) error {
	s, err := readScenario(path, load)
	switch {
	case err != nil:
		return err
	case a.json:
		return a.emit(struct {
			Name   string `json:"name"`
			Digest string `json:"digest"`
			*scenario.Scenario
		}{s.Name, s.Digest(), s})
	case path == "":
		return s.WriteTOML(a.stdout)
	}
	return a.showScenario(s)
}

// readScenario reads a file, or is that of a load by its name.
func readScenario(path, load string) (*scenario.Scenario, error) {
	if _, is := system.OutfitOf(load); is && path == "" {
		return scenario.Of1C(), nil
	}
	return scenario.Read(path)
}

func (a *app) showScenario(s *scenario.Scenario) error {
	c := s.Crowd(0, nil)
	c.Operations = slices.DeleteFunc(c.Operations, func(op users.Operation) bool { return op.Weight == 0 })
	fmt.Fprintf(a.stdout, "scenario %s (%s): %d users, %d key operations\n\n", s.Name, s.Digest(), c.Users,
		len(c.Operations))
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ROLE\tUSERS\tTHINK\tDISTRIBUTION\tAT MOST")
	for _, r := range c.Roles {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", r.Name, r.Users, r.Think.Mean, r.Think.Distribution, r.Think.Cap)
	}
	fmt.Fprintln(w, "\nKEY OPERATION\tT\tPRIORITY\tSHARE")
	for _, op := range c.Operations {
		fmt.Fprintf(w, "%s\t%s\t%d\t%.1f %%\n", op.ID, op.Target, op.Priority, 100*op.Weight)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	switch s.Application {
	case scenario.ERP:
		fmt.Fprintf(a.stdout, "\nrefused by controls: %.1f %% of the sales; back-dated: %.1f %% of the documents\n",
			100*s.Refused, 100*s.Backdated)
	case scenario.OneC:
		fmt.Fprintln(a.stdout, "\na 1C server: SQL as its platform writes it; the totals are audited")
	default:
		fmt.Fprintln(a.stdout, "\nno ERP: nothing is started, and there are no books to audit")
	}
	for _, p := range s.Day {
		fmt.Fprintf(a.stdout, "%s  pace %v\n", time.Time{}.Add(p.At).Format("15:04"), p.Level)
	}
	return nil
}

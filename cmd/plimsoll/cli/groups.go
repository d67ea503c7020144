package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/erp"
	"plimsoll/erp/background"
	"plimsoll/ground/problem"
	"plimsoll/platform/books/group"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// What follows 'plimsoll groups'.
const (
	groupsList   = "list"
	groupsFinish = "finish"
	groupsUndo   = "undo"
)

// groupsConnections: one for the work, one for reading.
const groupsConnections = 2

func (a *app) addGroups(root *cobra.Command) {
	var t target
	c := a.command(root, groupServer, &cobra.Command{
		Use:   "groups [list | finish ID... | undo ID...] [flags]",
		Short: "Finish or undo what is half-done after a crash",
		Long: `Some operations change several documents over several transactions, such as closing all
months up to one ('plimsoll close --through'). Their documents are a group: a row in the
table plimsoll_group counts how many of them are done, in the transaction of each. So after a
kill, a crash of the server or a lost end of the log it is known which groups are half-done.

  groups list         half-done groups that nobody works on; on a standby all unfinished ones
  groups finish ID    do the rest; each document is changed exactly once
  groups undo ID      undo what is done, the last document first

When 'plimsoll serve --jobs' starts, it finishes what a crash left half-done; so does a repeat of
the command that began it. What was cancelled or refused waits for a decision; until then
'plimsoll audit' names it, and no other group of the same kind and organisation begins.`,
		Example: `  plimsoll groups
  plimsoll groups finish 01a20955-c927-7261-9b60-d0175d175d9c
  plimsoll groups undo 01a20955-c927-7261-9b60-d0175d175d9c
  plimsoll groups --json`,
		Args: groupsArguments,
		ValidArgsFunction: cobra.FixedCompletions([]string{groupsList, groupsFinish, groupsUndo},
			cobra.ShellCompDirectiveNoFileComp),
	}, func(ctx context.Context, args []string) error { return a.groups(ctx, args, t) })
	a.targetFlags(c, &t)
}

func groupsArguments(c *cobra.Command, args []string) error {
	usage := "usage: " + c.UseLine()
	switch first(args) {
	case "", groupsList:
		if len(args) > 1 {
			return problem.New(problem.Usage, fmt.Errorf("list takes no arguments, not %q", args[1]), usage)
		}
		return nil
	case groupsFinish, groupsUndo:
	default:
		return problem.New(problem.Usage, fmt.Errorf("%q is not list, finish or undo", args[0]), usage)
	}
	if len(args) == 1 {
		return problem.New(problem.Usage, fmt.Errorf("%s needs the id of a group", args[0]),
			"'plimsoll groups' lists them")
	}
	for _, text := range args[1:] {
		if v, err := id.Parse(text); err != nil || v.IsZero() {
			return problem.New(problem.Usage, fmt.Errorf("%q is not an id", text), "'plimsoll groups' lists them")
		}
	}
	return nil
}

func (a *app) groups(ctx context.Context, args []string, t target) error {
	db, err := a.open(ctx, t, database.Options{Connections: groupsConnections,
		Application: "plimsoll groups"})
	if err != nil {
		return err
	}
	defer db.Close()
	begun, standby, err := group.OnStandby(ctx, db)
	switch {
	case err != nil:
		return err
	case standby && len(args) > 1:
		return problem.New(problem.Environment, errors.New("the standby is read-only"),
			args[0]+" the group on its primary")
	case standby:
		return a.showBegun(begun)
	case len(args) < 2:
		left, err := group.Left(ctx, db)
		if err != nil {
			return err
		}
		return a.showGroups(left)
	}
	if err := erp.Migrate(ctx, db); err != nil { // an older base has no table of groups
		return err
	}
	all, err := background.New(db, a.workerLog())
	if err != nil {
		return err
	}
	resume := background.Groups(db).Finish
	if args[0] == groupsUndo {
		resume = func(ctx context.Context, v id.ID) (group.Group, error) { return background.Undo(ctx, db, all, v) }
	}
	return a.resumeGroups(ctx, args[0], args[1:], resume)
}

// resumeGroups resumes groups in the given order, until one fails.
func (a *app) resumeGroups(ctx context.Context, verb string, ids []string,
	resume func(context.Context, id.ID) (group.Group, error)) error {
	done := []group.Group{}
	var err error
	for i, text := range ids {
		a.meter.Phase(verb, float64(len(ids)), "groups")
		a.meter.Update(float64(i), text)
		v, _ := id.Parse(text)
		var one group.Group
		if one, err = resume(ctx, v); err != nil {
			err = groupProblem(ctx, text, err)
			break
		}
		done = append(done, one)
	}
	a.meter.End()
	if a.json {
		return errors.Join(err, a.emit(map[string]any{"groups": done}))
	}
	for _, g := range done {
		fmt.Fprintf(a.stdout, "%s is %s (%d of %d)\n", g.Title, g.State, g.Done, g.Planned)
	}
	return err
}

func groupProblem(ctx context.Context, text string, err error) error {
	switch {
	case ctx.Err() != nil:
		return problem.New(problem.Interrupted, err, "what is done stays; the same command continues")
	case errors.Is(err, group.ErrUnknown), errors.Is(err, group.ErrEnded):
		return problem.New(problem.Usage, fmt.Errorf("%s: %w", text, err), "'plimsoll groups' lists them")
	case errors.Is(err, group.ErrBusy), errors.Is(err, group.ErrTaken):
		return problem.New(problem.Environment, fmt.Errorf("%s: %w", text, err), "wait until the other has finished")
	}
	return problem.New(problem.ClassOf(err), fmt.Errorf("%s: %w", text, err),
		"remove the cause and repeat, or do the opposite")
}

func (a *app) showGroups(left []group.Group) error {
	if a.json {
		return a.emit(map[string]any{"groups": slices.Concat([]group.Group{}, left)})
	}
	if len(left) == 0 {
		_, err := fmt.Fprintln(a.stdout, "no group is half-done")
		return err
	}
	return a.listGroups(left, "a crash")
}

// showBegun shows the unfinished groups that a standby sees.
func (a *app) showBegun(begun []group.Group) error {
	if a.json {
		return a.emit(map[string]any{"groups": []group.Group{}, "standby": true,
			"unfinished": slices.Concat([]group.Group{}, begun)})
	}
	if len(begun) == 0 {
		_, err := fmt.Fprintln(a.stdout, "no group is unfinished")
		return err
	}
	fmt.Fprintln(a.stdout,
		"unfinished; this is a standby, and only its primary knows whether they are being worked on:")
	return a.listGroups(begun, "-")
}

// listGroups prints a table; defaultReason is the reason shown for groups without one.
func (a *app) listGroups(all []group.Group, defaultReason string) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tWHAT\tDONE\tSINCE\tWHY")
	for _, g := range all {
		why, _, _ := strings.Cut(g.Why, "\n")
		if why == "" {
			why = defaultReason
		}
		if g.State == group.Undoing {
			why = "undoing: " + why
		}
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%s\t%s\n", g.ID, g.Title, g.Done, g.Planned,
			g.Changed.UTC().Format(time.DateTime), why)
	}
	return w.Flush()
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/line"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/run/store"
)

// resultFolders are those of everything that is kept of measurements.
func resultFolders() []kept.Folder {
	return slices.Concat([]kept.Folder{store.Default().Folder}, line.DefaultStore().Folders(),
		[]kept.Folder{compare.DefaultStore().Folder})
}

// results of all kinds, newest first.
func results() (all []kept.Item, err error) {
	for _, f := range resultFolders() {
		items, err := f.Items()
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
	}
	slices.SortStableFunc(all, func(a, b kept.Item) int { return b.At.Compare(a.At) })
	return all, nil
}

func (a *app) listResults(tag string) error {
	all, err := results()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(i kept.Item) bool { return !i.Has(tag) })
	if a.json {
		return a.emit(map[string]any{"results": slices.Concat([]kept.Item{}, all)})
	}
	if len(all) == 0 {
		return a.sayNone("results", tag, "'plimsoll run' creates one")
	}
	return showItems(a.stdout, all)
}

func showItems(to io.Writer, all []kept.Item) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tID\tSIZE\tTAGS\tNOTE")
	for _, i := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", i.Kind, i.ID, human.Bytes(i.Bytes), tagsText(i.Label), i.Note)
	}
	return w.Flush()
}

// findResult by its id, the beginning of it, or latest, which is the newest run.
func findResult(id string) (found kept.Item, err error) {
	all, err := results()
	if err != nil {
		return found, err
	}
	if id == kept.Latest {
		if id, err = store.Default().Find(id); err != nil {
			return found, err
		}
	}
	var ids []string
	for _, i := range all {
		ids = append(ids, i.ID)
	}
	switch meant := kept.Meant(id, ids); len(meant) {
	case 0:
		return found, problem.New(problem.Usage, fmt.Errorf("no result %q", id), "'plimsoll runs --all' lists them")
	case 1:
		return all[slices.Index(ids, meant[0])], nil
	default:
		return found, problem.New(problem.Usage, fmt.Errorf("%q is ambiguous", id),
			"it could be "+strings.Join(meant[:min(3, len(meant))], ", "))
	}
}

// tagResult changes the label of a result.
func (a *app) tagResult(id string, tags []string, o runsOptions) error {
	i, err := findResult(id)
	if err != nil {
		return err
	}
	var note *string
	if o.flags.Changed("note") {
		note = &o.note
	}
	if len(tags) == 0 && len(o.remove) == 0 && note == nil {
		return problem.New(problem.Usage, errors.New("nothing to change"),
			"name tags to add, or give --remove or --note")
	}
	i.Label = i.With(tags, o.remove, note)
	if err := i.Folder.SetLabel(i.ID, i.Label); err != nil {
		return err
	}
	return a.answer(i, func(w io.Writer) error { return showItems(w, []kept.Item{i}) })
}

// prune removes the results that the conditions choose.
func (a *app) prune(ctx context.Context, o runsOptions) error {
	if !slices.ContainsFunc([]string{"older-than", "larger-than", "keep", "tag"}, o.flags.Changed) {
		return problem.New(problem.Usage, errors.New("prune needs a condition"),
			"give --older-than, --larger-than, --keep or --tag")
	}
	o.choice.Tag = o.tag
	all, err := results()
	if err != nil {
		return err
	}
	chosen := o.choice.Of(all, time.Now())
	bytes := int64(0)
	for _, i := range chosen {
		bytes += i.Bytes
	}
	what := human.Count(len(chosen), "result") + ", " + human.Bytes(bytes)
	switch {
	case o.dryRun, len(chosen) == 0:
	case !o.yes:
		if err := showItems(a.stderr, chosen); err != nil {
			return err
		}
		if err := a.confirmBy("prune", "This removes "+what+".", "nothing was removed", "prune"); err != nil {
			return err
		}
		fallthrough
	default:
		for _, i := range chosen {
			if err := i.Remove(ctx); err != nil {
				return err
			}
		}
	}
	return a.answer(map[string]any{"dry_run": o.dryRun, "bytes": bytes,
		"results": slices.Concat([]kept.Item{}, chosen)}, func(w io.Writer) error {
		switch {
		case len(chosen) == 0:
			_, err := fmt.Fprintln(w, "nothing to remove")
			return err
		case !o.dryRun:
			_, err := fmt.Fprintf(w, "removed %s\n", what)
			return err
		}
		if err := showItems(w, chosen); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "would remove %s; without --dry-run they are removed\n", what)
		return err
	})
}

// completeRunsWords offers the words, then ids.
func (a *app) completeRunsWords(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(args) == 0:
		return []string{runsTag, runsPrune}, cobra.ShellCompDirectiveNoFileComp
	case len(args) == 1 && args[0] == runsTag:
		all, _ := results()
		var ids []string
		for _, i := range all {
			ids = append(ids, i.ID)
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

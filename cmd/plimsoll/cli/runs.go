package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/lab/view/archive"
)

// What follows 'plimsoll runs'.
const (
	runsTag   = "tag"
	runsPrune = "prune"
)

type runsOptions struct {
	tag         string
	all         bool
	note        string
	remove      []string
	choice      kept.Choice
	dryRun, yes bool
	flags       *pflag.FlagSet
}

func (a *app) addRuns(root *cobra.Command) {
	var o runsOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "runs [tag RUN [TAG]... | prune] [flags]",
		Short: "List stored runs, tag them, and remove old ones",
		Long: `List the runs stored in the state directory, newest first. --all also lists load lines and
comparisons, with their sizes.

  runs tag RUN TAG...   add tags to a run, a load line or a comparison, or a note with --note
  runs prune            remove stored results: those that all given conditions choose

A result has the tags and the note that 'plimsoll run', 'line' and 'compare' were given, or that
'runs tag' gives it later; RUN is its id, the beginning of it, or latest. 'runs prune' needs one
condition: --older-than, --larger-than, --keep or --tag. It asks before it removes anything;
--dry-run only lists what it would remove. What a process works on is left alone.`,
		Example: `  plimsoll runs
  plimsoll runs --tag nightly
  plimsoll runs --json | jq '.runs[].apdex'
  plimsoll runs tag latest nightly --note upgraded
  plimsoll runs tag 20260131-154500 --remove nightly
  plimsoll runs prune --older-than 30d --tag nightly --keep 5 --dry-run
  plimsoll runs prune --larger-than 5GB --yes`,
		Args:              runsArguments,
		ValidArgsFunction: a.completeRunsWords,
	}, func(ctx context.Context, args []string) error { return a.runs(ctx, args, o) })
	fs := c.Flags()
	o.flags = fs
	fs.StringVar(&o.tag, "tag", "", "list or prune only results with this `TAG`")
	fs.BoolVar(&o.all, "all", false, "list load lines and comparisons too, with sizes")
	fs.StringVar(&o.note, "note", "", "tag: `TEXT` to remember; \"\" removes it")
	fs.StringArrayVar(&o.remove, "remove", nil, "tag: remove this `TAG`; may be repeated")
	config.Age(fs, &o.choice.OlderThan, "older-than", "prune: results that began longer ago than this `AGE`: 30d, 2w")
	config.Size(fs, &o.choice.LargerThan, "larger-than", "prune: the oldest, until all results together take no more "+
		"than this `SIZE`: 5GB")
	config.Count(fs, &o.choice.Keep, "keep", 0, 0, mostOfAnything, "prune: all but the newest so many")
	fs.BoolVar(&o.dryRun, "dry-run", false, "prune: only list what would be removed")
	fs.BoolVar(&o.yes, "yes", false, "prune: do not ask for confirmation")
	config.FlagOnly(fs, "tag", "all", "note", "remove", "older-than", "larger-than", "keep", "dry-run", "yes")
}

func runsArguments(c *cobra.Command, args []string) error {
	switch first(args) {
	case "", runsPrune:
		return arguments(0, 1, "prune")(c, args)
	case runsTag:
		if len(args) < 2 {
			return problem.New(problem.Usage, errors.New("tag needs the id of a run, and tags"),
				"'plimsoll runs --all' lists the ids")
		}
		return kept.CheckTags(args[2:])
	}
	return problem.New(problem.Usage, fmt.Errorf("%q is not tag or prune", args[0]), "usage: "+c.UseLine())
}

// checkFlags refuses flags that have no effect.
func (o runsOptions) checkFlags(verb string) error {
	only := func(of string) idle {
		return idle{When: verb != of, Why: "applies only to 'runs " + of + "'", Hint: "leave it out"}
	}
	tag, prune := only(runsTag), only(runsPrune)
	tag.Flags = []string{"note", "remove"}
	prune.Flags = []string{"older-than", "larger-than", "keep", "dry-run", "yes"}
	return refuseIdle(o.flags, tag, prune,
		idle{verb == runsTag, []string{"tag"}, "lists or prunes; tags to add stand behind the id", "leave --tag out"},
		idle{verb != "", []string{"all"}, "applies only to the list", "leave it out"})
}

func (a *app) runs(ctx context.Context, args []string, o runsOptions) error {
	if err := cmp.Or(o.checkFlags(first(args)), kept.CheckTags(o.remove)); err != nil {
		return err
	}
	a.recoverRuns()
	switch {
	case first(args) == runsTag:
		return a.tagResult(args[1], args[2:], o)
	case first(args) == runsPrune:
		return a.prune(ctx, o)
	case o.all:
		return a.listResults(o.tag)
	}
	return a.listRuns(o.tag)
}

// labelled is a run with its label.
type labelled struct {
	*result.Result
	kept.Label
}

func (a *app) listRuns(tag string) error {
	found, broken, err := store.Default().List()
	if err != nil {
		return err
	}
	for _, why := range broken {
		fmt.Fprintf(a.stderr, "plimsoll: left out: %v\n", why) // also for the quiet
	}
	all := []labelled{}
	for _, r := range found {
		l, err := store.Default().Label(r.ID)
		if err != nil {
			return err
		}
		if l.Has(tag) {
			all = append(all, labelled{r, l})
		}
	}
	if a.json {
		return a.emit(map[string]any{"runs": all})
	}
	return a.showRuns(all, tag)
}

// recoverRuns completes runs whose process died, from their journals; otherwise an older run would pass for the last.
func (a *app) recoverRuns() {
	kept := keptRuns()
	ids, err := kept.Unfinished()
	for _, id := range ids {
		ended := "did not end properly"
		if why := kept.WhyNotKept(id); why != "" {
			ended = "ended, but its result could not be kept (" + why + ")"
		}
		var r *result.Result
		if r, err = run.Recover(kept, id); err != nil {
			break
		}
		fmt.Fprintf(a.stderr, "plimsoll: run %s %s; what its journal has is kept: %s of the steady state\n", id, ended,
			human.Seconds(r.DurationS))
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "plimsoll: left out: %v\n", err)
	}
}

// stored runs, by what they are called.
func (a *app) stored() archive.Named { return archive.Named{Recover: a.recoverRuns} }

func (a *app) showRuns(all []labelled, tag string) error {
	if len(all) == 0 {
		return a.sayNone("runs", tag, "'plimsoll run' creates one")
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tUSERS\tOPS/S\tAPDEX\tBAND\tBOOKS\tENGINE\tVALID\tTAGS\tNOTE")
	for _, r := range all {
		fmt.Fprintf(w, "%s\t%d\t%.1f\t%s\t%s\t%s\t%s %s\t%s\t%s\t%s\n", r.ID, r.Users, r.OpsPerS, scoreText(r.Apdex),
			r.Band, booksText(r.Audit), r.Conditions.Engine.Version, r.Conditions.Engine.Flavour, validText(r.Result),
			tagsText(r.Label), r.Note)
	}
	return w.Flush()
}

func (a *app) sayNone(what, tag, hint string) error {
	if tag != "" {
		_, err := fmt.Fprintf(a.stdout, "no %s with the tag %s\n", what, tag)
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "no %s; %s\n", what, hint)
	return err
}

func tagsText(l kept.Label) string { return cmp.Or(strings.Join(l.Tags, ","), "-") }

func scoreText(score *float64) string { return human.Known(score, "-", apdex.Text) }

func booksText(a result.Audit) string {
	switch {
	case a.None:
		return "no audit"
	case !a.Done:
		return "not audited"
	case a.Clean:
		return "clean"
	}
	return fmt.Sprintf("%d wrong", a.Violations)
}

func validText(r *result.Result) string {
	switch {
	case r.Interrupted:
		return "interrupted"
	case r.Valid:
		return "yes"
	}
	return "no"
}

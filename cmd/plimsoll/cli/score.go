package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/recorded/score"
)

type scoreOptions struct {
	targets, target, html string
	details               bool
}

func (a *app) addScore(root *cobra.Command) {
	var o scoreOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "score LOG... [flags]",
		Short: "Score production from its log: Apdex by operation and hour",
		Long: `Read the technological log of a 1C:Enterprise server, and score what its users did: Apdex, median,
p95 and the share beyond 4T for each operation and hour; how much of it the database and managed
locks had; lock timeouts, deadlocks, exceptions. Nothing is replayed or installed.

LOG is a folder, with a folder for each process as the server makes them (rphost_1234/26112810.log),
or a file of it; .gz too. Text and JSON are read. An operation is a CALL event with a context: it is
named by the context's outermost line, a background job or service by its method. The smallest
useful log has CALL events with Context; with DBPOSTGRS, TLOCK, TTIMEOUT, TDEADLOCK and EXCP the
table has their columns too.

--targets names the target T of each operation. Others have --target, or one that is proposed from
the calm half of the hours: then the score says how much worse the busy hours are than these.

What cannot be read is counted and shown with examples. Memory grows with the number of operations
and hours, not with the log.`,
		Example: `  plimsoll score /var/log/1c/techlog
  plimsoll score rphost_1234/26112810.log --target 1s --details
  plimsoll score /var/log/1c/techlog --targets targets.csv --html score.html
  plimsoll score /var/log/1c/techlog --json | jq '.operations[] | select(.apdex < 0.85) | .name'`,
		Args: arguments(1, 1000, "a folder or file of a log"),
	}, func(ctx context.Context, args []string) error { return a.score(ctx, args, o) })
	fs := c.Flags()
	fs.StringVar(&o.targets, "targets", "", "`FILE` of targets, one operation a line: Document.Order.Post;1.5")
	fs.StringVar(&o.target, "target", "", "target of operations without one of their own, in seconds or as 800ms")
	fs.BoolVar(&o.details, "details", false, "show all operations, not only the worst")
	fs.StringVar(&o.html, "html", "", "also write the HTML report to this `FILE`")
	config.FlagOnly(fs, "html", "targets")
}

func (a *app) score(ctx context.Context, paths []string, o scoreOptions) error {
	options, err := o.read(paths)
	if err != nil {
		return problem.New(problem.Usage, err, "plimsoll score --help")
	}
	if err := kept.Page(o.html).Check(); err != nil {
		return err
	}
	a.meter.Phase("read", 0, "MB")
	options.Progress = func(read, all int64) {
		a.meter.Grow(float64(all) / 1e6)
		a.meter.Update(float64(read)/1e6, "")
	}
	r, err := score.Read(ctx, options)
	a.meter.End()
	if err != nil {
		return scoreError(err)
	}
	a.unusedTargets(r, options.Targets)
	if a.json {
		err = a.emit(r)
	} else {
		err = r.Text(a.stdout, o.details)
	}
	if err != nil {
		return err
	}
	return kept.Page(o.html).Write(r.HTML)
}

func scoreError(err error) error {
	switch {
	case errors.Is(err, score.ErrNoCalls):
		return problem.New(problem.Usage, err, "let the server log CALL events with all properties (logcfg.xml)")
	case errors.Is(err, os.ErrNotExist), errors.Is(err, score.ErrNoLog):
		return problem.New(problem.Usage, err, "name the folder that 'location' in logcfg.xml names")
	}
	return err
}

func (o scoreOptions) read(paths []string) (score.Options, error) {
	options := score.Options{Paths: paths, Zone: time.Local}
	if o.target != "" {
		var err error
		if options.Target, err = score.ParseTarget(o.target); err != nil {
			return options, fmt.Errorf("--target: %w", err)
		}
	}
	if o.targets == "" {
		return options, nil
	}
	file, err := os.Open(o.targets)
	if err != nil {
		return options, fmt.Errorf("--targets: %w", err)
	}
	defer func() { _ = file.Close() }()
	if options.Targets, err = score.ReadTargets(file); err != nil {
		return options, fmt.Errorf("--targets %s: %w", o.targets, err)
	}
	return options, nil
}

// unusedTargets says which targets name no operation of the log.
func (a *app) unusedTargets(r *score.Result, targets map[string]time.Duration) {
	var known []string
	for _, op := range r.Operations {
		known = append(known, op.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		if !slices.Contains(known, name) {
			a.meter.Say("the log has no operation %s; %s", human.PlainLine(name),
				human.NearestHint(name, known, "--details lists those it has"))
		}
	}
}

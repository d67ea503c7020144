package cli

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/lab/run"
	"plimsoll/lab/scenario"
	"plimsoll/lab/users"
	"plimsoll/platform/problem"
)

func scenarioFlag(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "scenario", "", "what the users do: a `FILE` as 'plimsoll scenario' prints it;\n--users and --think go before what it says")
	_ = c.MarkFlagFilename("scenario", "toml")
}

func arrivalFlags(c *cobra.Command, o *runOptions) {
	var words []string
	for _, s := range users.Spacings {
		words = append(words, string(s))
	}
	config.Choice(c.Flags(), &o.arrivals, "arrivals", "", words, "let operations arrive at --rate instead of users thinking; --users\nare then the sessions that take them")
	c.Flags().Float64Var(&o.rate, "rate", 0, "operations per second that arrive")
}

// arrivalsOf is the open model, if it is asked for.
func (o runOptions) arrivalsOf() (*users.Arrivals, error) {
	switch {
	case o.arrivals == "" && o.rate == 0:
		return nil, nil
	case o.arrivals == "":
		return nil, problem.New(problem.Usage, errors.New("--rate is that of --arrivals"), "add --arrivals poisson")
	case o.rate == 0:
		return nil, problem.New(problem.Usage, errors.New("--arrivals need a rate"), "add --rate, operations per second")
	}
	a := &users.Arrivals{Spacing: users.Spacing(o.arrivals), Rate: o.rate}
	return a, problem.New(problem.Usage, a.Check(), "")
}

func distributions() (words []string) {
	for _, d := range users.Distributions {
		words = append(words, string(d))
	}
	return words
}

// runOptions are those of the flags and the scenario; a flag at its default gives way to
// what a scenario file says.
func (a *app) runOptions(command string, o runOptions) (run.Options, error) {
	options, err := o.options()
	if err != nil {
		return options, err
	}
	if options.Scenario, err = readScenario(o.scenario); err != nil {
		return options, err
	}
	if options.Arrivals, err = o.arrivalsOf(); err != nil {
		return options, err
	}
	if err := refuseIdle(o.flags, o.idle(options.Scenario)...); err != nil {
		return options, err
	}
	given := func(key string) bool { return o.scenario == "" || a.sources[command+"."+key].Kind != config.Default }
	if given("users") {
		options.Users = o.users
	}
	if given("think") || given("think-distribution") {
		options.Think = users.Think{Distribution: users.Distribution(o.thinkKind), Mean: o.think}
		if o.think == 0 {
			options.Think.Mean = run.None
		}
	}
	return options, nil
}

func readScenario(path string) (*scenario.Scenario, error) {
	if path == "" {
		return scenario.Default(), nil
	}
	return scenario.Read(path)
}

// readyFor is ready for what the scenario needs: without the ERP nothing is made.
func (a *app) readyFor(ctx context.Context, o runOptions, s *scenario.Scenario) (dsn, profile string, takeDown func() error, err error) {
	if s.Application == scenario.ERP {
		return a.ready(ctx, o)
	}
	nothing := func() error { return nil }
	if o.foreign() || !s.NeedsDatabase() {
		return o.dsn, "", nothing, nil
	}
	dsn, takeDown, err = a.loaded(ctx, o.target, "the scenario speaks to a database: name it with --dsn, or start a cluster with 'plimsoll up'")
	return dsn, "", takeDown, err
}

func (a *app) addScenario(root *cobra.Command) {
	a.command(root, groupJob, &cobra.Command{
		Use:   "scenario [FILE] [flags]",
		Short: "Print what users do, or check a file that says so",
		Long: `Print the default scenario as a file to begin with, or check a file and show what it
comes to: roles with users and think times, key operations with targets, priorities and
shares, the curve of the day, how much is back-dated or must be refused.

'plimsoll run --scenario FILE' runs it. The result names the scenario and its digest.`,
		Example: `  plimsoll scenario > own.toml
  plimsoll scenario own.toml
  plimsoll run --scenario own.toml --duration 1m`,
		Args: arguments(0, 1, "one file"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return []string{"toml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}, func(_ context.Context, args []string) error { return a.scenario(first(args)) })
}

func (a *app) scenario(path string) error {
	s, err := readScenario(path)
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

func (a *app) showScenario(s *scenario.Scenario) error {
	c := s.Crowd(0, nil)
	fmt.Fprintf(a.stdout, "scenario %s (%s): %d users, %d key operations\n\n", s.Name, s.Digest(), c.Users, len(c.Operations))
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
	if s.Application == scenario.ERP {
		fmt.Fprintf(a.stdout, "\nrefused by controls: %.1f %% of the sales; back-dated: %.1f %% of the documents\n", 100*s.Refused, 100*s.Backdated)
	} else {
		fmt.Fprintln(a.stdout, "\nno ERP: nothing is started, and there are no books to audit")
	}
	for _, p := range s.Day {
		fmt.Fprintf(a.stdout, "%s  pace %v\n", time.Time{}.Add(p.At).Format("15:04"), p.Level)
	}
	return nil
}

package cli

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/lab/load"
	"plimsoll/lab/load/rehearsal"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
	"plimsoll/lab/system"
)

// scenarioCheck is what may follow 'plimsoll scenario'; anything else is a file.
const scenarioCheck = "check"

type scenarioOptions struct {
	target
	load, url           string
	pgbench             scenario.Pgbench
	once, secrets, keys bool
	user, seed          int
	timeout             time.Duration
}

func (a *app) addScenario(root *cobra.Command) {
	var o scenarioOptions
	var recorded harOptions
	var statements []string
	var c *cobra.Command
	c = a.command(root, groupJob, &cobra.Command{
		Use:   "scenario [check] [FILE] [flags]",
		Short: "Print the default scenario, check a file and do it once, or make one of a recording",
		Long: `Without a file, print the default scenario as a file to start from. With one, check it and show
its contents: roles with users and think times, key operations with targets, priorities and
shares, the curve of the day, and the shares that are back-dated or must be refused.

--once also plays it with a single user, who logs in and does each operation once: requests and
answers, SQL with its rows, the values that are set, times and verdicts. It changes data as the
operations do. Passwords, tokens and cookies are masked. Exit code 3: an operation failed.

--pgbench prints scripts of pgbench as a scenario, to add targets, think times and gates. Write it
to the folder from which their paths are given.

--from-har makes a scenario of what a browser or proxy has recorded of a web application. Static
files, other sites and analytics are left out; requests become a log-in and operations; values of
answers that return in later requests (tokens, hidden fields, identifiers, redirects) become
variables. What was not sure stands at the top of the file and on stderr.

--from-statements makes one of snapshots of pg_stat_statements, as 'plimsoll score' reads them: each
statement is an operation, as often as it was called. Values of parameters are not in them: the
check names those that you must give.

docs/scenario.md explains every key. --schema prints the JSON schema for editors.
'plimsoll run --scenario FILE' runs it. The result names the scenario and its digest.`,
		Example: `  plimsoll scenario > own.toml
  plimsoll scenario check own.toml
  plimsoll scenario check own.toml --once --url http://127.0.0.1:8000
  PLIMSOLL_DSN=postgres://… plimsoll scenario check own.toml --once --user 7
  plimsoll scenario --load 1c > own.toml
  plimsoll scenario --pgbench tpcb-like@3 --pgbench own.sql > own.toml
  plimsoll scenario --schema > scenario-1.json
  plimsoll scenario --from-har shop.har --with-secrets > own.toml
  plimsoll scenario --from-statements before.csv,after.csv > own.toml
  plimsoll run --scenario own.toml --duration 1m`,
		Args: scenarioArguments,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return []string{"toml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}, func(ctx context.Context, args []string) error {
		if len(statements) > 0 {
			return a.importMix(statements, scenarioFile(args))
		}
		if recorded.file != "" {
			return a.importHAR(recorded, scenarioFile(args))
		}
		if err := unusedHARFlags(c.Flags()); err != nil {
			return err
		}
		if err := o.check(c.Flags(), scenarioFile(args)); err != nil {
			return err
		}
		return a.scenario(ctx, scenarioFile(args), o)
	})
	fs := c.Flags()
	recorded.flags(fs)
	fs.StringSliceVar(&statements, "from-statements", nil, "make a scenario of pg_stat_statements: one snapshot, or "+
		"`BEFORE,AFTER`")
	fs.BoolVar(&o.once, "once", false, "log in one user and do each operation once, and show everything")
	fs.StringVar(&o.url, "url", "", "--once: `URL` of the application, instead of base in the file")
	a.targetFlags(c, &o.target)
	config.Count(fs, &o.user, "user", 0, 0, usersMax-1, "--once: which user, as the variable client_id")
	config.Count(fs, &o.seed, "seed", load.SeedDefault, 0, mostOfAnything, "--once: random seed")
	config.Span(fs, &o.timeout, "timeout", load.TimeoutDefault, time.Millisecond,
		"--once: an operation that takes longer counts as failed")
	fs.BoolVar(&o.secrets, "show-secrets", false, "--once: print passwords, tokens and cookies as they are")
	fs.BoolVar(&o.keys, "schema", false, "print the JSON schema of scenario files, for editors")
	loadFlag(fs, &o.load, "whose scenario to print, without a file")
	pgbenchFlags(fs, &o.pgbench)
	c.MarkFlagsMutuallyExclusive("from-har", "from-statements", "pgbench", "load", "schema")
	completeLoads(c)
	config.FlagOnly(fs, "load", "once", "url", "user", "seed", "timeout", "show-secrets", "schema", "protocol",
		"from-statements")
}

// scenarioFile of the arguments; empty: none.
func scenarioFile(args []string) string {
	if first(args) == scenarioCheck {
		args = args[1:]
	}
	return first(args)
}

func scenarioArguments(c *cobra.Command, args []string) error {
	if first(args) == scenarioCheck {
		return arguments(2, 2, "a file to check; one of that name is ./check")(c, args)
	}
	return arguments(0, 1, "one file")(c, args)
}

// check refuses flags that have no effect.
func (o scenarioOptions) check(fs *pflag.FlagSet, file string) error {
	return refuseIdle(fs,
		idle{o.keys && file != "", []string{"schema"}, "is that of every scenario file", "leave out the file"},
		idle{file == "", []string{"once"}, "needs a scenario file", "'plimsoll scenario check FILE --once'"},
		idle{!o.once, []string{"url", "user", "seed", "timeout", "show-secrets", "cluster", "dsn"},
			"has no effect without --once", "add --once, or leave it out"},
		idle{file != "", []string{"load", "pgbench"}, "has no effect with a file, which says it itself",
			"leave it out"},
		idle{!o.pgbench.Given(), []string{"protocol", "define"}, "has no effect without --pgbench", "add --pgbench"})
}

func (a *app) scenario(ctx context.Context, path string, o scenarioOptions) error {
	if o.keys {
		_, err := a.stdout.Write(scenario.Schema())
		return err
	}
	if o.pgbench.Given() {
		return a.printPgbench(o.pgbench)
	}
	s, err := readScenario(path, o.load)
	switch {
	case err != nil:
		return err
	case o.once:
		return a.rehearse(ctx, s, o)
	case a.json:
		return a.emitScenario(s)
	case path == "":
		return s.WriteTOML(a.stdout)
	}
	return a.showScenario(s)
}

// printPgbench prints scripts as the file that the program makes of them. What cannot be run is refused.
func (a *app) printPgbench(p scenario.Pgbench) error {
	s, err := p.Scenario()
	if err != nil {
		return err
	}
	text, err := p.TOML()
	switch {
	case err != nil:
		return err
	case a.json:
		return a.emitScenario(s)
	}
	_, err = fmt.Fprint(a.stdout, text)
	return err
}

// rehearse does each operation once.
func (a *app) rehearse(ctx context.Context, s *scenario.Scenario, o scenarioOptions) error {
	access := systemOptions{url: o.url}
	once := rehearsal.Options{Scenario: s, URLs: access.urls(), User: o.user, Seed: uint64(o.seed), Timeout: o.timeout,
		Secrets: o.secrets}
	if rehearsal.NeedsDatabase(s) {
		var err error
		if once.DSN, err = o.target.system("").Database(ctx, a.clusters()); err != nil {
			return err
		}
	}
	r, err := rehearsal.Play(ctx, once)
	if r == nil {
		return err
	}
	if shown := a.answer(r, r.Text); err == nil {
		err = shown
	}
	if err != nil {
		return err
	}
	return r.Verdict()
}

func (a *app) emitScenario(s *scenario.Scenario) error {
	return a.emit(struct {
		Name   string `json:"name"`
		Digest string `json:"digest"`
		*scenario.Scenario
	}{s.Name, s.Digest(), s})
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
	for _, g := range s.Gates {
		fmt.Fprintf(a.stdout, "fails if %s\n", g)
	}
	const dayShown = 24
	if len(s.Day) > dayShown {
		fmt.Fprintf(a.stdout, "pace of a recorded day, %d points\n", len(s.Day))
		return nil
	}
	for _, p := range s.Day {
		fmt.Fprintf(a.stdout, "%s  pace %v\n", time.Time{}.Add(p.At).Format("15:04"), p.Level)
	}
	return nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/dirs"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
)

// Groups of commands in the help, the main job first.
const (
	groupJob      = "job"
	groupDatabase = "database"
	groupServer   = "server"
	groupOther    = "other"
)

const orientation = `Plimsoll finds how many users a business application on PostgreSQL carries before
they are no longer satisfied. The application is an ERP that comes with it.

Start with (makes a small database first and stops it afterwards):

  plimsoll run                     1,000 users for half a minute, then Apdex and a report

Then:

  plimsoll run --users 5000        more users
  plimsoll report                  the last result again
  plimsoll prove                   claims about such systems, and what holds on this machine
  plimsoll help                    all commands; 'plimsoll help run' explains one
`

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "plimsoll",
		Short: "How many users a business application on PostgreSQL carries",
		Long: `Plimsoll finds how many users a business application on PostgreSQL carries before
they are no longer satisfied: it fills an ERP, puts virtual users on it, scores every
key operation by Apdex, and checks that the books still balance.`,
		Example: `  plimsoll run --users 1000        the main command: load, Apdex table, audit, report
  plimsoll up && plimsoll fill     keep a filled database running for many runs
  plimsoll prove C01               test a claim on this machine`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(c, args[0])
		},
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(a.stdout, orientation)
			return err
		},
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(
		&cobra.Group{ID: groupJob, Title: "Measure:"},
		&cobra.Group{ID: groupDatabase, Title: "Local database:"},
		&cobra.Group{ID: groupServer, Title: "Application:"},
		&cobra.Group{ID: groupOther, Title: "Other:"},
	)
	root.SetHelpCommandGroupID(groupOther)
	fs := root.PersistentFlags()
	fs.SortFlags = false
	fs.BoolVar(&a.json, "json", false, "print the answer as JSON on stdout; errors as JSON on the last line of stderr")
	fs.BoolVarP(&a.quiet, "quiet", "q", false, "print no progress")
	fs.StringVar(&a.configFile, "config", "", "read this configuration `FILE`")
	config.FlagOnly(fs, "config")
	a.addCommands(root)
	return root
}

func unknownCommand(root *cobra.Command, name string) error {
	return problem.New(problem.Usage, fmt.Errorf("unknown command %q", name),
		human.NearestHint(name, commandNames(root), "'plimsoll help' lists the commands"))
}

// command completes c with what all commands share and puts it under root.
func (a *app) command(root *cobra.Command, group string, c *cobra.Command,
	do func(ctx context.Context, args []string) error) *cobra.Command {
	c.GroupID = group
	c.Flags().SortFlags = false
	if c.Args == nil {
		c.Args = arguments(0, 0, "")
	}
	c.DisableFlagsInUseLine = true
	c.RunE = func(c *cobra.Command, args []string) error {
		if !c.Hidden {
			var err error
			if a.sources, err = a.configure(); err != nil {
				return err
			}
			if group != groupOther { // those only print
				if err := dirs.Guard(dirs.State()); err != nil {
					return err
				}
			}
		}
		a.running = true
		a.progressTo(a.rawErr)
		return do(c.Context(), args)
	}
	root.AddCommand(c)
	return c
}

// arguments accepts between min and max of them; what names them in the error.
func arguments(min, max int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < min:
			return problem.New(problem.Usage, fmt.Errorf("%s needs %s", c.CommandPath(), what), "usage: "+c.UseLine())
		case max == 0 && len(args) > 0:
			return problem.New(problem.Usage, fmt.Errorf("%s takes no arguments, not %q", c.CommandPath(), args[0]),
				"usage: "+c.UseLine())
		case len(args) > max:
			return problem.New(problem.Usage, fmt.Errorf("%s takes at most %s, not also %q", c.CommandPath(), what,
				args[max]), "usage: "+c.UseLine())
		}
		return nil
	}
}

// flagError says in plain words what the flag parser found.
func flagError(c *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		name := unknown.GetSpecifiedName()
		hint := fmt.Sprintf("'%s --help' lists the flags", c.CommandPath())
		if near := human.Nearest(name, flagNames(c)); near != "" {
			hint = fmt.Sprintf("did you mean --%s?", near)
		} else if name == "version" {
			hint = "the command is 'plimsoll version'"
		}
		return problem.New(problem.Usage, fmt.Errorf("unknown flag --%s", name), hint)
	case errors.As(err, &unknown):
		return problem.New(problem.Usage, fmt.Errorf("unknown flag -%s", unknown.GetSpecifiedName()),
			fmt.Sprintf("'%s --help' lists the flags", c.CommandPath()))
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		return problem.New(problem.Usage, config.Wrong("--"+f.Name, f, invalid.GetValue(), invalid), "")
	case errors.As(err, &missing):
		f := missing.GetFlag()
		return problem.New(problem.Usage, fmt.Errorf("--%s needs a value: %s", f.Name, config.Kind(f)), flagHint(f))
	}
	return problem.New(problem.Usage, err, "")
}

// groupOf finds the flags in the second pair of brackets, or the only one, of cobra's errors on groups of flags.
var groupOf = regexp.MustCompile(`^(?:if any|at least one).*\[([^]]+)\][^]]*$`)

// flagGroupError says in plain words which flags exclude each other, or that one of them is needed.
func flagGroupError(err error) error {
	found := groupOf.FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	flags := strings.Fields(found[1])
	for i := range flags {
		flags[i] = "--" + flags[i]
	}
	if strings.HasPrefix(err.Error(), "at least") {
		return fmt.Errorf("one of %s is needed", strings.Join(flags, ", "))
	}
	return fmt.Errorf("%s exclude each other", strings.Join(flags, " and "))
}

// flagHint is the flag's line of the help.
func flagHint(f *pflag.Flag) string {
	name, text := flagUsage(f)
	return strings.TrimSpace(name) + ": " + text
}

func flagNames(c *cobra.Command) (names []string) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

func commandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" {
			names = append(names, c.Name())
		}
	}
	return append(names, "help")
}

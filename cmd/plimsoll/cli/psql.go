package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"

	"plimsoll/ground/problem"
	"plimsoll/lab/system"
)

func (a *app) addPsql(root *cobra.Command) {
	var c *cobra.Command
	c = a.command(root, groupDatabase, &cobra.Command{
		Use:   "psql [NAME] [flags] [-- ARGUMENTS OF PSQL]",
		Short: "Open psql on a local cluster",
		Long: `Open psql on a running local cluster, in the ERP's database if there is one.
Arguments after -- go to psql.`,
		Example: `  plimsoll psql
  plimsoll psql vanilla -- -d postgres -c 'SHOW shared_buffers'`,
		Args: func(c *cobra.Command, args []string) error {
			own, _ := splitAtDash(c, args)
			return arguments(0, 1, "one name; put arguments of psql after --")(c, own)
		},
		ValidArgsFunction: a.completeClusters,
	}, func(ctx context.Context, args []string) error {
		own, rest := splitAtDash(c, args)
		return a.psql(ctx, first(own), rest)
	})
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return problem.WithHint(flagError(c, err), "arguments of psql come after --: plimsoll psql -- -c 'SELECT 1'")
	})
}

func splitAtDash(c *cobra.Command, args []string) (own, rest []string) {
	if n := c.ArgsLenAtDash(); n >= 0 {
		return args[:n], args[n:]
	}
	return args, nil
}

func (a *app) psql(ctx context.Context, name string, args []string) error {
	c, err := a.clusters().Running(ctx, name)
	if err != nil {
		return err
	}
	if has, err := c.HasDatabase(ctx, system.Database); err != nil {
		return err
	} else if has {
		args = append([]string{"--dbname=" + system.Database}, args...)
	}
	cmd, err := c.Command(ctx, "psql", args...)
	if err != nil {
		return err
	}
	if a.ownsTerminal() {
		// psql takes this process's place: it alone knows what Ctrl-C means to it.
		return fmt.Errorf("run psql: %w", syscall.Exec(cmd.Path, cmd.Args, cmd.Env))
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.rawOut, a.rawErr
	return childError("psql", cmd.Run())
}

func (a *app) ownsTerminal() bool {
	return a.stdin == os.Stdin && a.rawOut == os.Stdout && a.rawErr == os.Stderr
}

// childError says how a program that was run ended; it has told its story itself.
func childError(program string, err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return problem.New(problem.Failure, fmt.Errorf("%s ended with %s", program, exit.ProcessState), "")
	}
	return err
}

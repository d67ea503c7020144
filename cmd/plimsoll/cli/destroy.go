package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/postgres/backup"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
)

func (a *app) addDestroy(root *cobra.Command) {
	var yes bool
	c := a.command(root, groupDatabase, &cobra.Command{
		Use:   "destroy NAME [flags]",
		Short: "Remove a stopped cluster with all its data",
		Long: `Remove a stopped local cluster with all its data, after asking, and the archive of its log
if no backup needs that. A folder that Plimsoll did not create is never touched.`,
		Example: `  plimsoll down vanilla && plimsoll destroy vanilla
  plimsoll destroy vanilla --yes`,
		Args:              arguments(1, 1, "the name of a cluster"),
		ValidArgsFunction: a.completeClusters,
	}, func(ctx context.Context, args []string) error {
		if err := a.destroyable(ctx, args[0]); err != nil {
			return err
		}
		if !yes {
			if err := a.confirm("This removes cluster "+args[0]+" with all its data.",
				"cluster "+args[0]+" was not destroyed", args[0]); err != nil {
				return err
			}
		}
		clusters := a.clusters()
		archive := ""
		if c, err := clusters.Find(args[0]); err == nil {
			archive = c.Archive
		}
		if err := clusters.Destroy(ctx, args[0]); err != nil {
			return err
		}
		if err := backup.Open(clusters).Forget(archive); err != nil {
			return err
		}
		return a.answerLine(map[string]string{"destroyed": args[0]}, "cluster %s was removed", args[0])
	})
	c.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	config.FlagOnly(c.Flags(), "yes")
}

// destroyable finds the cluster before asking.
func (a *app) destroyable(ctx context.Context, name string) error {
	c, err := a.clusters().Find(name)
	if err != nil {
		return err
	}
	if s := c.Status(ctx); s.State == cluster.Running {
		return problem.New(problem.Environment, fmt.Errorf("cluster %s is running", name),
			"stop it first: plimsoll down "+name)
	}
	return nil
}

// confirm asks for the name, because "y" is typed too easily.
func (a *app) confirm(what, refused, name string) error {
	return a.confirmBy("its name", what, refused, name)
}

// confirmBy asks for a word, which is described to the person.
func (a *app) confirmBy(described, what, refused, word string) error {
	fmt.Fprintf(a.stderr, "%s Type %s to continue: ", what, described)
	line, err := bufio.NewReader(a.stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if strings.TrimSpace(line) == word {
		return nil
	}
	if line == "" {
		fmt.Fprintln(a.stderr)
		return problem.New(problem.Usage, errors.New(refused+": there was no answer"), "--yes skips the question")
	}
	return problem.New(problem.Usage, errors.New(refused+": the answer was not "+described), "--yes skips the question")
}

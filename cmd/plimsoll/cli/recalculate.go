package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/erp/recalculation"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
)

func (a *app) addRecalculate(root *cobra.Command) {
	var t target
	c := a.command(root, groupServer, &cobra.Command{
		Use:   "recalculate [REGISTER...] [flags]",
		Short: "Rebuild totals from movements",
		Long: `Rebuild the totals of the named registers, or of all, from their movements. Use it to repair
damaged totals, and to merge totals that concurrent posting has split. Users may post
meanwhile: postings to a register wait until its totals are rebuilt.`,
		Example: `  plimsoll recalculate
  plimsoll recalculate stock batches`,
		Args:      cobra.ArbitraryArgs,
		ValidArgs: recalculation.Registers(),
	}, func(ctx context.Context, args []string) error { return a.recalculate(ctx, args, t) })
	a.targetFlags(c, &t)
}

func (a *app) recalculate(ctx context.Context, registers []string, t target) error {
	for _, name := range registers {
		if !slices.Contains(recalculation.Registers(), name) {
			return problem.New(problem.Usage, fmt.Errorf("no register %q", name),
				human.NearestHint(name, recalculation.Registers(),
					"there are "+strings.Join(recalculation.Registers(), ", ")))
		}
	}
	job, err := a.runJob(ctx, backgroundJob{
		target: t, kind: recalculation.Kind, arguments: recalculation.Arguments{Registers: registers}, threads: 2,
		phase: "recalculate", unit: "registers", again: "the same command starts over",
	})
	if err != nil {
		return err
	}
	done := recalculation.Result{}
	if err := json.Unmarshal(job.Result, &done); err != nil {
		return fmt.Errorf("read result: %w", err)
	}
	if a.json {
		return a.emit(map[string]any{"totals": done, "elapsed_ms": float64(elapsed(job).Microseconds()) / 1000})
	}
	for _, name := range recalculation.Registers() {
		if n, ok := done[name]; ok {
			fmt.Fprintf(a.stdout, "%-10s %d totals\n", name, n)
		}
	}
	_, err = fmt.Fprintf(a.stdout, "recalculated in %s\n", elapsed(job).Round(100*time.Millisecond))
	return err
}

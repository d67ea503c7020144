package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/erp/monthclose"
)

type closeOptions struct {
	target
	organisation    string
	through, reopen bool
}

func (a *app) addClose(root *cobra.Command) {
	var o closeOptions
	c := a.command(root, groupServer, &cobra.Command{
		Use:   "close MONTH [flags]",
		Short: "Close a month: sales to profit or loss",
		Long: `Close a month of the books: a document at the month's last moment moves the result of
sales from account 90 to 99. Costs must follow the order of time until then ('plimsoll
restore'), or the month stays open. Writing into a closed month, or one before it, is
refused. Months close in order once they have ended, and reopen from the last one back.
--through closes all open months up to MONTH, in order. If it is killed, cancelled or one of
them cannot be closed, the same command continues, and 'plimsoll groups' finishes or undoes
what is half-done.`,
		Example: `  plimsoll close 2025-05
  plimsoll close 2025-05 --through
  plimsoll close 2025-05 --organisation ORG001
  plimsoll close 2025-05 --reopen`,
		Args: arguments(1, 1, "a month, such as 2025-05"),
	}, func(ctx context.Context, args []string) error { return a.closeMonth(ctx, args[0], o) })
	fs := c.Flags()
	fs.StringVar(&o.organisation, "organisation", "", "close only the organisation with this `CODE`")
	fs.BoolVar(&o.through, "through", false, "close every open month up to this one, in order")
	fs.BoolVar(&o.reopen, "reopen", false, "reopen the month")
	a.targetFlags(c, &o.target)
	c.MarkFlagsMutuallyExclusive("through", "reopen")
	config.FlagOnly(fs, "organisation", "through", "reopen")
}

func (a *app) closeMonth(ctx context.Context, month string, o closeOptions) error {
	last, err := monthclose.Month(month)
	if err == nil && !o.reopen {
		err = monthclose.Ended(last)
	}
	if err != nil {
		return err
	}
	organisation, err := a.organisation(ctx, o.target, o.organisation)
	if err != nil {
		return err
	}
	job, err := a.runJob(ctx, backgroundJob{
		target: o.target, kind: monthclose.Kind,
		arguments: monthclose.Arguments{Organisation: organisation, Month: month, Through: o.through, Reopen: o.reopen},
		threads:   2,
		phase:     "close " + month, unit: "organisations", again: "the same command closes the remaining months",
	})
	if err != nil {
		return err
	}
	var done []monthclose.Closed
	if err := json.Unmarshal(job.Result, &done); err != nil {
		return fmt.Errorf("read result: %w", err)
	}
	if a.json {
		return a.emit(map[string]any{"month": month, "organisations": done})
	}
	for _, c := range done {
		state := "open"
		if c.Closed {
			state = "closed by " + c.Number + ", result " + c.Result.String()
		}
		fmt.Fprintf(a.stdout, "%-8s %s %s\n", c.Code, c.Month, state)
	}
	return nil
}

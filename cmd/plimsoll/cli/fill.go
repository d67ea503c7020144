package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/erp/fill"
	"plimsoll/platform/database"
	"plimsoll/platform/problem"
)

type fillOptions struct {
	target
	items, warehouses, counterparties, users, organisations, documents, seed int
	ifEmpty, small                                                           bool
	flags                                                                    *pflag.FlagSet
}

func (a *app) addFill(root *cobra.Command) {
	var o fillOptions
	c := a.command(root, groupServer, &cobra.Command{
		Use:   "fill [flags]",
		Short: "Fill an empty database with the ERP's catalogs and history",
		Long: `Fill an empty database with the ERP's catalogs and a history of documents. The same
numbers and seed give the same base. It is one transaction: stopped half-way it
leaves nothing behind, and a database that holds data is never added to.`,
		Example: `  plimsoll up && plimsoll fill
  plimsoll fill --small                    enough to try the API on
  plimsoll fill --documents 50000 --warehouses 50
  plimsoll fill --if-empty                 in scripts: content with a filled database`,
	}, func(ctx context.Context, _ []string) error { return a.fill(ctx, &o) })
	fs := c.Flags()
	fillFlags(fs, &o)
	o.flags = fs
	fs.BoolVar(&o.small, "small", false, "a base to try things on: 200 documents, 100 items; filled within seconds")
	fs.BoolVar(&o.ifEmpty, "if-empty", false, "a database that holds data already is no error")
	a.targetFlags(c, &o.target)
	config.FlagOnly(fs, "if-empty", "small")
}

func (o fillOptions) options() fill.Options {
	options := fill.Options{
		Items: o.items, Warehouses: o.warehouses, Counterparties: o.counterparties,
		Users: o.users, Organisations: o.organisations, Documents: o.documents, Seed: uint64(o.seed),
	}
	if o.documents == 0 {
		options.Documents = -1 // none, where 0 is the default
	}
	return options
}

func (a *app) fill(ctx context.Context, o *fillOptions) error {
	if o.small {
		if err := shrink(o.flags); err != nil {
			return err
		}
	}
	dsn, err := a.database(ctx, o.target)
	if err != nil {
		return err
	}
	db, err := database.Open(ctx, dsn, database.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	options := o.options()
	options.Progress = a.fillProgress()
	done, err := fill.Run(ctx, db, options)
	a.meter.End()
	switch {
	case errors.Is(err, fill.ErrNotEmpty) && o.ifEmpty:
		return a.filled(nil)
	case errors.Is(err, fill.ErrNotEmpty):
		return problem.New(problem.Usage, err, "--if-empty leaves it at that; to start over: plimsoll down, destroy, up, fill")
	case err != nil && ctx.Err() != nil:
		return problem.New(problem.Interrupted, fmt.Errorf("fill was stopped; the database is as it was: %w", ctx.Err()), "the same command starts it again")
	case err != nil:
		return err
	}
	return a.filled(&done)
}

// fillProgress shows the stages of a fill one after the other.
func (a *app) fillProgress() func(fill.Progress) {
	stage := ""
	return func(p fill.Progress) {
		if p.Stage != stage {
			stage = p.Stage
			a.meter.Phase("fill, "+stage, float64(p.Total), "done")
		}
		a.meter.Update(float64(p.Done), "")
	}
}

func (a *app) filled(done *fill.Summary) error {
	if a.json {
		return a.emit(struct {
			Filled bool `json:"filled"` // false: it was already
			*fill.Summary
		}{done != nil, done})
	}
	if done == nil {
		_, err := fmt.Fprintln(a.stdout, "the database is filled already")
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "filled: %d documents, %d items, %d counterparties, %d warehouses, %d users; %d rows in %s\n",
		done.Documents, done.Items, done.Counterparties, done.Warehouses, done.Users, done.Rows, done.Elapsed.Round(100*time.Millisecond))
	return err
}

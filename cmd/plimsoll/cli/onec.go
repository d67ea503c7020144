package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/onec"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/system"
)

// loadERP is the load that commands put on a system, unless --load names another one.
const loadERP = string(scenario.ERP)

// loads are the values of --load: the ERP's, or that of a 1C server, with an outfit.
func loads() []string {
	all := []string{loadERP, string(scenario.OneC)}
	for _, o := range onec.Outfits {
		all = append(all, string(scenario.OneC)+"+"+string(o))
	}
	return all
}

// loadFlag binds which load is meant.
func loadFlag(fs *pflag.FlagSet, load *string, usage string) {
	config.Choice(fs, load, "load", loadERP, loads(), usage)
}

const outfitUsage = "; 1c: as a 1C server works, with plain (any server: plain texts, TRUNCATE, ANALYZE), " +
	"extensions (mchar, fulleq, fasttruncate, online_analyze) or memory (and temporary tables in memory); " +
	"alone: the most that the server has"

// oneCDatabase is the connection string of a 1C base, whose database is created in a local cluster if it is missing.
func (a *app) oneCDatabase(ctx context.Context, t target, asked onec.Outfit) (dsn string, o onec.Outfit, err error) {
	if t.foreign() {
		return t.dsn, asked, nil
	}
	c, err := a.clusters().Running(ctx, t.cluster)
	if err != nil {
		return "", asked, err
	}
	return system.EnsureOneC(ctx, c, asked)
}

// oneCSizes are those that flags name, or the usual ones.
func (o *fillOptions) oneCSizes() onec.Sizes {
	s := onec.DefaultSizes()
	if o.flags.Changed("scale") {
		for _, n := range []*int{&s.Documents, &s.Items, &s.Partners, &s.Warehouses} {
			*n = max(1, int(math.Round(float64(*n)*o.scale)))
		}
	}
	for name, to := range map[string]*int{"documents": &s.Documents, "items": &s.Items, "counterparties": &s.Partners,
		"warehouses": &s.Warehouses, "seed": &s.Seed} {
		if o.flags.Changed(name) {
			_, _ = fmt.Sscan(o.flags.Lookup(name).Value.String(), to) // it was checked when it was set
		}
	}
	return s
}

// erpFillFlags are those of a fill that a 1C base has none of.
var erpFillFlags = []string{"size", "streams", "organisations", "users", "small", "resume", "discard", "estimate",
	"check", "compare-copy"}

// fillOneC makes a 1C base, or goes on with one that was stopped.
func (a *app) fillOneC(ctx context.Context, o *fillOptions, asked onec.Outfit) error {
	if err := refuseIdle(o.flags, idle{true, erpFillFlags, "applies only to the ERP's base",
		"leave it out; a stopped fill of a 1C base is continued by the same command"}); err != nil {
		return err
	}
	dsn, outfit, err := a.oneCDatabase(ctx, o.target, asked)
	if err != nil {
		return err
	}
	if !o.mayCreate(o.create) {
		return problem.New(problem.Usage, errors.New("the database of --dsn is filled only with --create"), "")
	}
	if o.foreign() {
		server, err := onec.Probe(ctx, dsn)
		if err == nil && (outfit == onec.Auto || outfit != onec.Plain && !server.Extensions) {
			outfit, err = asked.On(server)
		}
		if err != nil {
			return err
		}
	}
	done, err := onec.Fill(ctx, dsn, onec.FillOptions{Sizes: o.oneCSizes(), Plain: outfit == onec.Plain,
		Progress: a.oneCProgress()})
	a.meter.End()
	switch {
	case errors.Is(err, onec.ErrNotEmpty) && o.ifEmpty:
		return a.filledOneC(nil, false)
	case errors.Is(err, onec.ErrNotEmpty):
		return problem.New(problem.Usage, err, "--if-empty skips a filled database; other sizes need another one")
	case err != nil && ctx.Err() != nil:
		return problem.New(problem.Interrupted, fmt.Errorf("fill was stopped; finished parts are kept: %w", ctx.Err()),
			"the same command continues")
	case err != nil:
		return err
	}
	kept, err := a.keepCopy(ctx, dsn, o)
	if err != nil {
		return err
	}
	return a.filledOneC(&done, kept)
}

// oneCProgress shows the stages of a fill one after the other.
func (a *app) oneCProgress() func(onec.Progress) {
	show := a.fillStages()
	return func(p onec.Progress) { show(p.Stage, float64(p.Done), float64(p.Total)) }
}

func (a *app) filledOneC(done *onec.Filled, kept bool) error {
	if a.json {
		return a.emit(struct {
			Filled bool         `json:"filled"` // false: it already was
			Made   *onec.Filled `json:"made,omitempty"`
			Kept   bool         `json:"copy_kept"`
		}{done != nil, done, kept})
	}
	if done == nil {
		_, err := fmt.Fprintln(a.stdout, "the database is filled already")
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "filled: %s, in %.1f s\n", done.Base, done.Elapsed.Seconds())
	return err
}

// auditOneC checks a 1C base.
func (a *app) auditOneC(ctx context.Context, o auditOptions, asked onec.Outfit) error {
	if err := refuseIdle(o.given, idle{true, []string{"full", "since-clean", "sample", "seed", "connections",
		"examples", "digest", "max-lag", "wait"}, "applies only to the ERP's books", "leave it out"}); err != nil {
		return err
	}
	dsn, _, err := a.oneCDatabase(ctx, o.target, asked)
	if err != nil {
		return err
	}
	a.meter.Phase("audit", 0, "checks")
	report, err := onec.Audit(ctx, dsn, func(done, all int) {
		a.meter.Grow(float64(all))
		a.meter.Update(float64(done), "")
	})
	a.meter.End()
	switch {
	case err != nil && ctx.Err() != nil:
		return problem.New(problem.Interrupted, errors.New("the audit was stopped before its end, so the state "+
			"of the base is unknown"), "nothing was changed; the same command starts over")
	case err != nil:
		return err
	case a.json:
		err = a.emit(report)
	default:
		err = a.showOneCAudit(report, o.list)
	}
	if err != nil || report.Clean() {
		return err
	}
	return problem.New(problem.Threshold, fmt.Errorf("the totals are wrong: %d violations", report.Violations), "")
}

// showOneCAudit lists the violated checks, or all.
func (a *app) showOneCAudit(r onec.Report, all bool) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	if all || !r.Clean() {
		fmt.Fprintln(w, "CHECK\tVIOLATIONS\tWHAT")
	}
	for _, c := range r.Checks {
		if all || c.Violations > 0 {
			fmt.Fprintf(w, "%s\t%d\t%s\n", c.Name, c.Violations, c.Title)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, c := range r.Checks {
		for _, example := range c.Examples {
			fmt.Fprintf(a.stdout, "%s: %s\n", c.Name, example)
		}
	}
	if !r.Clean() {
		return nil
	}
	_, err := fmt.Fprintf(a.stdout, "the totals are right: %d checks, no violation\n", len(r.Checks))
	return err
}

// completeLoads offers what is sensible for a flag --load.
func completeLoads(c *cobra.Command) {
	_ = c.RegisterFlagCompletionFunc("load", cobra.FixedCompletions(slices.Clone(loads()),
		cobra.ShellCompDirectiveNoFileComp))
}

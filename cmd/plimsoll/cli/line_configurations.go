package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/erp/fill"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
	"plimsoll/lab/line"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/prove/rig"
	"plimsoll/lab/run"
	"plimsoll/platform/worker/shape"
)

// configuration is a cluster and the shape of the ERP on it.
type configuration struct {
	name, cluster string
	shape         shapeOptions
}

// parseConfiguration reads CLUSTER+SHAPE, or CLUSTER alone, which has this shape.
func parseConfiguration(text string, shaped shapeOptions, erp bool) (c configuration, err error) {
	c = configuration{name: strings.TrimSpace(text), shape: shaped}
	name, shapeName, has := strings.Cut(c.name, "+")
	c.cluster = name
	if has {
		c.shape.name = shapeName
	}
	usage := func(err error, hint string) (configuration, error) { return c, problem.New(problem.Usage, err, hint) }
	switch {
	case name == "":
		return usage(fmt.Errorf("%q has no cluster", text), "such as plimsoll+lean")
	case has && !slices.Contains(words(shape.Names), shapeName):
		return usage(fmt.Errorf("%q is not a shape of the ERP", shapeName),
			human.NearestHint(shapeName, words(shape.Names), "there are: "+strings.Join(words(shape.Names), ", ")))
	case has && !erp:
		return usage(fmt.Errorf("%s: the scenario has no ERP, so there is no shape", c.name), "name clusters alone")
	}
	_, err = c.shape.shape()
	return c, err
}

// parseConfigurations reads those of a search; each stands once.
func (o lineOptions) parseConfigurations(erp bool) (all []configuration, err error) {
	for _, text := range o.configurations {
		c, err := parseConfiguration(text, o.shapeOptions, erp)
		if err == nil && slices.ContainsFunc(all, func(other configuration) bool { return other.name == c.name }) {
			err = problem.New(problem.Usage, fmt.Errorf("%s is named twice", c.name), "")
		}
		if err != nil {
			return nil, problem.WithHint(fmt.Errorf("--configurations: %w", err), problem.HintOf(err))
		}
		all = append(all, c)
	}
	if len(all) < 2 {
		return nil, problem.New(problem.Usage,
			fmt.Errorf("--configurations: %s alone has nothing to be compared with", all[0].name),
			"such as --configurations vanilla+classic,plimsoll+lean")
	}
	return all, nil
}

// lines finds the load lines of several systems in turns.
func (a *app) lines(ctx context.Context, o lineOptions, options line.Options) (err error) {
	erp := options.Run.Scenario.Application == scenario.ERP
	all, err := o.parseConfigurations(erp)
	if err != nil {
		return err
	}
	found, err := a.searchAll(ctx, all, options)
	if found == nil {
		return err
	}
	if showErr := a.showLine(o, found.ID, found); err == nil {
		err = showErr
	}
	if err != nil {
		return err
	}
	return judgeLines(found)
}

func (a *app) searchAll(ctx context.Context, all []configuration, options line.Options) (c *line.Comparison,
	err error) {
	bases, takeDown, err := a.basesOf(ctx, all, options)
	defer func() {
		if down := takeDown(); err == nil {
			err = down
		}
	}()
	if err != nil {
		return nil, err
	}
	systems, err := systemsOf(all, bases, options.Run)
	if err != nil {
		return nil, err
	}
	options.Progress = a.lineProgress()
	a.meter.Say("about %d trials of %d configurations in turns, about %s in all", len(systems)*options.Left(nil),
		len(systems), options.EstimateAll(systems).Round(time.Minute))
	defer a.meter.End()
	return line.FindAll(ctx, options, systems)
}

// base of the ERP in a cluster that runs.
type base struct {
	dsn, profile string
	rig.Base
	rig *rig.Rig // nil: this program does not start and stop the server
}

// basesOf starts every cluster that is named, and returns the bases by name. What was started is also stopped after an
// error.
func (a *app) basesOf(ctx context.Context, all []configuration, o line.Options) (bases map[string]base,
	takeDown func() error, err error) {
	bases = map[string]base{}
	var rigs []*rig.Rig
	takeDown = func() (err error) {
		for _, r := range rigs {
			err = errors.Join(err, r.Close())
		}
		return err
	}
	for _, c := range all {
		if _, found := bases[c.cluster]; found {
			continue
		}
		if o.Run.Scenario.Application != scenario.ERP {
			dsn, err := a.database(ctx, target{cluster: c.cluster})
			if err != nil {
				return nil, takeDown, err
			}
			bases[c.cluster] = base{dsn: dsn}
			continue
		}
		r, b, err := a.baseOf(ctx, c.cluster, o)
		if r != nil {
			rigs = append(rigs, r)
		}
		if err != nil {
			return nil, takeDown, err
		}
		bases[c.cluster] = b
	}
	return bases, takeDown, sameBases(all, bases)
}

func (a *app) baseOf(ctx context.Context, name string, o line.Options) (*rig.Rig, base, error) {
	name, err := a.pickOrName(ctx, name, "")
	if err != nil {
		return nil, base{}, err
	}
	r, err := rig.Up(ctx, rig.Options{
		Clusters: a.clusters(), Name: name, Spec: cluster.Spec{Engine: specEngine(name, "")},
		Fill: fill.Options{Progress: a.fillProgress()}, Say: a.meter.Say,
	})
	a.meter.End()
	if err != nil {
		return nil, base{}, err
	}
	b := base{dsn: r.DSN().Secret(), profile: r.Profile(), rig: r}
	from, err := o.Reset.StartsFrom(ctx, o.Run.Scenario, b.dsn, false)
	if err != nil {
		return r, b, err
	}
	b.Base, err = rig.Look(ctx, from)
	return r, b, err
}

// sameBases refuses to compare systems whose bases hold different data.
func sameBases(all []configuration, bases map[string]base) error {
	first := bases[all[0].cluster]
	for _, c := range all[1:] {
		if other := bases[c.cluster]; !first.Like(other.Base) {
			return problem.New(problem.Usage, fmt.Errorf("the bases of %s and %s differ: %s; %s", all[0].cluster,
				c.cluster, first, other.Base),
				fmt.Sprintf("give both the same one: 'plimsoll down %[1]s && plimsoll destroy %[1]s', and it is "+
					"created and filled again, or 'plimsoll fill' with the same numbers", c.cluster))
		}
	}
	return nil
}

// systemsOf are the configurations on their bases.
func systemsOf(all []configuration, bases map[string]base, common run.Options) (systems []line.System, err error) {
	serve, err := serveCommand()
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		o, b := common, bases[c.cluster]
		o.DSN, o.Profile = b.dsn, b.profile
		if len(b.Catalogs) > 0 {
			o.Scale = b.String()
		}
		o.Serve = slices.Concat(serve, c.shape.arguments())
		systems = append(systems, line.System{Name: c.name, Run: o})
	}
	return systems, nil
}

// judgeLines is the exit code's reason.
func judgeLines(c *line.Comparison) error {
	var none, void []string
	for _, one := range c.Lines {
		switch l := one.Line; {
		case l.Open():
			void = append(void, fmt.Sprintf("%s, %d users (%s)", l.Plan.Configuration, l.Unmeasured.Users,
				l.Unmeasured.Why))
		case l.Answer == nil:
			none = append(none, l.Plan.Configuration+": "+l.Statement())
		}
	}
	switch {
	case c.Stopped == line.ByUser:
		return problem.New(problem.Interrupted,
			fmt.Errorf("stopped after %d trials, which are kept: %s", c.Trials(), c.Statement()), goOn)
	case !c.Complete:
		return problem.New(problem.Threshold,
			fmt.Errorf("the budget ended the search after %d trials: %s", c.Trials(), c.Statement()), goOn)
	case len(void) > 0:
		return problem.New(problem.Threshold, fmt.Errorf("not measured: %s", strings.Join(void, "; ")),
			voidHint)
	case len(none) > 0:
		return problem.New(problem.Threshold,
			fmt.Errorf("no load line: %s", strings.Join(none, "; ")), "")
	case c.NothingFailed() != "":
		return problem.New(problem.Threshold, errors.New(c.NothingFailed()), line.NothingFailedHint)
	}
	return nil
}

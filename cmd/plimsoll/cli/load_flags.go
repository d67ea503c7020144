package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/lab/load"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
)

// usersMax is more than one generator process is built for.
const (
	usersMax     = 100_000
	documentsMax = 100_000_000 // of a base
)

// loadOptions describe a load by flags and a scenario file.
type loadOptions struct {
	load.Load
	scenarioFile  string
	loadName      string // without a file: whose operations
	seed          int
	thinkFlags    users.Think
	arrivalsFlags users.Arrivals
}

// loadDefaults are what differs between the load of a run and that of a search's trials.
type loadDefaults struct {
	duration, ramp               time.Duration
	durationText, rampText, seed string
}

// loadFlags bind a load.
func loadFlags(c *cobra.Command, o *loadOptions, d loadDefaults) {
	fs := c.Flags()
	o.Drain = load.DrainDefault
	config.Span(fs, &o.Duration, "duration", d.duration, time.Second, d.durationText)
	config.Span(fs, &o.Ramp, "ramp", d.ramp, 0, d.rampText)
	config.Span(fs, &o.thinkFlags.Mean, "think", scenario.ThinkMeanDefault, 0,
		"mean time a user thinks between an answer and the next operation")
	config.Choice(fs, (*string)(&o.thinkFlags.Distribution), "think-distribution", string(users.Lognormal),
		words(users.Distributions), "distribution of think times")
	fs.StringVar(&o.scenarioFile, "scenario", "", "`FILE` that says what the users do, as 'plimsoll scenario' prints "+
		"it; flags such as --think override the file")
	_ = c.MarkFlagFilename("scenario", "toml")
	loadFlag(fs, &o.loadName, "whose operations users do, without --scenario"+outfitUsage)
	c.MarkFlagsMutuallyExclusive("scenario", "load")
	config.Span(fs, &o.Timeout, "timeout", load.TimeoutDefault, time.Millisecond,
		"an operation that takes longer counts as failed")
	config.Count(fs, &o.seed, "seed", load.SeedDefault, 0, mostOfAnything, d.seed)
}

// usersFlag is for a load whose number of users no search chooses.
func usersFlag(c *cobra.Command, o *loadOptions) {
	config.Count(c.Flags(), &o.Users, "users", scenario.UsersDefault, 1, usersMax,
		"number of virtual users")
}

// arrivalFlags bind the open model.
func arrivalFlags(c *cobra.Command, o *loadOptions) {
	fs := c.Flags()
	config.Choice(fs, (*string)(&o.arrivalsFlags.Spacing), "arrivals", "", words(users.Spacings),
		"start operations at --rate, however slow the answers are, instead of after think times; --users are then "+
			"the sessions that carry them out")
	fs.Float64Var(&o.arrivalsFlags.Rate, "rate", 0, "with --arrivals: operations per second")
}

// load is that of the flags and the scenario; a scenario file overrides a flag's default.
func (a *app) load(command string, o loadOptions) (l load.Load, err error) {
	l = o.Load
	l.Seed = uint64(o.seed)
	if l.Scenario, err = readScenario(o.scenarioFile, o.loadName); err != nil {
		return l, err
	}
	given := func(key string) bool {
		return o.scenarioFile == "" || a.sources[command+"."+key].Kind != config.Default
	}
	if !given("users") {
		l.Users = 0
	}
	if given("think") || given("think-distribution") {
		l.Think = &o.thinkFlags
	}
	l.Arrivals, err = o.openModel()
	return l, err
}

// openModel is the arrivals that were asked for; nil where users think.
func (o loadOptions) openModel() (*users.Arrivals, error) {
	a := o.arrivalsFlags
	switch {
	case a == (users.Arrivals{}):
		return nil, nil
	case a.Spacing == "":
		return nil, problem.New(problem.Usage, errors.New("--rate has no effect without --arrivals"),
			"add --arrivals poisson")
	case a.Rate == 0:
		return nil, problem.New(problem.Usage, errors.New("--arrivals needs --rate"),
			"add --rate, operations per second")
	}
	return &a, problem.New(problem.Usage, a.Check(), "")
}

// readScenario reads a file, or is that of a load by its name.
func readScenario(path, load string) (*scenario.Scenario, error) {
	if path != "" {
		return scenario.Read(path)
	}
	if _, is := outfitOf(load); is {
		return scenario.Of1C(), nil
	}
	return scenario.Default(), nil
}

package cli

import (
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
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
	pgbench       scenario.Pgbench
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
	pgbenchFlags(fs, &o.pgbench)
	c.MarkFlagsMutuallyExclusive("scenario", "load", "pgbench")
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

// load of the flags. It lacks users and think times that nobody gave, which a scenario file may have.
func (a *app) load(command string, o loadOptions) load.Load {
	l := o.Load
	l.Seed = uint64(o.seed)
	given := func(key string) bool { return a.sources[command+"."+key].Kind != config.Default }
	if !given("users") {
		l.Users = 0
	}
	if given("think") || given("think-distribution") {
		l.Think = &o.thinkFlags
	}
	if o.arrivalsFlags != (users.Arrivals{}) {
		l.Arrivals = &o.arrivalsFlags
	}
	return l
}

package system

import (
	"fmt"
	"slices"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/recorded/replay"
)

// Idle are flags that would have no effect. Variables and the configuration file may set them for many commands; on a
// command line somebody meant them, so they are refused.
type Idle struct {
	When      bool
	Flags     []string
	Why, Hint string
}

// Refuse them if one is among the flags on the command line.
func (i Idle) Refuse(given []string) error {
	for _, name := range i.Flags {
		if i.When && slices.Contains(given, name) {
			return problem.New(problem.Usage, fmt.Errorf("--%s %s", name, i.Why), i.Hint)
		}
	}
	return nil
}

var (
	workerFlags = append([]string{"workers", FlagShape}, TweakFlags...)
	agentFlags  = []string{"agents-listen", "agents-bus", "agents-wait", "token", "tls-ca", "tls-cert", "tls-key"}
)

// IdleWithReplay are flags of a replay without one, and of a load, with further ones, where a log is played again.
func IdleWithReplay(replays bool, further ...string) []Idle {
	return []Idle{
		{!replays, replay.Flags, "is about a replay", "add --replay LOG"},
		{replays, append(further, loadFlags...), "has no effect with --replay: the log is the load", "leave it out"},
	}
}

// loadFlags are those that a replay has no use for.
var loadFlags = []string{"scenario", "load", "pgbench", "users", "think", "think-distribution", "duration", "ramp",
	"timeout", "workers", "agents", "control", "self-test", "shape"}

// idle flags of a load with the scenario.
func (s Spec) idle(of *scenario.Scenario) []Idle {
	none, foreign := of.Application != scenario.ERP, len(s.Run.URLs) > 0
	return []Idle{
		{none, workerFlags, "applies only to ERP scenarios", "leave it out"},
		{of.Application == scenario.NoERP, []string{"engine"},
			"applies only to ERP scenarios, for which a cluster is created",
			"leave it out: the database is that of --cluster or --dsn"},
		{none && !custom.NeedsBase(of.Own, of.Actions()), []string{"url"},
			"has no effect: every request of the scenario has its own address",
			"leave it out: SQL goes to the database of --cluster or --dsn"},
		{!of.NeedsDatabase(), []string{"cluster"}, "has no effect: the scenario uses no database",
			"leave it out; --dsn names a database whose processors and settings are to be recorded"},
		{foreign, workerFlags, "has no effect with --url, whose application servers run already",
			"leave it out, or leave out --url; 'plimsoll serve' takes the shape of a worker"},
		{!foreign, []string{"password-file", "url-ca"}, "applies only to the application servers of --url",
			"leave it out: workers that this command starts ask for no password"},
		{foreign || s.DSN != "", []string{"engine"},
			"applies only to a cluster that this command creates; this database already exists", "leave it out"},
		{s.Run.Arrivals != nil, []string{"think", "think-distribution"}, "has no effect with --arrivals",
			"leave it out: --rate sets the load"},
		{of.Staged(), []string{"duration"}, "has no effect: the stages of the scenario have durations",
			"leave it out, or change the stages"},
		{!s.Pgbench.Given(), []string{"protocol", "define"}, "has no effect without --pgbench",
			"a scenario file has mode in [sql], and [variables]"},
		{s.Agents.Agents == "", agentFlags, "has no effect without --agents", "add --agents"},
		{s.Agents.Bus != "", []string{"agents-listen"}, "has no effect with --agents-bus: agents join there",
			"leave it out"},
	}
}

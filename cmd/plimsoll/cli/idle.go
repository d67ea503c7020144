package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/system"
)

// idle are flags that would have no effect. Variables and the configuration file may set them for many commands; on a
// command line somebody meant them, so they are refused.
type idle struct {
	when      bool
	flags     []string
	why, hint string
}

// refuseIdle refuses the first of them that is on the command line.
func refuseIdle(fs *pflag.FlagSet, all ...idle) error {
	for _, rule := range all {
		if !rule.when {
			continue
		}
		for _, name := range rule.flags {
			if fs.Changed(name) {
				return problem.New(problem.Usage, fmt.Errorf("--%s %s", name, rule.why), rule.hint)
			}
		}
	}
	return nil
}

var (
	workerFlags    = append([]string{"workers", system.FlagShape}, tweakFlags...)
	agentFlags     = []string{"agents-listen", "agents-bus", "agents-wait", "token", "tls-ca", "tls-cert", "tls-key"}
	dashboardFlags = []string{"ui-address", "ui-stay"}
)

// idle flags of a load with the scenario s.
func (o measureOptions) idle(s *scenario.Scenario) []idle {
	none := s.Application != scenario.ERP
	return []idle{
		{none, workerFlags, "applies only to ERP scenarios", "leave it out"},
		{s.Application == scenario.NoERP, []string{"engine"},
			"applies only to ERP scenarios, for which a cluster is created",
			"leave it out: the database is that of --cluster or --dsn"},
		{none && !custom.NeedsBase(s.Own, s.Actions()), []string{"url"},
			"has no effect: every request of the scenario has its own address",
			"leave it out: SQL goes to the database of --cluster or --dsn"},
		{!s.NeedsDatabase(), []string{"cluster"}, "has no effect: the scenario uses no database",
			"leave it out; --dsn names a database whose processors and settings are to be recorded"},
		{o.url != "", workerFlags, "has no effect with --url, whose application servers run already",
			"leave it out, or leave out --url; 'plimsoll serve' takes the shape of a worker"},
		{o.url == "", []string{"password-file", "url-ca"}, "applies only to the application servers of --url",
			"leave it out: workers that this command starts ask for no password"},
		{o.url != "" || o.foreign(), []string{"engine"},
			"applies only to a cluster that this command creates; this database already exists", "leave it out"},
		{o.arrivalsFlags.Spacing != "", []string{"think", "think-distribution"}, "has no effect with --arrivals",
			"leave it out: --rate sets the load"},
		{o.fleet.agents == "", agentFlags, "has no effect without --agents", "add --agents"},
		{o.fleet.bus != "", []string{"agents-listen"}, "has no effect with --agents-bus: agents join there",
			"leave it out"},
	}
}

// idle flags of a run's views.
func (o viewOptions) idle() idle {
	return idle{!o.ui, dashboardFlags, "has no effect without --ui", "add --ui"}
}

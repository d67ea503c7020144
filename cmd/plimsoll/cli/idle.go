package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"plimsoll/lab/own"
	"plimsoll/lab/scenario"
	"plimsoll/platform/problem"
)

// idle are flags that would do nothing in this company. What a variable or the configuration
// file says is a default for many commands and stays; on a command line it was meant.
type idle struct {
	when      bool
	flags     []string
	why, hint string
}

// refuseIdle refuses the first of them that was given.
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
	shapes      = []string{flagShape, flagTempPool, flagLifetime, flagJitter, flagClearing, flagChain}
	ofWorkers   = append([]string{"workers"}, shapes...)
	ofFleet     = []string{"agents-listen", "agents-bus", "agents-wait", "token", "tls-ca", "tls-cert", "tls-key"}
	ofDashboard = []string{"ui-address", "ui-stay"}
)

// idle flags of a load with the scenario s.
func (o runOptions) idle(s *scenario.Scenario) []idle {
	none := s.Application == scenario.NoERP
	return []idle{
		{none, ofWorkers, "is of the ERP's workers, and the scenario has no ERP", "leave it out"},
		{none, []string{"engine"}, "is of the cluster that is made for the ERP, and the scenario has no ERP", "leave it out: the database is that of --cluster or --dsn"},
		{none && !own.NeedsBase(s.Own, s.Actions()), []string{"url"}, "is where requests are sent, and the scenario sends none to a server that it does not name", "leave it out: SQL goes to the database of --cluster or --dsn"},
		{!s.NeedsDatabase(), []string{"cluster"}, "is a database, and the scenario speaks to none", "leave it out; --dsn names one whose processors and settings are to be in the record"},
		{o.url != "", ofWorkers, "is of workers that are started, and those of --url run already", "leave it out, or leave out --url; 'plimsoll serve' takes the shape of a worker"},
		{o.url != "" || o.foreign(), []string{"engine"}, "is of a cluster of ours that is made, and the database is there already", "leave it out"},
		{o.arrivals != "", []string{"think", "think-distribution"}, "is of users, and with --arrivals nobody thinks", "leave it out: --rate says how much is done"},
		{o.fleet.agents == "", ofFleet, "is of agents, and there is none", "add --agents"},
		{o.fleet.bus != "", []string{"agents-listen"}, "is where agents join, and with --agents-bus they join there", "leave it out"},
		{!o.ui, ofDashboard, "is of the dashboard, and there is none", "add --ui"},
	}
}

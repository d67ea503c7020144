package cli

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/erp/fill"
	"plimsoll/ground/host/kept"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/run"
	"plimsoll/lab/run/agents"
	"plimsoll/lab/run/store"
	"plimsoll/lab/system"
	"plimsoll/lab/view/report"
)

// measureOptions are what a run and a search have in common: a load, a system, and what becomes of the result.
type measureOptions struct {
	loadOptions
	systemOptions
	workerAccess
	fleet       agents.Spec
	html, title string
	lagLimit    time.Duration
	disturbed   float64
	apdexTarget float64
	sampling    int
	label       kept.Label
	flags       *pflag.FlagSet
}

// measureFlags are those with the same words for both; loadFlags binds the load.
func (a *app) measureFlags(c *cobra.Command, o *measureOptions) {
	fs := c.Flags()
	o.flags = fs
	a.systemFlags(c, &o.systemOptions)
	o.workerAccess.flags(c)
	figuresTokenFlag(fs, &o.FiguresToken, "`FILE` with the token for /metrics: sent to the servers of --url, and "+
		"required from other machines by --metrics")
	config.Fraction(fs, &o.disturbed, "disturbed-limit", run.DisturbedLimitDefault, "the run is "+disturbedUsage)
	fleetFlags(c, &o.fleet)
	fs.StringVar(&o.html, "html", "", "also write the HTML report to this `FILE`")
	fs.StringVar(&o.title, "title", "", "`TEXT` to show above the result")
	config.FlagOnly(fs, "html")
	labelFlags(fs, &o.label)
}

const disturbedUsage = "not valid if more than this share of the processors went to other processes, or of the " +
	"time to the hypervisor, a quota or a lack of memory, or if others worked on the same database; 1: no check"

// workerAccess is how application servers that run already are reached.
type workerAccess struct{ run.AccessFiles }

func (o *workerAccess) flags(c *cobra.Command) {
	passwordFlag(c, &o.Password, "`FILE` with the password of all users, for application servers that ask for it")
	c.Flags().StringVar(&o.Roots, "url-ca", "", "`FILE` with the certificate authorities of the application servers "+
		"(default: the system's)")
	c.Flags().BoolVar(&o.Insecure, "insecure", false, "send passwords and tokens unencrypted to other machines")
	config.Share(c.Flags(), "url-ca")
	config.FlagOnly(c.Flags(), "insecure")
}

// keptRuns is where runs are kept, each with its report.
func keptRuns() *store.Store { return store.Default().WithPage(report.HTML) }

// spec is the system that a run, or each trial of a search, puts its load on, and that load.
func (a *app) spec(command string, o measureOptions) system.Spec {
	o.fleet.Local, o.fleet.Software = agentCommand(o.AccessFiles), software().Version
	o.fleet.Say, o.fleet.Errors = a.meter.Say, a.stderr
	return system.Spec{
		Target: o.target.system(o.engine), Shape: o.shape(),
		Run: run.Options{Load: a.load(command, o.loadOptions), URLs: o.urls(), Workers: o.workers, LagLimit: o.lagLimit,
			DisturbedLimit: o.disturbed, Title: o.title, Software: software().Version, Store: keptRuns()},
		Scenario: o.scenarioFile, Of: o.loadName, Pgbench: o.pgbench, Users: o.Users, Think: o.thinkFlags,
		Access: o.AccessFiles,
		Agents: o.fleet, Page: kept.Page(o.html), Label: o.label, Flags: given(o.flags),
	}
}

// local is this machine as the place of systems; what is made on it is said between the progress.
func (a *app) local() system.Local {
	return system.Local{Clusters: a.clusters(), Serve: serveCommand(), Fill: fill.Options{Progress: a.fillProgress()},
		Say: a.meter.Say}
}

// samplingFlag binds how often a run looks at the database's sessions.
func samplingFlag(fs *pflag.FlagSet, to *int, name, subject string) {
	config.Count(fs, to, name, diagnose.RateDefault, 0, diagnose.RateMax, "samples of the database's sessions per "+
		"second, for the diagnosis"+subject+"; 0: no diagnosis")
}

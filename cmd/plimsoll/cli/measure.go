package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/erp/fill"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/run"
	"plimsoll/lab/run/store"
	"plimsoll/lab/system"
	"plimsoll/lab/view/report"
)

// measureOptions are what a run and a search have in common: a load, a system, and what becomes of the result.
type measureOptions struct {
	loadOptions
	systemOptions
	workerAccess
	fleet       fleetOptions
	html, title string
	lagLimit    time.Duration
	disturbed   float64
	apdexTarget float64
	sampling    int
	flags       *pflag.FlagSet
}

// measureFlags are those with the same words for both; loadFlags binds the load.
func (a *app) measureFlags(c *cobra.Command, o *measureOptions) {
	fs := c.Flags()
	o.flags = fs
	a.systemFlags(c, &o.systemOptions)
	o.workerAccess.flags(c)
	figuresTokenFlag(fs, &o.figuresToken, "`FILE` with the token for /metrics: sent to the servers of --url, and "+
		"required from other machines by --metrics")
	config.Fraction(fs, &o.disturbed, "disturbed-limit", run.DisturbedLimitDefault, "the run is "+disturbedUsage)
	fleetFlags(c, &o.fleet)
	fs.StringVar(&o.html, "html", "", "also write the HTML report to this `FILE`")
	fs.StringVar(&o.title, "title", "", "`TEXT` to show above the result")
	config.FlagOnly(fs, "html")
}

const disturbedUsage = "not valid if more than this share of the processors went to other processes, or of the " +
	"time to the hypervisor, a quota or a lack of memory, or if others worked on the same database; 1: no check"

// workerAccess is how application servers that run already are reached.
type workerAccess struct {
	passwordFile, roots, figuresToken string
	insecure                          bool
}

func (o *workerAccess) flags(c *cobra.Command) {
	passwordFlag(c, &o.passwordFile, "`FILE` with the password of all users, for application servers that ask for it")
	c.Flags().StringVar(&o.roots, "url-ca", "", "`FILE` with the certificate authorities of the application servers "+
		"(default: the system's)")
	c.Flags().BoolVar(&o.insecure, "insecure", false, "send passwords and tokens unencrypted to other machines")
	config.Share(c.Flags(), "url-ca")
	config.FlagOnly(c.Flags(), "insecure")
}

func (o workerAccess) read() (run.Access, error) {
	access, err := run.ReadAccess(o.passwordFile, o.roots, o.figuresToken)
	access.Insecure = o.insecure
	return access, err
}

// keptRuns is where runs are kept, each with its report.
func keptRuns() *store.Store { return store.Default().WithPage(report.HTML) }

// systemOf is the system that a run, or each trial of a search, puts its load on.
func (a *app) systemOf(command string, o measureOptions) (y system.System, err error) {
	if y.Shape, err = o.shape(); err != nil {
		return y, err
	}
	y.Target = o.target.system(o.engine)
	if o.scenarioFile == "" {
		y.Outfit, _ = outfitOf(o.loadName)
	}
	y.Run = run.Options{URLs: o.urls(), Workers: o.workers, LagLimit: o.lagLimit, DisturbedLimit: o.disturbed,
		Title: o.title, Software: software().Version, Store: keptRuns()}
	if y.Run.Load, err = a.load(command, o.loadOptions); err != nil {
		return y, err
	}
	if !y.Run.Scenario.NeedsDatabase() {
		y.Cluster = "" // nobody asks for it
	}
	if err := refuseIdle(o.flags, o.idle(y.Run.Scenario)...); err != nil {
		return y, err
	}
	if y.Run.Access, err = o.workerAccess.read(); err != nil {
		return y, err
	}
	return y, y.Run.Access.Check(y.Run.URLs)
}

// local is this machine as the place of systems; what is made on it is said between the progress.
func (a *app) local() (system.Local, error) {
	serve, err := serveCommand()
	return system.Local{Clusters: a.clusters(), Serve: serve, Fill: fill.Options{Progress: a.fillProgress()},
		Say: a.meter.Say}, err
}

// bringUp brings up what systems run on; down ends what was started.
func (a *app) bringUp(ctx context.Context, all ...*system.System) (down func() error, err error) {
	here, err := a.local()
	if err != nil {
		return nil, err
	}
	defer a.meter.End()
	return here.Up(ctx, nil, all...)
}

// samplingFlag binds how often a run looks at the database's sessions.
func samplingFlag(fs *pflag.FlagSet, to *int, name, subject string) {
	config.Count(fs, to, name, diagnose.RateDefault, 0, diagnose.RateMax, "samples of the database's sessions per "+
		"second, for the diagnosis"+subject+"; 0: no diagnosis")
}

func samplingOf(perS int) int {
	if perS == 0 {
		return run.SamplingOff
	}
	return perS
}

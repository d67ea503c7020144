package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/system"
)

// sideFlags are one side as flags give it.
type sideFlags struct {
	compare.SideSpec
	settings, tweaks []string
}

// sidesShown have their flags in the help.
const sidesShown = 2

func (f *sideFlags) bind(c *cobra.Command, side int) {
	fs, upper := c.Flags(), compare.Letter(side)
	name := func(kind string) string { return kind + "-" + strings.ToLower(upper) }
	fs.StringArrayVar(&f.settings, name("set"), nil, "`NAME=VALUE` of a PostgreSQL setting of "+upper+
		"; may be repeated")
	fs.StringArrayVar(&f.tweaks, name("tweak"), nil, "`NAME=VALUE` of a flag of the shape for "+upper+
		": "+strings.Join(system.TweakFlags, ", ")+"; may be repeated")
	fs.StringVar(&f.SQL, name("sql"), "", "`SQL` to execute in the database of "+upper+
		" before each run, after its reset; @FILE reads the SQL from a file")
	fs.StringVar(&f.Name, name("name"), "", "`NAME` of "+upper+" in the result")
	fs.StringVar(&f.URL, name("url"), "", "base `URL` of the requests of "+upper+", instead of that of its scenario")
	fs.StringVar(&f.DSN, name("dsn"), "", "connection string of the database of "+upper+", on a server elsewhere")
	fs.StringVar(&f.Scenario, name("scenario"), "", "scenario `FILE` of "+upper+" (default: that of --scenario)")
	fs.StringVar(&f.Command, name("command"), "", "`COMMAND` to measure as "+upper+
		": run without a shell, quotes keep words together")
	config.Choice(fs, (*string)(&f.Reset), name("reset"), "", words(system.Resets), "reset of "+upper+
		" (default: --reset)")
	fs.StringVar(&f.Restore, name("restore"), "", "`SQL` that restores "+upper+" before each run, if "+
		"nothing else does; @FILE reads it from a file, "+system.RestoreCommand+"COMMAND runs a command")
	samplingFlag(fs, &f.Sampling, name("sampling"), " in the runs of "+upper)
	for _, kind := range []string{"set", "tweak", "sql", "name", "url", "dsn", "scenario", "command", "reset",
		"restore", "sampling"} {
		config.FlagOnly(fs, name(kind))
		fs.Lookup(name(kind)).Hidden = side >= sidesShown
	}
}

// withValues are values given as NAME=VALUE.
func withValues(texts []string, example string) (all map[string]string, err error) {
	for _, text := range texts {
		name, value, is := strings.Cut(text, "=")
		if !is || name == "" {
			return nil, problem.New(problem.Usage, fmt.Errorf("%q is not NAME=VALUE", text), "such as "+example)
		}
		if all == nil {
			all = map[string]string{}
		}
		all[name] = value
	}
	return all, nil
}

// spec is the side; common is the shape that its tweaks change.
func (f sideFlags) spec(common system.Shape) (s compare.SideSpec, err error) {
	s = f.SideSpec
	if s.Settings, err = withValues(f.settings, "work_mem=64MB"); err != nil {
		return s, err
	}
	if s.Tweaks, err = withValues(f.tweaks, "chain=1"); err != nil || len(s.Tweaks) == 0 {
		return s, err
	}
	changed, err := tweaked(common, s.Tweaks)
	s.Tweaked = changed.Tweaks
	return s, err
}

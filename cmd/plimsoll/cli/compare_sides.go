package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/system"
)

// sideFlags are one side as flags give it, and the argument that names its system.
type sideFlags struct {
	system                                                 string // CLUSTER or CLUSTER+SHAPE
	name, dsn, url, scenario, sql, reset, restore, command string
	settings, tweaks                                       []string
	sampling                                               int
}

// sidesShown have their flags in the help.
const sidesShown = 2

func (f *sideFlags) bind(c *cobra.Command, side int) {
	fs, upper := c.Flags(), compare.Letter(side)
	name := func(kind string) string { return kind + "-" + strings.ToLower(upper) }
	fs.StringArrayVar(&f.settings, name("set"), nil, "`NAME=VALUE` of a PostgreSQL setting of "+upper+
		"; may be repeated")
	fs.StringArrayVar(&f.tweaks, name("tweak"), nil, "`NAME=VALUE` of a flag of the shape for "+upper+
		": "+strings.Join(tweakFlags, ", ")+"; may be repeated")
	fs.StringVar(&f.sql, name("sql"), "", "`SQL` to execute in the database of "+upper+
		" before each run, after its reset; @FILE reads the SQL from a file")
	fs.StringVar(&f.name, name("name"), "", "`NAME` of "+upper+" in the result")
	fs.StringVar(&f.url, name("url"), "", "base `URL` of the requests of "+upper+", instead of that of its scenario")
	fs.StringVar(&f.dsn, name("dsn"), "", "connection string of the database of "+upper+", on a server elsewhere")
	fs.StringVar(&f.scenario, name("scenario"), "", "scenario `FILE` of "+upper+" (default: that of --scenario)")
	fs.StringVar(&f.command, name("command"), "", "`COMMAND` to measure as "+upper+
		": run without a shell, quotes keep words together")
	config.Choice(fs, &f.reset, name("reset"), "", words(system.Resets), "reset of "+upper+" (default: --reset)")
	fs.StringVar(&f.restore, name("restore"), "", "`SQL` that restores "+upper+" before each run, if "+
		"nothing else does; @FILE reads it from a file, "+system.RestoreCommand+"COMMAND runs a command")
	samplingFlag(fs, &f.sampling, name("sampling"), " in the runs of "+upper)
	for _, kind := range []string{"set", "tweak", "sql", "name", "url", "dsn", "scenario", "command", "reset", "restore",
		"sampling"} {
		config.FlagOnly(fs, name(kind))
		fs.Lookup(name(kind)).Hidden = side >= sidesShown
	}
}

func (f *sideFlags) isSet() bool {
	return f.namesSystem() || len(f.settings) > 0 || len(f.tweaks) > 0 || f.sampling != diagnose.RateDefault || f.sql != "" ||
		f.reset != "" || f.restore != "" || f.name != ""
}

// namesSystem says whether the flags name a system by themselves.
func (f *sideFlags) namesSystem() bool {
	return f.dsn != "" || f.command != "" || f.url != "" || f.scenario != ""
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

// sides are the systems of a comparison, as arguments and flags give them.
func (a *app) sides(o compareOptions, args []string) (all []compare.Side, err error) {
	for i, f := range o.given(args) {
		side, err := a.side(o, f)
		if err != nil {
			return nil, problem.WithHint(fmt.Errorf("%s: %w", compare.Letter(i), err), problem.HintOf(err))
		}
		all = append(all, side)
	}
	if len(all) < 2 {
		return nil, problem.New(problem.Usage, errors.New("compare needs two systems"),
			"such as 'plimsoll compare vanilla+lean plimsoll+lean', or 'plimsoll compare plimsoll+lean --set-b "+
				"NAME=VALUE'")
	}
	return all, nil
}

// given are the sides that arguments and flags name. One system alone stands for all: flags change it.
func (o compareOptions) given(args []string) []sideFlags {
	n := len(args)
	if n == 0 && slices.ContainsFunc(o.own[:], func(f sideFlags) bool { return f.namesSystem() }) {
		n = 1
	}
	if n == 1 && (o.selfTest != "" || len(args) == 1 && o.own[0].isSet()) {
		n = 2
	}
	if n > 0 {
		for i, f := range o.own {
			if f.isSet() {
				n = max(n, i+1)
			}
		}
	}
	for i := range o.own[:n] {
		f := &o.own[i]
		switch {
		case i < len(args):
			f.system = args[i]
		case len(args) == 1:
			f.system = args[0]
		case len(args) == 0 && !f.namesSystem():
			f.dsn, f.url, f.scenario, f.command = o.own[0].dsn, o.own[0].url, o.own[0].scenario, o.own[0].command
		}
		if f.dsn != "" || f.command != "" {
			f.system = ""
		}
	}
	return o.own[:n]
}

// side of a comparison.
func (a *app) side(o compareOptions, f sideFlags) (side compare.Side, err error) {
	if err := f.check(o.scenarioFile); err != nil {
		return side, err
	}
	if side.Settings, err = withValues(f.settings, "work_mem=64MB"); err != nil {
		return side, err
	}
	tweaks, err := withValues(f.tweaks, "chain=1")
	if err != nil {
		return side, err
	}
	if side.SQL, err = sqlOf(f.sql); err != nil {
		return side, err
	}
	restore, err := sqlOf(f.restore)
	if err == nil {
		side.Restore, err = system.ParseRestore(restore)
	}
	if err != nil {
		return side, err
	}
	side.Name = f.title(side.Settings, tweaks)
	if f.command != "" {
		side.Command, err = system.Words(f.command)
		return side, problem.New(problem.Usage, err, "")
	}
	side.System, err = a.sideSystem(o, f, side.Name, tweaks)
	return side, err
}

// check what does not go together.
func (f sideFlags) check(scenarioFile string) error {
	wrong := func(text string) error { return problem.New(problem.Usage, errors.New(text), "") }
	switch {
	case f.url != "" && f.scenario == "" && scenarioFile == "":
		return wrong("a URL needs a scenario of requests: name one with --scenario")
	case f.system == "" && !f.namesSystem():
		return wrong("needs a system, a connection string, a command, or a scenario of requests")
	case f.dsn != "" && f.command != "":
		return wrong("give a system, a connection string or a command, only one of them")
	case f.command != "" && (f.sampling != diagnose.RateDefault || len(f.settings) > 0 || len(f.tweaks) > 0 ||
		f.sql != "" || f.scenario != "" || f.url != "" || f.reset != ""):
		return wrong("a command takes no settings, tweaks, SQL, scenario, URL, sampling or reset")
	}
	return nil
}

// sqlOf reads SQL, or the file that @FILE names.
func sqlOf(text string) (string, error) {
	file, is := strings.CutPrefix(text, "@")
	if !is {
		return text, nil
	}
	sql, err := os.ReadFile(file)
	if err != nil {
		err = fmt.Errorf("read SQL: %w", err)
	}
	return string(sql), problem.New(problem.Usage, err, "")
}

// sideSystem is the system of a side.
func (a *app) sideSystem(o compareOptions, f sideFlags, name string, tweaks map[string]string) (y system.System,
	err error) {
	m := o.measureOptions
	if f.scenario != "" {
		m.scenarioFile = f.scenario
	}
	if y, err = a.systemOf("compare", m); err != nil {
		return y, err
	}
	if f.system != "" {
		if y, err = y.On(f.system); err != nil {
			return y, err
		}
	}
	y.Name, y.DSN = name, f.dsn
	if f.url != "" {
		y.Run.URLs = []string{f.url}
	}
	if f.url != "" || y.Target == (system.Target{}) {
		if err := y.CheckRequests(); err != nil {
			return y, err
		}
	}
	if f.sampling != diagnose.RateDefault {
		y.Run.Sampling = samplingOf(f.sampling)
	}
	y.Reset = system.Reset(cmp.Or(f.reset, o.reset))
	if y.Reset == system.ResetAuto && (f.restore != "" || f.dsn != "") {
		y.Reset = system.ResetNone // its owner restores it, or nobody may reset it
	}
	if y.ERP() {
		y.WorkerFlags = []string{fmt.Sprintf("--trace-sample=%d", compare.TraceSample)}
	}
	switch {
	case len(tweaks) > 0 && !y.ERP():
		err = problem.New(problem.Usage, errors.New("tweaks apply only to ERP scenarios"), "")
	case len(tweaks) > 0:
		y.Shape, err = tweaked(y.Shape, tweaks)
	}
	return y, err
}

// title of a side, if it has no name.
func (f sideFlags) title(settings, tweaks map[string]string) string {
	name := f.system
	switch {
	case f.name != "":
		return f.name
	case f.command != "":
		return f.command
	case f.dsn != "":
		name = system.Target{DSN: f.dsn}.String()
	}
	for _, part := range []string{f.scenario, f.url} {
		if part != "" {
			name = strings.TrimPrefix(name+", "+part, ", ")
		}
	}
	for _, values := range []map[string]string{settings, tweaks} {
		for _, one := range slices.Sorted(maps.Keys(values)) {
			name += " " + one + "=" + values[one]
		}
	}
	if f.sampling != diagnose.RateDefault {
		name += fmt.Sprintf(", %d samples per second", f.sampling)
	}
	if f.sql != "" {
		name += ", with SQL before each run"
	}
	if f.restore != "" {
		name += ", restored before each run"
	}
	return name
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/postgres/identity"
	"plimsoll/ground/problem"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/line"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/prove/rig"
	"plimsoll/platform/worker/shape"
)

// sideSpec describes a side, from flags or a file.
type sideSpec struct {
	Name     string            `toml:"name"`
	System   string            `toml:"system"` // CLUSTER or CLUSTER+SHAPE
	DSN      string            `toml:"dsn"`
	URL      string            `toml:"url"` // that the requests of its scenario go to
	Scenario string            `toml:"scenario"`
	Settings map[string]string `toml:"settings"`
	Tweaks   map[string]string `toml:"tweaks"` // of the shape, by flag
	SQL      string            `toml:"sql"`
	Reset    string            `toml:"reset"`
	Restore  string            `toml:"restore"` // SQL or !COMMAND that restores it before each run
	Command  string            `toml:"command"`
	Sampling *int              `toml:"sampling"` // of the diagnosis, per second; nil: as usual
}

// sideFlags are the flags of one side.
type sideFlags struct {
	spec     sideSpec
	settings []string
	tweaks   []string
	sampling int
}

func (f *sideFlags) bind(c *cobra.Command, side int) {
	fs, letter := c.Flags(), strings.ToLower(compare.Letter(side))
	name := func(kind string) string { return kind + "-" + letter }
	upper := compare.Letter(side)
	fs.StringArrayVar(&f.settings, name("set"), nil, "`NAME=VALUE` of a PostgreSQL setting of "+upper+
		"; may be repeated")
	fs.StringArrayVar(&f.tweaks, name("tweak"), nil, "`NAME=VALUE` of a flag of the shape for "+upper+
		": "+strings.Join(tweakFlags, ", ")+"; may be repeated")
	fs.StringVar(&f.spec.SQL, name("sql"), "", "`SQL` to execute in the database of "+upper+
		" before each run, after its reset; @FILE reads the SQL from a file")
	fs.StringVar(&f.spec.Name, name("name"), "", "`NAME` of "+upper+" in the result")
	fs.StringVar(&f.spec.URL, name("url"), "", "base `URL` of the requests of "+upper+
		", instead of that of its scenario")
	fs.StringVar(&f.spec.DSN, name("dsn"), "", "connection string of the database of "+upper+", on a server elsewhere")
	fs.StringVar(&f.spec.Scenario, name("scenario"), "", "scenario `FILE` of "+upper+" (default: that of --scenario)")
	fs.StringVar(&f.spec.Command, name("command"), "", "`COMMAND` to measure as "+upper+
		": run without a shell, quotes keep words together")
	fs.StringVar(&f.spec.Restore, name("restore"), "", "`SQL` that restores "+upper+" before each run, if "+
		"nothing else does; @FILE reads it from a file, "+compare.ClearingCommand+"COMMAND runs a command")
	samplingFlag(fs, &f.sampling, name("sampling"), " in the runs of "+upper)
	config.FlagOnly(fs, name("sampling"), name("set"), name("tweak"), name("sql"), name("dsn"), name("scenario"),
		name("name"), name("url"),
		name("command"), name("restore"))
}

func (f *sideFlags) isSet() bool {
	s := f.spec
	return len(f.settings) > 0 || len(f.tweaks) > 0 || f.sampling != diagnose.RateDefault || s.SQL != "" ||
		s.DSN != "" || s.Scenario != "" || s.Command != "" || s.Restore != "" || s.URL != "" || s.Name != ""
}

// namesSystem says whether the flags name a system by themselves.
func (f *sideFlags) namesSystem() bool {
	s := f.spec
	return s.DSN != "" || s.Command != "" || s.URL != "" || s.Scenario != ""
}

// applyTo applies the flags to a side.
func (f *sideFlags) applyTo(s sideSpec) (_ sideSpec, err error) {
	if s.Settings, err = withValues(s.Settings, f.settings, "work_mem=64MB"); err != nil {
		return s, err
	}
	if s.Tweaks, err = withValues(s.Tweaks, f.tweaks, "chain=1"); err != nil {
		return s, err
	}
	if f.sampling != diagnose.RateDefault {
		s.Sampling = &f.sampling
	}
	for to, from := range map[*string]string{&s.SQL: f.spec.SQL, &s.Scenario: f.spec.Scenario,
		&s.Restore: f.spec.Restore, &s.URL: f.spec.URL, &s.Name: f.spec.Name} {
		if from != "" {
			*to = from
		}
	}
	if f.spec.DSN != "" {
		s.DSN, s.System = f.spec.DSN, ""
	}
	if f.spec.Command != "" {
		s.Command, s.System = f.spec.Command, ""
	}
	return s, nil
}

// withValues is a map with further values, given as NAME=VALUE.
func withValues(all map[string]string, texts []string, example string) (map[string]string, error) {
	if len(texts) == 0 {
		return all, nil
	}
	all = maps.Clone(all) // B may be a copy of A
	if all == nil {
		all = map[string]string{}
	}
	for _, text := range texts {
		name, value, is := strings.Cut(text, "=")
		if !is || name == "" {
			return nil, problem.New(problem.Usage, fmt.Errorf("%q is not NAME=VALUE", text), "such as "+example)
		}
		all[name] = value
	}
	return all, nil
}

// specs returns the sides from arguments, flags or a file.
func (o compareOptions) specs(args []string) (all []sideSpec, err error) {
	if o.sidesFile != "" {
		if len(args) > 0 || o.own[0].isSet() || o.own[1].isSet() {
			return nil, problem.New(problem.Usage, errors.New("--sides names all sides"),
				"leave out the systems and the flags of A and B")
		}
		return o.readSides(o.sidesFile)
	}
	for _, text := range args {
		all = append(all, sideSpec{System: text})
	}
	if len(all) == 0 && (o.own[0].namesSystem() || o.own[1].namesSystem()) {
		all = append(all, sideSpec{})
	}
	// one system, except for the flags of A or B
	if len(all) == 1 && (o.own[1].isSet() || len(args) == 1 && o.own[0].isSet() || o.selfTest != "") {
		all = append(all, all[0])
	}
	if len(all) < 2 {
		return nil, problem.New(problem.Usage, errors.New("compare needs two systems"),
			"such as 'plimsoll compare vanilla+lean plimsoll+lean', or 'plimsoll compare plimsoll+lean --set-b "+
				"NAME=VALUE'")
	}
	if own := o.own[0].spec; len(args) == 0 && !o.own[1].namesSystem() { // the same but for the flags of B
		all[1] = sideSpec{DSN: own.DSN, URL: own.URL, Scenario: own.Scenario, Command: own.Command}
	}
	for i := range o.own {
		if all[i], err = o.own[i].applyTo(all[i]); err != nil {
			return nil, err
		}
	}
	return all, o.checkSpecs(all)
}

func (o compareOptions) readSides(path string) ([]sideSpec, error) {
	var file struct {
		Side []sideSpec `toml:"side"`
	}
	meta, err := toml.DecodeFile(path, &file)
	if err == nil && len(meta.Undecoded()) > 0 {
		err = fmt.Errorf("unknown key %s", meta.Undecoded()[0])
	}
	if err == nil && (len(file.Side) < 2 || len(file.Side) > compare.SidesMax) {
		err = fmt.Errorf("%d sides, there must be 2 to %d", len(file.Side), compare.SidesMax)
	}
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read sides %s: %w", path, err),
			"[[side]] with name, system, dsn, url, scenario, settings, tweaks, sql, reset, restore or command")
	}
	return file.Side, o.checkSpecs(file.Side)
}

func (o compareOptions) checkSpecs(all []sideSpec) error {
	for i := range all {
		s := &all[i]
		wrong := func(text string) error {
			return problem.New(problem.Usage, fmt.Errorf("%s: %s", compare.Letter(i), text), "")
		}
		ways := 0
		for _, way := range []string{s.System, s.DSN, s.Command} {
			if way != "" {
				ways++
			}
		}
		switch {
		case s.URL != "" && s.Scenario == "" && o.scenarioFile == "":
			return wrong("a URL needs a scenario of requests: name one with --scenario")
		case ways == 0 && s.Scenario == "" && s.URL == "":
			return wrong("needs a system, a connection string, a command, or a scenario of requests")
		case ways > 1:
			return wrong("give a system, a connection string or a command, only one of them")
		case s.Sampling != nil && (*s.Sampling < 0 || *s.Sampling > diagnose.RateMax):
			return wrong(fmt.Sprintf("sampling %d: must be 0 to %d", *s.Sampling, diagnose.RateMax))
		case s.Command != "" && (s.Sampling != nil || len(s.Settings) > 0 || len(s.Tweaks) > 0 || s.SQL != "" ||
			s.Scenario != "" || s.URL != "" || s.Reset != ""):
			return wrong("a command takes no settings, tweaks, SQL, scenario, URL, sampling or reset")
		case s.Reset != "" && !slices.Contains([]string{"auto", "filled", "template", "sql", "none"}, s.Reset):
			return wrong(fmt.Sprintf("reset %q: must be auto, filled, template, sql or none", s.Reset))
		}
		if _, err := (shapeOptions{name: string(shape.Default)}).tweaked(s.Tweaks); err != nil {
			return problem.WithHint(wrong(err.Error()), problem.HintOf(err))
		}
		for _, sql := range []*string{&s.SQL, &s.Restore} {
			file, is := strings.CutPrefix(*sql, "@")
			if !is {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return problem.New(problem.Usage, fmt.Errorf("%s: read SQL: %w", compare.Letter(i), err), "")
			}
			*sql = string(text)
		}
	}
	return nil
}

func countCommands(specs []sideSpec) (n int) {
	for _, s := range specs {
		if s.Command != "" {
			n++
		}
	}
	return n
}

// title of a side.
func (s sideSpec) title() string {
	if s.Name != "" {
		return s.Name
	}
	name := s.System
	switch {
	case s.Command != "":
		return s.Command
	case s.DSN != "":
		server, err := identity.NameOf(s.DSN)
		if err != nil {
			server = "server of --dsn" // which cannot be read: nothing runs there
		}
		name = server
	}
	for _, part := range []string{s.Scenario, s.URL} {
		if part != "" {
			name = strings.TrimPrefix(name+", "+part, ", ")
		}
	}
	for _, setting := range sorted(s.Settings) {
		name += " " + setting + "=" + s.Settings[setting]
	}
	for _, tweak := range sorted(s.Tweaks) {
		name += " " + tweak + "=" + s.Tweaks[tweak]
	}
	if s.Sampling != nil {
		name += fmt.Sprintf(", %d samples per second", *s.Sampling)
	}
	if s.SQL != "" {
		name += ", with SQL before each run"
	}
	if s.Restore != "" {
		name += ", restored before each run"
	}
	return name
}

func sorted(all map[string]string) (names []string) {
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// comparison starts what the sides need. What was started is also stopped after an error.
func (a *app) comparison(ctx context.Context, o compareOptions, specs []sideSpec) (options compare.Options,
	takeDown func() error, err error) {
	s := &sidesUp{app: a, o: o, bases: map[string]base{}}
	takeDown = func() (err error) {
		for _, r := range s.rigs {
			err = errors.Join(err, r.Close())
		}
		return err
	}
	options = compare.Options{Metric: o.metric, Pairs: o.pairs, Margin: o.margin, Control: o.control,
		Seed: uint64(o.seed), Budget: o.budget, Resume: o.resume, Store: compare.DefaultStore(), Title: o.title,
		Version: software().Version}
	if options.NewGenerator, err = a.generatorOn(o.fleet); err != nil {
		return options, takeDown, err
	}
	for i, spec := range specs {
		side, err := s.side(ctx, spec)
		if err != nil {
			return options, takeDown, problem.WithHint(fmt.Errorf("%s: %w", compare.Letter(i), err),
				problem.HintOf(err))
		}
		options.Sides = append(options.Sides, side)
	}
	return options, takeDown, s.checkSameData()
}

// sidesUp are the servers that sides run on.
type sidesUp struct {
	*app
	o     compareOptions
	bases map[string]base // by cluster or connection string
	rigs  []*rig.Rig
	erp   []configuration // sides with the ERP
}

func (s *sidesUp) side(ctx context.Context, spec sideSpec) (side compare.Side, err error) {
	side = compare.Side{Name: spec.title(), Settings: spec.Settings, SQL: spec.SQL}
	if side.Clearing, err = compare.ParseClearing(spec.Restore); err != nil {
		return side, err
	}
	if spec.Command != "" {
		side.Command, err = compare.Words(spec.Command)
		return side, problem.New(problem.Usage, err, "")
	}
	o := s.o.measureOptions
	if spec.Scenario != "" {
		o.scenarioFile = spec.Scenario
	}
	if side.Run, err = s.runOptions("compare", o); err != nil {
		return side, err
	}
	if spec.Sampling != nil {
		side.Run.Sampling = samplingOf(*spec.Sampling)
	}
	side.Reset = line.Reset(s.o.reset)
	if spec.Reset != "" {
		side.Reset = line.Reset(spec.Reset)
	}
	if spec.Restore != "" && side.Reset == line.ResetAuto {
		side.Reset = line.ResetNone
	}
	erp := side.Run.Scenario.Application == scenario.ERP
	if spec.URL != "" {
		side.Run.URLs = []string{spec.URL}
	}
	if spec.System == "" && spec.DSN == "" || spec.URL != "" {
		if err := requestsAlone(side.Run.Scenario, spec); err != nil {
			return side, err
		}
		if spec.DSN == "" && spec.System == "" {
			return side, nil
		}
	}
	c := configuration{name: spec.title(), cluster: spec.DSN, shape: s.o.shapeOptions}
	if spec.DSN == "" {
		if c, err = parseConfiguration(spec.System, s.o.shapeOptions, erp); err != nil {
			return side, err
		}
	}
	if len(spec.Tweaks) > 0 && !erp {
		return side, problem.New(problem.Usage, errors.New("tweaks apply only to ERP scenarios"), "")
	}
	if c.shape, err = c.shape.tweaked(spec.Tweaks); err != nil {
		return side, err
	}
	b, err := s.base(ctx, spec, &side, c.cluster, erp)
	if err != nil {
		return side, err
	}
	serve, err := serveCommand()
	if err != nil {
		return side, err
	}
	side.Run.DSN, side.Run.Profile = b.dsn, b.profile
	side.Run.Serve = slices.Concat(serve, c.shape.arguments())
	if erp {
		side.Run.Serve = append(side.Run.Serve, fmt.Sprintf("--trace-sample=%d", compare.TraceSample))
		side.Run.Scale = b.String()
		s.erp = append(s.erp, c)
	}
	side.Restart = compare.Restart(b.rig)
	if s.o.cold {
		side.Cold = compare.ColdStart(b.rig)
	}
	return side, nil
}

// requestsAlone refuses a side without a database, or with servers that run already, if its scenario needs more.
func requestsAlone(sc *scenario.Scenario, spec sideSpec) error {
	switch {
	case sc.Application == scenario.ERP:
		return problem.New(problem.Usage, errors.New("the scenario is played by application servers that this command "+
			"starts"), "name a system, such as plimsoll+lean, or give a scenario with application = \"none\"")
	case spec.System == "" && spec.DSN == "" && sc.NeedsDatabase():
		return problem.New(problem.Usage, errors.New("the scenario has SQL and so needs a database"),
			"name a system, or give a connection string")
	}
	return nil
}

// base that a side runs on.
func (s *sidesUp) base(ctx context.Context, spec sideSpec, side *compare.Side, key string, erp bool) (b base,
	err error) {
	if spec.DSN != "" && side.Reset == line.ResetAuto {
		side.Reset = line.ResetNone // no flag allows a reset
	}
	if b, found := s.bases[key]; found {
		return b, nil
	}
	switch {
	case spec.DSN != "":
		b.dsn = spec.DSN
		if erp {
			var from string
			if from, err = side.Reset.StartsFrom(ctx, side.Run.Scenario, b.dsn, false); err == nil {
				b.Base, err = rig.Look(ctx, from)
			}
		}
	case erp:
		var r *rig.Rig
		r, b, err = s.baseOf(ctx, key, line.Options{Run: side.Run, Reset: side.Reset})
		if r != nil {
			s.rigs = append(s.rigs, r)
		}
	default:
		b.dsn, err = s.database(ctx, target{cluster: key})
	}
	if err == nil {
		s.bases[key] = b
	}
	return b, err
}

// checkSameData refuses sides with the ERP whose bases hold different data.
func (s *sidesUp) checkSameData() error {
	if len(s.erp) < 2 {
		return nil
	}
	return sameBases(s.erp, s.bases)
}

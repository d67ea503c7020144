package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/recorded/har"
)

// harOptions of `scenario --from-har`.
type harOptions struct {
	file, name string
	keep       []string
	hosts      []string
	gap        time.Duration
	secrets    bool
}

// harFlags apply to --from-har alone.
var harFlags = []string{"name", "keep", "host", "gap", "with-secrets"}

func (o *harOptions) flags(fs *pflag.FlagSet) {
	fs.StringVar(&o.file, "from-har", "", "make a scenario of the HAR `FILE` that a browser or proxy has recorded")
	fs.StringVar(&o.name, "name", "", "title of the scenario made of a HAR `TEXT`; default: the recorded host")
	fs.StringSliceVar(&o.keep, "keep", nil, "also take requests that are left out otherwise: `KINDS` of static, "+
		"third-party, analytics, log-out")
	fs.StringSliceVar(&o.hosts, "host", nil, "also take the requests to these `HOSTS` of other sites")
	config.Span(fs, &o.gap, "gap", har.GapDefault, time.Millisecond, "a request after such a pause begins another "+
		"operation")
	fs.BoolVar(&o.secrets, "with-secrets", false, "write passwords and keys of the recording into the scenario")
	config.FlagOnly(fs, append([]string{"from-har"}, harFlags...)...)
}

// unusedHARFlags are an error without --from-har.
func unusedHARFlags(fs *pflag.FlagSet) error {
	for _, name := range harFlags {
		if fs.Changed(name) {
			return problem.New(problem.Usage, fmt.Errorf("--%s applies only to --from-har", name), "leave it out")
		}
	}
	return nil
}

func (o *harOptions) read() (options har.Options, err error) {
	options = har.Options{Title: o.name, Gap: o.gap, Hosts: o.hosts, Secrets: o.secrets}
	var known []string
	for _, r := range har.Keepable {
		known = append(known, string(r))
	}
	for _, word := range o.keep {
		if !slices.Contains(known, word) {
			return options, problem.New(problem.Usage, fmt.Errorf("--keep: there is no kind %q", word),
				human.NearestHint(word, known, "there are "+strings.Join(known, ", ")))
		}
		options.Keep = append(options.Keep, har.Reason(word))
	}
	return options, nil
}

// importHAR writes the scenario to stdout, and what was left out and what was not sure to stderr.
func (a *app) importHAR(o harOptions, path string) error {
	if path != "" {
		return problem.New(problem.Usage, errors.New("--from-har makes a scenario, and FILE is one to check"),
			"leave one of them out")
	}
	options, err := o.read()
	if err != nil {
		return err
	}
	s, err := readHAR(o.file, options)
	switch {
	case err != nil:
		return err
	case a.json:
		return a.emit(s)
	}
	a.sayImport(s)
	_, err = fmt.Fprint(a.stdout, s.TOML)
	return err
}

func readHAR(path string, o har.Options) (*har.Scenario, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("--from-har: %w", err), "save one in the browser's "+
			"developer tools: Network, Save all as HAR")
	}
	defer file.Close()
	rec, err := har.Read(file)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("%s: %w", path, err), "save it once more in the browser's "+
			"developer tools: Network, Save all as HAR (with content)")
	}
	s, err := har.Import(rec, o)
	switch {
	case errors.Is(err, har.ErrOnlyLogin):
		return nil, problem.New(problem.Usage, fmt.Errorf("%s: %w", path, err), "go on in the application and do what "+
			"is to be measured, a second or more after the log-in; see --gap")
	case err != nil:
		return nil, problem.New(problem.Usage, fmt.Errorf("%s: %w", path, err), "see --keep and --host")
	}
	return s, nil
}

func (a *app) sayImport(s *har.Scenario) {
	login := ""
	if s.Login {
		login = " and the log-in"
	}
	a.meter.Say("%s of %s: %s%s, %s from answers", human.Count(s.Kept, "request"), human.Thousands(s.Requests),
		human.Count(s.Operations, "operation"), login, human.Count(len(s.Values), "value"))
	for _, l := range s.LeftOut {
		line := fmt.Sprintf("left out %d: %s (%s)", l.Requests, l.Text(), strings.Join(l.Examples, ", "))
		if l.Keep != "" {
			line += "; " + l.Keep
		}
		a.meter.Say("%s", line)
	}
	for _, v := range s.Values {
		used := "replaced when it changes"
		if len(v.Used) > 0 {
			used = "used in " + strings.Join(v.Used[:min(len(v.Used), 3)], ", ")
		}
		a.meter.Say("{{%s}}: %s of %s, %s", v.Variable, v.Extraction, v.From, used)
	}
	for _, d := range s.Doubts {
		a.meter.Say("not sure: %s", d)
	}
	if len(s.Withheld) > 0 {
		a.meter.Say("not written: %s; put them into [variables], or import again with --with-secrets",
			strings.Join(s.Withheld, ", "))
	}
}

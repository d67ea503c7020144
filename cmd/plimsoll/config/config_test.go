package config_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/test/files"
)

// tree is a small command line with each kind of flag.
type tree struct {
	root    *cobra.Command
	users   int
	think   time.Duration
	flavour string
	target  float64
	memory  int
	html    string
	keep    bool
	cluster [2]string
}

func newTree(t *testing.T, args ...string) *tree {
	t.Helper()
	x := &tree{root: &cobra.Command{Use: "plimsoll", Run: func(*cobra.Command, []string) {}}}
	x.root.PersistentFlags().String("engine", "", "")
	run := &cobra.Command{Use: "run", Run: func(*cobra.Command, []string) {}}
	fs := run.Flags()
	config.Count(fs, &x.users, "users", 1000, 1, 100000, "")
	config.Span(fs, &x.think, "think", 10*time.Second, 0, "")
	config.Fraction(fs, &x.target, "target", 0, "")
	fs.StringVar(&x.html, "html", "", "")
	fs.BoolVar(&x.keep, "keep", false, "")
	fs.StringVar(&x.cluster[0], "cluster", "plimsoll", "")
	config.Share(fs, "cluster")
	up := &cobra.Command{Use: "up", Run: func(*cobra.Command, []string) {}}
	fs = up.Flags()
	config.Choice(fs, &x.flavour, "flavour", "", []string{"plimsoll", "vanilla"}, "")
	config.Count(fs, &x.memory, "memory", 0, 0, 99, "")
	fs.StringVar(&x.cluster[1], "cluster", "plimsoll", "")
	config.Share(fs, "cluster")
	fs.Bool("yes", false, "")
	config.FlagOnly(fs, "yes")
	x.root.AddCommand(run, up)
	x.root.SetArgs(args)
	if err := x.root.Execute(); err != nil {
		t.Fatal(err)
	}
	return x
}

func configFile(t *testing.T, text string) string {
	t.Helper()
	return files.Write(t, t.TempDir(), "plimsoll.toml", text)
}

func (x *tree) apply(path string, environ ...string) (map[string]config.Origin, error) {
	settings := config.Settings(x.root)
	env, err := config.Environment(environ, settings, "PLIMSOLL_STATE")
	if err != nil {
		return nil, err
	}
	f, err := config.Read(path, true, settings)
	if err != nil {
		return nil, err
	}
	return config.Apply(settings, env, f)
}

func TestSettings_AreTheFlagsThemselves(t *testing.T) {
	var got []string
	for _, s := range config.Settings(newTree(t).root) {
		got = append(got, s.Key+" "+s.Env)
	}
	want := []string{
		"cluster PLIMSOLL_CLUSTER",
		"engine PLIMSOLL_ENGINE",
		"run.html PLIMSOLL_RUN_HTML",
		"run.keep PLIMSOLL_RUN_KEEP",
		"run.target PLIMSOLL_RUN_TARGET",
		"run.think PLIMSOLL_RUN_THINK",
		"run.users PLIMSOLL_RUN_USERS",
		"up.flavour PLIMSOLL_UP_FLAVOUR",
		"up.memory PLIMSOLL_UP_MEMORY",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestApply_PrecedenceIsFlagEnvironmentFileDefault(t *testing.T) {
	const inFile = "[run]\nusers = 300\n"
	for _, c := range []struct {
		name       string
		args, env  []string
		file       string
		users      int
		kind, from string
	}{
		{"Default", nil, nil, "", 1000, "default", ""},
		{"File", nil, nil, inFile, 300, "file", ":2"},
		{"EnvironmentOverFile", nil, []string{"PLIMSOLL_RUN_USERS=200"}, inFile, 200, "environment",
			"PLIMSOLL_RUN_USERS"},
		{"FlagOverAll", []string{"run", "--users", "100"}, []string{"PLIMSOLL_RUN_USERS=200"}, inFile, 100, "flag",
			"--users"},
		{"FlagOverFile", []string{"run", "--users=100"}, nil, inFile, 100, "flag", "--users"},
		{"FlagThatRepeatsTheDefault", []string{"run", "--users=1000"}, nil, inFile, 1000, "flag", "--users"},
		{"EmptyVariableIsUnset", nil, []string{"PLIMSOLL_RUN_USERS="}, inFile, 300, "file", ":2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newTree(t, c.args...)
			origins, err := x.apply(configFile(t, c.file), c.env...)
			if err != nil {
				t.Fatal(err)
			}
			o := origins["run.users"]
			if x.users != c.users || o.Kind != c.kind || !strings.HasSuffix(o.Place, c.from) {
				t.Errorf("users %d from %s (%s), want %d from %s (…%s)", x.users, o.Kind, o.Place, c.users, c.kind,
					c.from)
			}
		})
	}
}

func TestApply_SharedSettingReachesEachCommand(t *testing.T) {
	x := newTree(t)
	if _, err := x.apply(configFile(t, `cluster = "other"`)); err != nil {
		t.Fatal(err)
	}
	if x.cluster != [2]string{"other", "other"} {
		t.Errorf("clusters %v", x.cluster)
	}
}

func TestApply_TakesEachKindOfValue(t *testing.T) {
	x := newTree(t)
	_, err := x.apply(configFile(t, `
engine = "system"
up.memory = 12
up.flavour = "vanilla"
[run]
users = 30_000
think = "20m"
target = 0.85
keep = true
html = "a b.html"
`))
	if err != nil {
		t.Fatal(err)
	}
	if x.users != 30000 || x.think != 20*time.Minute || x.target != 0.85 || !x.keep || x.html != "a b.html" ||
		x.flavour != "vanilla" || x.memory != 12 {
		t.Errorf("want the values of the file, got %+v", x)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		name, file, env string
		err, hint       string
	}{
		{"UnknownKeyInTable", "[run]\n\nusres = 5\n", "", `plimsoll.toml:3: unknown key "run.usres"`,
			"did you mean run.users?"},
		{"UnknownTable", "[rum]\nusers = 5\n", "", `plimsoll.toml:2: unknown key "rum.users"`,
			"did you mean run.users?"},
		{"UnknownTopKey", "colour = true\n", "", `plimsoll.toml:1: unknown key "colour"`,
			"'plimsoll config' lists the keys there are"},
		{"FlagThatIsNoSetting", "[up]\nyes = true\n", "", `plimsoll.toml:2: unknown key "up.yes"`, ""},
		{"FirstMistakeInTheFilesOrder", "[up]\nflavor = \"vanilla\"\n[run]\nusres = 5\n", "",
			`plimsoll.toml:2: unknown key "up.flavor"`, "did you mean up.flavour?"},
		{"TextForNumber", "[run]\nusers = \"many\"\n", "",
			`plimsoll.toml:2: run.users takes a whole number, not the text "many"`, ""},
		{"NumberForText", "[run]\nhtml = 5\n", "", `plimsoll.toml:2: run.html takes text, not the number 5`, ""},
		{"NumberForDuration", "[run]\nthink = 5\n", "",
			`plimsoll.toml:2: run.think takes a duration such as 30s or 5m, not the number 5`, ""},
		{"FractionForCount", "[run]\nusers = 1.5\n", "", `plimsoll.toml:2: run.users takes a whole number, not "1.5"`,
			""},
		{"OutOfRange", "[run]\nusers = 0\n", "", `plimsoll.toml:2: run.users: must be between 1 and 100000, not 0`, ""},
		{"FractionAboveOne", "[run]\ntarget = 85\n", "", `plimsoll.toml:2: run.target: must be between 0 and 1, not 85`,
			""},
		{"UnknownChoice", "[up]\nflavour = \"vanila\"\n", "",
			`plimsoll.toml:2: up.flavour: must be one of plimsoll, vanilla, not "vanila" (did you mean vanilla?)`, ""},
		{"List", "[run]\nusers = [1]\n", "", `plimsoll.toml:2: run.users takes a whole number, not the list`, ""},
		{"NotTOML", "[run]\nusers 5\n", "", `plimsoll.toml:2: `, "the file is TOML: key = value, tables in [brackets]"},
		{"KeyTwice", "[run]\nusers = 5\nusers = 6\n", "", `plimsoll.toml:3: `,
			"the file is TOML: key = value, tables in [brackets]"},
		{"UnknownVariable", "", "PLIMSOLL_RUN_USRES=5", `unknown environment variable PLIMSOLL_RUN_USRES`,
			"did you mean PLIMSOLL_RUN_USERS?"},
		{"WrongVariable", "", "PLIMSOLL_RUN_USERS=many", `PLIMSOLL_RUN_USERS takes a whole number, not "many"`, ""},
		{"WrongChoiceInVariable", "", "PLIMSOLL_UP_FLAVOUR=stock",
			`PLIMSOLL_UP_FLAVOUR: must be one of plimsoll, vanilla, not "stock"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newTree(t).apply(configFile(t, c.file), c.env)
			if err == nil {
				t.Fatal("accepted")
			}
			if _, text, _ := strings.Cut(err.Error(), "/plimsoll.toml"); text != "" {
				err = problem.New(problem.ClassOf(err), errorText("plimsoll.toml"+text), problem.HintOf(err))
			}
			if !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("says  %s\nwants %s", err, c.err)
			}
			if c.hint != "" && problem.HintOf(err) != c.hint {
				t.Errorf("hints %q, want %q", problem.HintOf(err), c.hint)
			}
			if problem.ClassOf(err) != problem.Usage {
				t.Errorf("class %v, want usage", problem.ClassOf(err))
			}
		})
	}
}

type errorText string

func (e errorText) Error() string { return string(e) }

func TestRead_OnlyANamedFileMustExist(t *testing.T) {
	x := newTree(t)
	missing := filepath.Join(t.TempDir(), "none.toml")
	if _, err := config.Read(missing, false, config.Settings(x.root)); err != nil {
		t.Errorf("a file nobody asked for: %v", err)
	}
	if _, err := config.Read(missing, true, config.Settings(x.root)); problem.ClassOf(err) != problem.Usage {
		t.Errorf("a named file that is missing: %v", err)
	}
}

func TestEnvironment_LeavesOthersAlone(t *testing.T) {
	x := newTree(t)
	if _, err := x.apply(configFile(t, ""), "PATH=/bin", "PLIMSOLL_STATE=/tmp", "PLIMSOLL_TEST_DSN=x"); err != nil {
		t.Error(err)
	}
}

package cli

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/test/golden"
)

// environmentHead has quotes for code.
const environmentHead = `# Environment variables

<!-- Made from the program: go test ./cmd/plimsoll/cli -run Environment -rewrite -->

Every variable that Plimsoll reads begins with 'PLIMSOLL_'; one that it does not know is refused. A flag on the command
line goes before its variable, that before the configuration file, that before the default; 'plimsoll config' shows
every setting and where its value comes from. Variables of PostgreSQL ('PGHOST', 'PGPASSWORD', 'PGSSLMODE' …) complete
a connection string, and 'NO_COLOR' is respected.

## Places

| variable | what it names | without it |
|---|---|---|
`

// environmentDocument is docs/environment.md.
func environmentDocument() string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(environmentHead, "'", "`"))
	for _, v := range places {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.name, v.says, v.otherwise)
	}
	b.WriteString("\n## Settings\n\nEach is a flag, which `plimsoll help COMMAND` explains.\n\n" +
		"| variable | flag | of | takes | default |\n|---|---|---|---|---|\n")
	root := newApp(nil, nil, nil).root
	for _, s := range config.Settings(root) {
		f := s.Flag()
		fmt.Fprintf(&b, "| `%s` | `--%s` | %s | %s | %s |\n", s.Env, f.Name, settingOf(s.Key),
			strings.ReplaceAll(config.Kind(f), "|", ", "), defaultOf(f))
	}
	b.WriteString("\n## What Plimsoll tells programs that it starts\n\n| variable | what it says |\n|---|---|\n")
	for _, v := range told {
		fmt.Fprintf(&b, "| `%s` | %s |\n", v.name, v.says)
	}
	b.WriteString("\n## For those who test Plimsoll\n\nOthers that begin with `PLIMSOLL_TEST_` pass between a test " +
		"and its own processes.\n\n| variable | what it says | without it |\n|---|---|---|\n")
	for _, v := range forTests {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.name, v.says, v.otherwise)
	}
	return b.String()
}

// settingOf is the command whose setting a key is.
func settingOf(key string) string {
	if command, _, of := strings.Cut(key, "."); of {
		return "`" + command + "`"
	}
	return "all that have it"
}

func defaultOf(f *pflag.Flag) string {
	if slices.Contains([]string{"", "[]"}, f.DefValue) {
		return "none"
	}
	return "`" + f.DefValue + "`"
}

func TestEnvironment_IsTheDocument(t *testing.T) {
	golden.Compare(t, "../../../docs/environment.md", environmentDocument())
}

// uses of a variable in Go, C, shells, Perl and make; not the guards of headers, nor macros.
var usesOfVariables = map[string]*regexp.Regexp{
	".go": regexp.MustCompile(`["` + "`" + ` ](PLIMSOLL_[A-Z0-9_]*[A-Z0-9])["=]`),
	".c":  regexp.MustCompile(`getenv\("(PLIMSOLL_[A-Z0-9_]+)"`),
	"":    regexp.MustCompile(`(?:[$]\{?|\bexport |\benv |^|[ \t])(PLIMSOLL_[A-Z0-9_]+)(?:[}:=" ]|\?=| \?=|$)`),
}

// unknownVariables of a source file.
func unknownVariables(name, text string, known map[string]bool) (unknown []string, seen int) {
	uses := usesOfVariables[filepath.Ext(name)]
	if uses == nil {
		uses = usesOfVariables[""]
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "#define ") {
			continue // a macro
		}
		for _, found := range uses.FindAllStringSubmatch(line, -1) {
			seen++
			if !known[found[1]] {
				unknown = append(unknown, found[1])
			}
		}
	}
	return unknown, seen
}

func knownVariables() map[string]bool {
	known := map[string]bool{}
	for _, one := range regexp.MustCompile("`(PLIMSOLL_[A-Z0-9_]+)`").FindAllStringSubmatch(environmentDocument(), -1) {
		known[one[1]] = true
	}
	return known
}

// A variable that the program, a script or the Makefile uses must be documented. Those of a single test are its own.
func TestEnvironment_EveryVariableThatIsUsedIsDocumented(t *testing.T) {
	const top = "../../.."
	known, used := knownVariables(), map[string]bool{}
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(top, path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && (name == "build" || name == "bin" || name == "engine/tree" || name == "engine/overlay" ||
			name == "engine/patches" || e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".") && name != "."):
			return fs.SkipDir
		case e.IsDir(), strings.HasSuffix(name, "_test.go"),
			!slices.Contains([]string{".go", ".c", ".sh", ".mk", ""}, filepath.Ext(name)):
			return nil
		}
		text, err := os.ReadFile(path)
		unknown, _ := unknownVariables(name, string(text), known)
		for _, one := range unknown {
			t.Errorf("%s uses %s, which docs/environment.md lacks: cmd/plimsoll/cli/environment.go", name, one)
		}
		for one := range known {
			used[one] = used[one] || strings.Contains(string(text), one)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range slices.Concat(places, told, forTests) {
		if !used[v.name] {
			t.Errorf("%s is documented and nothing uses it", v.name)
		}
	}
}

func TestEnvironment_UsesAreFoundInEveryForm(t *testing.T) {
	known := map[string]bool{"PLIMSOLL_STATE": true}
	for _, c := range []struct{ name, text, want string }{
		{"a.go", `os.Getenv("PLIMSOLL_NEW")`, "PLIMSOLL_NEW"},
		{"a.go", `[]string{"PLIMSOLL_NEW=" + x, "PLIMSOLL_STATE="+y}`, "PLIMSOLL_NEW"},
		{"a.go", `const prefix = "PLIMSOLL_TEST_"`, ""},
		{"a.c", `x = getenv("PLIMSOLL_NEW");`, "PLIMSOLL_NEW"},
		{"a.c", `#define PLIMSOLL_SETTINGS_H`, ""},
		{"run", `exec ${PLIMSOLL_NEW:-x} "$PLIMSOLL_OTHER"`, "PLIMSOLL_NEW PLIMSOLL_OTHER"},
		{"run", `within=4h PLIMSOLL_NEW=yes go test`, "PLIMSOLL_NEW"},
		{"lib.sh", `sed -n 's/^#define PLIMSOLL_PATCHSET //p'`, ""},
		{"Makefile", "export PLIMSOLL_NEW ?= x", "PLIMSOLL_NEW"},
	} {
		unknown, _ := unknownVariables(c.name, c.text, maps.Clone(known))
		if got := strings.Join(unknown, " "); got != c.want {
			t.Errorf("%s: %s: %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

package scenario

import (
	"fmt"
	"os"
	"strings"
	"testing"

	parser "github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll/ground/tomlfile"
	"plimsoll/test/golden"
	"plimsoll/test/schema"
)

func TestSchema_IsPublished(t *testing.T) {
	golden.Compare(t, "../../../docs/schema/scenario-1.json", string(Schema()))
}

// fits says what the schema has against a file.
func fits(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var content map[string]any
	if err := parser.Unmarshal([]byte(text), &content); err != nil {
		t.Fatal(err)
	}
	return s.Validate(plainTree(content))
}

// plainTree is a value of TOML as JSON has it.
func plainTree(value any) any {
	switch v := value.(type) {
	case map[string]any:
		all := map[string]any{}
		for name, one := range v {
			all[name] = plainTree(one)
		}
		return all
	case []any:
		all := []any{}
		for _, one := range v {
			all = append(all, plainTree(one))
		}
		return all
	}
	return value
}

func TestSchema_TakesWhatTheReaderTakes(t *testing.T) {
	s := schema.Compile(t, Schema())
	for _, path := range examples(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := fits(t, s, string(text)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for pattern, a := range reference {
		if a.example == "" {
			continue
		}
		if err := fits(t, s, exampleFile(pattern, a.example)); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	var printed strings.Builder
	if err := Default().WriteTOML(&printed); err != nil {
		t.Fatal(err)
	}
	if err := fits(t, s, printed.String()); err != nil {
		t.Errorf("the scenario that the program prints: %v", err)
	}
}

func TestSchema_NamesWhatIsWrong(t *testing.T) {
	s := schema.Compile(t, Schema())
	for text, says := range map[string]string{
		"titel = \"x\"":                                "titel",
		"application = \"epr\"":                        "/application",
		"users = \"5\"":                                "/users",
		"users = 0":                                    "/users",
		"refused = 3":                                  "/refused",
		"[think]\nmean = 5":                            "/think/mean",
		"[think]\nmean = \"5 seconds\"":                "/think/mean",
		"[think]\ndistribution = \"lognormla\"":        "/think/distribution",
		"[operations.a]\nulr = \"/\"":                  "ulr",
		"[operations.a]\ntarget = 500":                 "/operations/a/target",
		"[operations.a]\nmethod = \"PSOT\"":            "/operations/a/method",
		"[operations.a]\nexpect = [99]":                "/operations/a/expect",
		"[operations.a]\nexpect = \"200\"":             "/operations/a/expect",
		"[operations.a]\nrefused = [\"40\"]":           "/operations/a/refused",
		"[operations.a]\nheaders = \"x\"":              "/operations/a/headers",
		"[operations.a.headers]\nAccept = 5":           "/operations/a/headers/Accept",
		"[login]\nextract = { token = 1 }":             "/login/extract/token",
		"[roles.a]\nuser = 5":                          "user",
		"[roles.a.weights]\nb = -1":                    "/roles/a/weights/b",
		"[roles.a.think]\ncap = true":                  "/roles/a/think/cap",
		"[sql]\nmode = \"prepard\"":                    "/sql/mode",
		"[sql]\nconnections = 20000":                   "/sql/connections",
		"[variables]\nlist = [1]":                      "/variables/list",
		"[day]\n\"09:30\" = \"fast\"":                  "/day/09:30",
		"operations = 5":                               "/operations",
		"[[operations]]\nname = \"a\"\nurl = \"/x\"\n": "/operations",
		"[[operations.a.steps]]\nulr = \"/\"\n":        "ulr",
		"[[operations.a.steps]]\nthink = 2\n":          "/operations/a/steps/0/think",
	} {
		if err := fits(t, s, text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s\nsays %v, without %s", text, err, says)
		}
	}
}

// probes are values of every kind.
var probes = []any{"", "x", "5s", "1h30m", "-5s", "get", "GET", "exponential", "simple", "none", "P0001", int64(-1),
	int64(0), int64(1), int64(5), int64(99), int64(200), int64(600), int64(10_001), int64(1_000_000_000_000), -0.5, 0.5,
	1.5, 1e12, true, []any{}, []any{int64(200), int64(404)}, []any{int64(5)}, []any{"P0001"}, []any{"P1"}, []any{true},
	map[string]any{}}

// notProbed are texts and lists whose content the reader looks at, which no schema can: files, addresses, sources.
var notProbed = map[string]string{
	"operations.*.script": "text", "operations.*.body_file": "text", "operations.*.files.*": "text",
	"http.tls.ca": "text", "http.tls.certificate": "text", "http.tls.key": "text", "http.base": "text",
	"http.auth.basic": "text", "operations.*.extract.*": "text", "operations.*.check.*": "text, list",
	"operations.*.resources": "list, number", "sql.connections": "number", "login.steps.*.think": "text",
	"operations.*.steps": "list", "gates.fail_if": "text, list", "day.file": "text", "data.*.file": "text",
	"stages": "list",
}

func isProbed(pattern string, value any) bool {
	kinds := notProbed[pattern]
	for table, other := range map[string]string{"login.": "operations.*.", "operations.*.steps.*.": "operations.*."} {
		if rest, inside := strings.CutPrefix(pattern, table); inside && kinds == "" {
			return isProbed(other+rest, value)
		}
	}
	switch value.(type) {
	case string:
		return !strings.Contains(kinds, "text")
	case []any:
		return !strings.Contains(kinds, "list")
	case map[string]any:
		return true
	}
	return !strings.Contains(kinds, "number")
}

// The reader takes what the schema takes, and refuses what it refuses, for a value of every kind in each key.
func TestSchema_AgreesWithTheReader(t *testing.T) {
	s := schema.Compile(t, Schema())
	dir, tried := t.TempDir(), 0
	for _, k := range keys {
		if k.pattern == "application" {
			continue // read before all others
		}
		for _, value := range probes {
			_, table := value.(map[string]any)
			if k.table && table || !isProbed(k.pattern, value) {
				continue
			}
			path := probePath(k.pattern)
			read := probeReader(t, dir, path).take(tomlfile.Entry{Key: path, Line: 1, Raw: value, Table: table})
			judged := s.Validate(nested(path, value))
			if (read == nil) != (judged == nil) {
				t.Errorf("%s = %v (%T)\nreader: %v\nschema: %v", k.pattern, value, value, read, judged)
			}
			tried++
		}
	}
	if tried < 2000 {
		t.Errorf("only %d values tried", tried)
	}
}

// probePath is the name of a key of the pattern. Steps are second ones: the first has no think time.
func probePath(pattern string) []string {
	path := strings.Split(pattern, ".")
	for i, part := range path {
		switch {
		case part != "*":
		case path[i-1] == "day":
			path[i] = "09:30"
		case path[i-1] == "steps" || path[i-1] == "stages":
			path[i] = "2"
		default:
			path[i] = "a"
		}
	}
	return path
}

// probeReader has read the tables of a key.
func probeReader(t *testing.T, dir string, path []string) *reader {
	t.Helper()
	r := &reader{file: &tomlfile.File{Path: dir + "/own.toml"}, Scenario: Default(), lines: map[string]int{}}
	r.Application = NoERP
	r.Operations = []Operation{{ID: "a"}}
	for n := 1; n < len(path); n++ {
		e := tomlfile.Entry{Key: path[:n], Line: 1, Table: true, Raw: map[string]any{}}
		if path[n] == "2" {
			e.Table, e.Raw = false, []any{map[string]any{}, map[string]any{}}
		}
		if err := r.take(e); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func nested(path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	inner := nested(path[1:], value)
	if path[0] == "2" {
		return []any{map[string]any{}, inner}
	}
	return map[string]any{path[0]: inner}
}

func TestKindOf_KnowsItsWords(t *testing.T) {
	for _, takes := range []string{"text", "duration", "share", "number", "number from 0", "whole number from 1 to 5",
		"a|b", "true or false", "text or number or true or false", "status or list of statuses", "list of texts"} {
		if _, known := kindOf(takes); !known {
			t.Errorf("%q is unknown", takes)
		}
	}
	for _, takes := range []string{"", "somewhat", "list of somewhats", "text or somewhat", "number between 1 and 5"} {
		if kind, known := kindOf(takes); known {
			t.Errorf("%q is known: %s", takes, fmt.Sprint(kind))
		}
	}
}

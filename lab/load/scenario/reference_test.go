package scenario

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plimsoll/ground/problem"
	"plimsoll/test/certificate"
	"plimsoll/test/files"
)

func TestReference_DescribesEveryKey(t *testing.T) {
	for _, k := range keys {
		a, described := aboutKey(k.pattern)
		switch {
		case !described:
			t.Errorf("%s: nothing describes it: add it to reference (reference_*.go)", k.pattern)
		case !strings.HasSuffix(a.says, "."):
			t.Errorf("%s: %q is no sentence", k.pattern, a.says)
		case k.table:
		case a.instead == "" || a.example == "":
			t.Errorf("%s: says neither what holds without it nor an example", k.pattern)
		default:
			if _, known := kindOf(a.takes); !known {
				t.Errorf("%s takes %q, which kindOf (schema.go) does not know", k.pattern, a.takes)
			}
		}
	}
	for pattern := range reference {
		if !knownKey(pattern) {
			t.Errorf("%s is described and no key", pattern)
		}
	}
}

func knownKey(pattern string) bool {
	for _, k := range keys {
		if k.pattern == pattern {
			return true
		}
	}
	return false
}

// doing are the keys that say what an operation does.
var doing = regexp.MustCompile(`(?m)^(sql|script|url|steps) = `)

// exampleFile is a file in which the example of a key has all that it needs.
func exampleFile(pattern, example string) string {
	const order, look = "[operations.order]\ntarget = \"1s\"\n", "[operations.look]\ntarget = \"1s\"\nurl = \"/\"\n"
	const url = "url = \"/\"\n"
	name, example := strings.Fields(example)[0], example+"\n"
	table, _, _ := strings.Cut(pattern, "."+name) // the line itself has the rest
	switch table = strings.TrimSuffix(table, ".*"); {
	case strings.HasPrefix(example, "["): // it has its table itself
		return example + order + url + look
	case strings.HasPrefix(pattern, "data.*.columns"):
		return "[data.items]\nrows = 5\n" + strings.Replace("[data.items.columns]\n"+example, "[data.items.columns]\n"+
			"columns", "columns", 1) + order + url + look
	case pattern == "data.*.rows":
		return "[data.items]\n" + example + "columns = { id = \"{{:row}}\" }\n" + order + url + look
	case pattern == "data.*.shuffle":
		return "[data.items]\nfile = \"items.csv\"\ntake = \"sequence\"\n" + example + order + url + look
	case strings.HasPrefix(pattern, "data.*.") && name != "file" && name != "sql":
		return "[data.items]\nfile = \"items.csv\"\n" + example + order + url + look
	case strings.HasPrefix(pattern, "data.*."):
		return "[data.items]\n" + example + order + url + look
	case strings.HasPrefix(pattern, "stages.*.") && (name == "users" || name == "rate"):
		return "[[stages]]\nduration = \"1m\"\n" + example + order + url + look
	case pattern == "stages.*.duration":
		return "[[stages]]\nusers = 5\n" + example + order + url + look
	case strings.HasPrefix(pattern, "stages.*."):
		return "[[stages]]\nduration = \"1m\"\nusers = 5\n" + example + order + url + look
	case table == name || !strings.Contains(pattern, ".") && !isTable(pattern):
		return example + order + url + look
	case pattern == "operations.*."+name && name == "target":
		return strings.Replace(order, "target = \"1s\"\n", "", 1) + example + url + look
	case strings.HasPrefix(pattern, "operations.*.steps.*."):
		return order + "[[operations.order.steps]]\n" + url + "[[operations.order.steps]]\n" + url + example + look
	case table == "operations" && doing.MatchString(example):
		return order + example + look
	case table == "operations":
		return order + url + example + look
	case table == "roles" && name == "users":
		return order + url + look + "[roles.clerk]\n" + example
	case table == "roles":
		return order + url + look + "[roles.clerk]\nusers = 7\n" + example
	}
	return "[" + table + "]\n" + example + order + url + look
}

func TestReference_ExamplesAreReadWithoutError(t *testing.T) {
	dir := exampleFolder(t)
	for pattern, a := range reference {
		if a.example == "" {
			continue
		}
		t.Run(pattern, func(t *testing.T) {
			text := exampleFile(pattern, a.example)
			_, err := Read(files.Write(t, dir, "own.toml", text))
			if err != nil {
				t.Fatalf("%v\nhint: %s\n%s", err, problem.HintOf(err), text)
			}
		})
	}
}

// exampleFolder has the files that the examples name.
func exampleFolder(t *testing.T) string {
	t.Helper()
	authority := certificate.New(t)
	authority.Issue(t, "client")
	dir := filepath.Dir(authority.File)
	for name, content := range map[string]string{"order.sql": "SELECT 1;\n", "order.json": "{}", "photo.jpg": "jpg",
		"items.csv": "id,price\n1,2\n", "monday.csv": "at,rate\n09:00,1\n10:00,2\n"} {
		files.Write(t, dir, name, content)
	}
	return dir
}

var codeBlock = regexp.MustCompile("(?s)```toml\n(.*?)```")

// What the guide shows are whole files, which a person copies.
func TestGuide_ScenariosAreReadWithoutError(t *testing.T) {
	guide, err := os.ReadFile("testdata/guide.txt")
	if err != nil {
		t.Fatal(err)
	}
	found := codeBlock.FindAllStringSubmatch(string(guide), -1)
	if len(found) < 3 {
		t.Fatalf("%d scenarios in the guide", len(found))
	}
	for _, block := range found {
		if _, err := Read(files.Write(t, t.TempDir(), "own.toml", block[1])); err != nil {
			t.Errorf("%v\nhint: %s\n%s", err, problem.HintOf(err), block[1])
		}
	}
}

// examples are the files of the documents.
func examples(t *testing.T) (paths []string) {
	t.Helper()
	paths, err := filepath.Glob("../../../docs/examples/*.toml")
	if err != nil || len(paths) < 4 {
		t.Fatalf("examples %v, error %v: want 4 or more", paths, err)
	}
	return paths
}

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

const smallRules = `
order cmd > lab > erp > platform
order in lab: view, line > run
order in erp: . >   # goes on
  sales > books     # the last word
known web: lab
allow lab/run -> lab/view: a reason
test erp -> lab: a reason
`

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		file, imports string
		want          []string // parts of the one complaint; none: allowed
	}{
		"Downwards": {"lab/run/a.go", "erp/sales", nil},
		"Upwards": {"platform/id/a.go", "erp",
			[]string{"platform/id/a.go:2:", "platform/id imports erp", "platform lies below erp", "rules.txt:2"}},
		"UpwardsWithinAPlace": {"erp/books/a.go", "erp/sales", []string{"books lies below sales", "rules.txt:4"}},
		"TheRootOfAPlace":     {"erp/sales/a.go", "erp", []string{"sales lies below ."}},
		"SideBySide": {"lab/view/html/a.go", "lab/line",
			[]string{"view and line lie side by side", "rules.txt:3"}},
		"WithinARoom": {"lab/view/html/a.go", "lab/view/text", nil},
		"AFolderWithoutAPlace": {"lab/attic/a.go", "platform/id",
			[]string{"lab/attic has no place in the order of lab"}},
		"KnownToOthers":             {"cmd/a.go", "web", []string{"only lab may"}},
		"KnownToThose":              {"lab/view/a.go", "web/charts", nil},
		"Excused":                   {"lab/run/store/a.go", "lab/view", nil},
		"TheExcuseOfTestsInATest":   {"erp/sales/a_test.go", "lab/view", nil},
		"TheExcuseOfTestsElsewhere": {"erp/sales/a.go", "lab/view", []string{"erp lies below lab"}},
		"APackageOfTests":           {"erp/salestest/a.go", "lab/view", []string{"erp/salestest has no place"}},
		"TestCodeInAProgram":        {"lab/run/a.go", "platform/idtest", []string{"only tests use it"}},
	} {
		t.Run(name, func(t *testing.T) {
			tree := treeOf(map[string]string{test.file: test.imports,
				"lab/run/used.go": "lab/view", "erp/used_test.go": "lab/run"})
			out, code := runIn(t, tree)
			switch {
			case test.want == nil && code != 0 || test.want != nil && code != 1:
				t.Errorf("exit code %d:\n%s", code, out)
			case test.want != nil && strings.Count(out, "\n") != 2:
				t.Errorf("not one complaint and its count:\n%s", out)
			}
			for _, part := range test.want {
				if !strings.Contains(out, part) {
					t.Errorf("lacks %q:\n%s", part, out)
				}
			}
		})
	}
	t.Run("AnExceptionThatNobodyNeeds", func(t *testing.T) {
		out, code := runIn(t, treeOf(map[string]string{"lab/run/a.go": "lab/view"}))
		if code != 1 || !strings.Contains(out, "rules.txt:8: no import needs this exception") {
			t.Errorf("exit code %d:\n%s", code, out)
		}
	})
	t.Run("AnUnreadableRule", func(t *testing.T) {
		tree := treeOf(nil)
		tree[rulesFile] = &fstest.MapFile{Data: []byte("order cmd > lab\nallow lab -> cmd\n")}
		out, code := runIn(t, tree)
		if code != 1 || !strings.Contains(out, `rules.txt:2: cannot read "allow lab -> cmd"`) {
			t.Errorf("exit code %d:\n%s", code, out)
		}
	})
}

// The rules of this repository, on an import that nobody has written.
func TestRules_OfTheRepository(t *testing.T) {
	rules, err := readRules(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, planted := range []importLine{
		{from: "platform/id", to: "erp"},
		{from: "platform/id", to: "lab/host/cpu"},
		{from: "erp", to: "lab/load/apdex"},
		{from: "lab/line", to: "cmd/plimsoll/cli"},
		{from: "lab/stats", to: "lab/run"},
		{from: "lab/run", to: "lab/line"},
		{from: "lab/load/users", to: "lab/run/result"},
		{from: "erp", to: "web"},
		{from: "platform/database", to: "engine/bench"},
	} {
		if rules.broken(planted) == "" || rules.excused(planted) {
			t.Errorf("%s may import %s", planted.from, planted.to)
		}
	}
}

func TestDraw(t *testing.T) {
	tree := treeOf(map[string]string{
		"lab/view/a.go": "lab/run/result", "lab/line/a.go": "lab/run", "lab/line/b.go": "lab/run",
		"lab/run/a.go": "lab/view", "lab/run/result/a.go": "platform/id", "lab/line/a_test.go": "lab/view",
	})
	t.Run("ByTheRules", func(t *testing.T) {
		out, _ := runIn(t, tree, "draw", "lab")
		want := "lab: 3 rooms, 3 arrows, 1 climbing (by test/arrows/rules.txt)\n" +
			"\nfloor 2\n  line                     -> run (1)\n  view                     -> run (1)\n" +
			"\nfloor 1\n  run                      \n\nclimbing\n  run -> view (1)\n\n"
		if out != want {
			t.Errorf("got:\n%s\nwant:\n%s", out, want)
		}
	})
	t.Run("DeeperThereIsNoCircle", func(t *testing.T) {
		out, _ := runIn(t, tree, "draw", "--depth", "2", "lab")
		if !strings.HasPrefix(out, "lab: 4 rooms, 3 arrows, 1 climbing") {
			t.Error(out)
		}
	})
	t.Run("Mermaid", func(t *testing.T) {
		out, _ := runIn(t, tree, "draw", "--format", "mermaid", "lab")
		for _, want := range []string{"graph TD\n", `r1["run"]`, "r0 --> r1\n", "r1 -. climbs .-> r2\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("lacks %q:\n%s", want, out)
			}
		}
	})
	t.Run("Dot", func(t *testing.T) {
		out, _ := runIn(t, tree, "draw", "--format", "dot", "lab")
		for _, want := range []string{`digraph "lab" {`, `{ rank=same; "line"; "view"; }`,
			`"run" -> "view" [label=1, color=red`} {
			if !strings.Contains(out, want) {
				t.Errorf("lacks %q:\n%s", want, out)
			}
		}
	})
	t.Run("Misused", func(t *testing.T) {
		for _, args := range [][]string{{"draw"}, {"draw", "--format", "gif", "lab"}, {"paint"}} {
			if out, code := runIn(t, tree, args...); code != 2 || !strings.HasPrefix(out, "usage:") {
				t.Errorf("%v: exit code %d, %s", args, code, out)
			}
		}
		if out, code := runIn(t, tree, "draw", "attic"); code != 1 || !strings.Contains(out, "no packages in attic") {
			t.Errorf("exit code %d, %s", code, out)
		}
	})
}

func TestDraw_FilesOfOnePackage(t *testing.T) {
	tree := fstest.MapFS{}
	for name, text := range map[string]string{
		"top.go": "package erp\nimport \"elsewhere\"\nvar Top elsewhere.Thing = elsewhere.Make(rule(), " +
			"document{}.post(), document{}.number)\n",
		"document.go": "package erp\ntype document struct{ number int }\nfunc (document) post() int { local := " +
			"rule(); return local }\n",
		"rule.go":   "package erp\nfunc rule() int { return back }\n",
		"list.go":   "package erp\nvar back = document{}.number\n",
		"a_test.go": "package erp\nvar _ = Top\n",
	} {
		tree["erp/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	g, err := fileGraph(tree, "erp")
	if err != nil {
		t.Fatal(err)
	}
	// list takes the type and its field; the three of document, rule and list are a circle, of which one arrow climbs.
	for from, to := range map[string]string{"top.go": "document.go", "list.go": "document.go",
		"document.go": "rule.go"} {
		if g.arrows[arrow{from, to}] == 0 {
			t.Errorf("no arrow %s -> %s in %v", from, to, g.arrows)
		}
	}
	if got := g.arrows[arrow{"top.go", "document.go"}]; got != 3 {
		t.Errorf("top takes %d names from document, want the type, its method and its field", got)
	}
	if len(g.rooms) != 4 || len(g.arrows) != 5 || len(g.climbing()) != 1 {
		t.Errorf("got %s", g.summary())
	}
}

func TestDraw_OfACommit(t *testing.T) {
	var out, complaints bytes.Buffer
	if code := run([]string{"draw", "--at", "no-such-commit", "lab"}, "../..", &out, &complaints); code != 1 ||
		!strings.Contains(complaints.String(), "read commit no-such-commit") {
		t.Errorf("exit code %d: %s", code, complaints.String())
	}
}

// treeOf gives each file one import of our module.
func treeOf(files map[string]string) fstest.MapFS {
	tree := fstest.MapFS{rulesFile: {Data: []byte(smallRules)}}
	for name, imports := range files {
		tree[name] = &fstest.MapFile{Data: []byte("package p\nimport _ \"plimsoll/" + imports + "\"\n")}
	}
	return tree
}

func runIn(t *testing.T, tree fstest.MapFS, args ...string) (string, int) {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, tree); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code := run(args, root, &out, &out)
	return out.String(), code
}

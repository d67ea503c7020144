package web

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestImportMapHoldsEveryModuleThatIsImported(t *testing.T) {
	var m struct{ Imports map[string]string }
	if err := json.Unmarshal([]byte(ImportMap()), &m); err != nil {
		t.Fatal(err)
	}
	sources := []string{Text("report/page.js")}
	for _, url := range m.Imports {
		source, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(url, "data:text/javascript;base64,"))
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, string(source))
	}
	found := 0
	for _, source := range sources {
		for _, name := range regexp.MustCompile(`from "([^"]+)"`).FindAllStringSubmatch(source, -1) {
			found++
			if m.Imports[name[1]] == "" {
				t.Errorf("nothing is known as %q", name[1])
			}
		}
	}
	if found == 0 {
		t.Error("no import was found")
	}
}

func TestEveryFileOfTheLivePageIsServed(t *testing.T) {
	wanted := []string{"live/page.html"}
	names := regexp.MustCompile(`(?:from |import |href=|src=)"(/web/|\./)([^"]+)"`)
	for i := 0; i < len(wanted); i++ { // grows
		text, kind, ok := Served(wanted[i])
		if !ok || kind == "" || strings.Contains(string(text), `"plimsoll/`) {
			t.Errorf("%s: served %v as %q", wanted[i], ok, kind)
		}
		for _, found := range names.FindAllStringSubmatch(string(text), -1) {
			name := found[2]
			if found[1] == "./" {
				name = path.Join(path.Dir(wanted[i]), name)
			}
			if !slices.Contains(wanted, name) {
				wanted = append(wanted, name)
			}
		}
	}
	if len(wanted) < 15 {
		t.Errorf("only %q were found", wanted)
	}
	for _, name := range []string{"live/nothing.js", "vendor/uplot/LICENSE", "report/page.html.tmpl", "../web.go", "",
		"live"} {
		if _, _, ok := Served(name); ok {
			t.Errorf("%q is served", name)
		}
	}
	if page := Text("live/page.html"); regexp.MustCompile(`<style|style="| on[a-z]+="|<script>`).MatchString(page) {
		t.Error("something inline stands in the page, which its policy will not let work")
	}
}

func TestNoSourceEndsItsOwnElement(t *testing.T) {
	err := fs.WalkDir(Files(), ".", func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".js") && strings.Contains(Text(name), "</script") ||
			strings.HasSuffix(name, ".css") && strings.Contains(Text(name), "</style") {
			t.Errorf("%s would end the element that it stands in", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestVendoredFilesAreThoseOfTheirOrigin(t *testing.T) {
	rows := regexp.MustCompile("`([^`]+)` \\| `([0-9a-f]{64})`").FindAllStringSubmatch(Text("vendor/uplot/ORIGIN.md"),
		-1)
	if len(rows) != 3 {
		t.Fatalf("%d files", len(rows))
	}
	for _, row := range rows {
		sum := sha256.Sum256([]byte(Text("vendor/uplot/" + row[1])))
		if got := hex.EncodeToString(sum[:]); got != row[2] {
			t.Errorf("%s has changed: %s", row[1], got)
		}
	}
}

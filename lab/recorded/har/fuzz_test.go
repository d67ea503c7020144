package har_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/recorded/har"
)

// Whatever a file has, it is refused, or its scenario can be read. Files that a form uploads are the user's to add.
func FuzzImport(f *testing.F) {
	f.Add(mixed())
	f.Add(fileOf(entryOf(0, "POST", shop+"/a;x=1/b%20c?d=%zz&e={{f}}", "fetch", "302", "application/json",
		`{"a.b":1}`)))
	f.Add(strings.Replace(fileOf(entryOf(0, "POST", shop+"/l", "document", "200", "text/html",
		`<input type=hidden name="a b" value="a81bc81b-dead-4e5d-abff-90865d1e13b1">`),
		entryOf(3, "POST", shop+"/m", "document", "200", "text/html", "")), `"headers":[]}`,
		`"headers":[{"name":"Authorization","value":"Basic YTpi"}],"postData":{"mimeType":`+
			`"application/x-www-form-urlencoded","text":"a+b=a81bc81b-dead-4e5d-abff-90865d1e13b1&password='''"}}`, 2))
	f.Fuzz(func(t *testing.T, file string) {
		rec, err := har.Read(strings.NewReader(file))
		if err != nil {
			return
		}
		s, err := har.Import(rec, har.Options{})
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "own.toml")
		if err := os.WriteFile(path, []byte(s.TOML), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := scenario.Read(path); err != nil && !strings.Contains(err.Error(), ".files.") {
			t.Errorf("%v (class %v) in\n%s", err, problem.ClassOf(err), s.TOML)
		}
	})
}

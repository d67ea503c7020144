// Package web owns the sources of the pages: templates, styles, and plain ES modules
// that need no build. It only embeds them and offers them in a form that other packages
// can put into a page: package report writes a self-contained file.
package web

import (
	"embed"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

//go:embed advise compare diagnose frame line live modules proof report score style vendor
var files embed.FS

// Files are the sources, for a server that serves them one by one.
func Files() fs.FS { return files }

// Text of a source file. A name that does not exist is a mistake in the program.
func Text(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Style is what all pages of a file of their own share: colours for light and dark, as the
// system has it, and the forms of tables, tiles and charts.
func Style() string {
	return Text("style/palette.css") + "@media (prefers-color-scheme: dark) {\n" + Text("style/dark.css") + "}\n" +
		Text("style/base.css")
}

// kinds of files that a server may hand out.
var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".html": "text/html; charset=utf-8",
}

var shared = regexp.MustCompile(`(from |import )"plimsoll/([a-z]+)"`)

// Served is a file as a server hands it out under /web/, with its type: modules then
// import each other by their addresses, so that the page needs no import map, which would
// have to stand in the page itself.
func Served(name string) (text []byte, kind string, ok bool) {
	kind, ok = kinds[path.Ext(name)]
	if !ok {
		return nil, "", false
	}
	text, err := files.ReadFile(name)
	if err != nil {
		return nil, "", false
	}
	return shared.ReplaceAll(text, []byte(`$1"/web/modules/$2.js"`)), kind, true
}

// ImportMap lets the modules import each other as "plimsoll/NAME" in a page that
// carries them: each is a data URL, because a file opened from disk may not load
// its neighbours.
func ImportMap() string {
	const folder = "modules"
	entries, err := files.ReadDir(folder)
	if err != nil {
		panic(err)
	}
	imports := map[string]string{}
	for _, entry := range entries {
		name := "plimsoll/" + strings.TrimSuffix(entry.Name(), ".js")
		source := base64.StdEncoding.EncodeToString([]byte(Text(path.Join(folder, entry.Name()))))
		imports[name] = "data:text/javascript;base64," + source
	}
	text, err := json.Marshal(map[string]any{"imports": imports})
	if err != nil {
		panic(err)
	}
	return string(text)
}

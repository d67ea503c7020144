// Package web owns the sources of the pages: templates, styles, and plain ES modules
// that need no build. It only embeds them and puts them into a form that a page made
// elsewhere can carry: package report writes a file that stands alone.
package web

import (
	"embed"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"path"
	"strings"
)

//go:embed line modules report vendor
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

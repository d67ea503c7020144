package uninstall

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Part of the state or the cache directory.
type Part struct {
	Name string // may end in *
	What string
}

// State are the parts of the state directory; clusters come first, since backups and results may be of them.
var State = []Part{
	{"clusters", "local PostgreSQL clusters with their data"},
	{"backups", "backups of clusters, and archives of their log"},
	{"runs", "runs: results, reports, logs of workers"},
	{"lines", "searches for the load line"},
	{"comparisons", "comparisons"},
	{"verdicts", "verdicts on claims"},
	{"advise", "journals of changes that 'plimsoll advise' has made"},
	{"sessions", "session data of workers that did not fit into memory"},
	{"prove-requests-*", "scratch data of an experiment that was killed"},
	{"replay-*", "statements of a replay that was killed, of an earlier version"},
	{"scores", "how far 'plimsoll score --resume' has read its logs"},
}

// Cache are the parts of the cache directory, which can be made again.
var Cache = []Part{
	{"engine", "builds of PostgreSQL, and its sources"},
	{"shim", "the library that gives flushes a known latency"},
	{"generators", "other load generators, for 'plimsoll prove --self'"},
	{"test", "clusters that tests are copies of"},
	{"tools", "programs that check the sources"},
	{"lint*", "what the linter has seen, and its lock"},
	{"applications*", "applications that tests put a load on"},
	{"schemathesis-*", "a tool that tests the HTTP API"},
}

// is says whether a name in the directory is this part.
func (p Part) is(name string) bool {
	prefix, any := strings.CutSuffix(p.Name, "*")
	return name == p.Name || any && strings.HasPrefix(name, prefix)
}

// directory is a state or cache directory: what is ours in it, and what is not.
type directory struct {
	path    string
	parts   []Part
	ours    []string
	unknown []string
}

func look(path string, parts []Part) (d directory, err error) {
	d = directory{path: path, parts: parts}
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	for _, e := range entries {
		switch {
		case slices.ContainsFunc(parts, func(p Part) bool { return p.is(e.Name()) }):
			d.ours = append(d.ours, e.Name())
		case e.Name() != "lost+found":
			d.unknown = append(d.unknown, e.Name())
		}
	}
	return d, err
}

// standard says whether the directory is named like us: nobody else keeps files there. In any other, as in a home
// directory that PLIMSOLL_STATE names, a folder called backups may be another's.
func (d directory) standard() bool { return strings.HasPrefix(filepath.Base(d.path), "plimsoll") }

// what a name of ours is.
func (d directory) what(name string) string {
	at := slices.IndexFunc(d.parts, func(p Part) bool { return p.is(name) })
	return d.parts[at].What
}

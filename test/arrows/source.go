package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"testing/fstest"
)

const modulePrefix = "plimsoll/"

// importLine is one import of our own module: who takes what, and where that is written.
type importLine struct {
	from, to string // folders
	file     string
	line     int
	test     bool // written in a test, or in a package that only tests use
}

// readImports parses the import clauses of all Go files, whatever system they are built for.
func readImports(tree fs.FS) ([]importLine, error) {
	var imports []importLine
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name != "." && ignored(entry.Name()) || isOtherModule(tree, name)):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		found, err := importsOf(tree, name)
		imports = append(imports, found...)
		return err
	})
	return imports, err
}

// ignored says what the go command ignores, too.
func ignored(folder string) bool {
	return folder == "testdata" || strings.HasPrefix(folder, "_") || strings.HasPrefix(folder, ".")
}

func isOtherModule(tree fs.FS, folder string) bool {
	_, err := fs.Stat(tree, path.Join(folder, "go.mod"))
	return err == nil && folder != "."
}

func importsOf(tree fs.FS, name string) ([]importLine, error) {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, name, text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var imports []importLine
	from := path.Dir(name)
	for _, spec := range file.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !strings.HasPrefix(target, modulePrefix) {
			continue
		}
		imports = append(imports, importLine{
			from: from,
			to:   strings.TrimPrefix(target, modulePrefix),
			file: name,
			line: positions.Position(spec.Pos()).Line,
			test: strings.HasSuffix(name, "_test.go") || isTestSupport(from),
		})
	}
	return imports, nil
}

// isTestSupport tells packages that only tests use by their name, such as clustertest.
func isTestSupport(folder string) bool {
	return strings.HasSuffix(folder, "test") || within(folder, "test")
}

// within says whether folder is place or lies in it.
func within(folder, place string) bool {
	return folder == place || strings.HasPrefix(folder, place+"/")
}

// readCommit gives the Go files of a commit.
func readCommit(root, commit string) (fs.FS, error) {
	archive := exec.Command("git", "archive", "--format=tar", commit)
	archive.Dir = root
	var complaint strings.Builder
	archive.Stderr = &complaint
	text, err := archive.Output()
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w: %s", commit, err, strings.TrimSpace(complaint.String()))
	}
	tree := fstest.MapFS{}
	for entries := tar.NewReader(bytes.NewReader(text)); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return tree, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read commit %s: %w", commit, err)
		}
		if path.Ext(header.Name) != ".go" && header.Name != rulesFile {
			continue
		}
		data, err := io.ReadAll(entries)
		if err != nil {
			return nil, fmt.Errorf("read commit %s: %w", commit, err)
		}
		tree[header.Name] = &fstest.MapFile{Data: data}
	}
}

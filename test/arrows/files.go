package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// fileGraph makes a room of each file of one package; an arrow counts the names that a file takes from another.
func fileGraph(tree fs.FS, folder string) (*graph, error) {
	positions := token.NewFileSet()
	files, err := parseFiles(tree, folder, positions)
	if err != nil {
		return nil, err
	}
	g := newGraph(folder)
	for _, file := range files {
		g.rooms = append(g.rooms, roomAt(positions, file.Package))
	}
	slices.Sort(g.rooms)
	seen := map[[2]any]bool{}
	for used, object := range resolve(files, positions) {
		if object.Pkg() == nil || object.Pkg().Path() != folder || !outlives(object) {
			continue
		}
		from, to := roomAt(positions, used.Pos()), roomAt(positions, object.Pos())
		if key := [2]any{from, object}; from != to && !seen[key] {
			seen[key] = true
			g.arrows[arrow{from, to}]++
		}
	}
	g.rankByFewest()
	return g, nil
}

func parseFiles(tree fs.FS, folder string, positions *token.FileSet) ([]*ast.File, error) {
	entries, err := fs.ReadDir(tree, folder)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(positions, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no Go files in %s", folder)
	}
	return files, nil
}

// resolve says what each name stands for. Other packages are not loaded, so their names stay unknown: only what lies
// in this package counts.
func resolve(files []*ast.File, positions *token.FileSet) map[*ast.Ident]types.Object {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	folder := path.Dir(positions.Position(files[0].Package).Filename)
	unknown := types.Config{Error: func(error) {}, Importer: noPackages{}}
	_, _ = unknown.Check(folder, positions, files, info) // the errors are those of names from elsewhere
	return info.Uses
}

type noPackages struct{}

func (noPackages) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// outlives leaves out what a function declares for itself.
func outlives(object types.Object) bool {
	switch o := object.(type) {
	case *types.Var:
		return o.IsField() || o.Parent() == o.Pkg().Scope()
	case *types.Func:
		return true
	}
	return object.Parent() == object.Pkg().Scope()
}

func roomAt(positions *token.FileSet, pos token.Pos) string {
	return path.Base(positions.Position(pos).Filename)
}

// Package tomlfile reads TOML with the line of every key, so that errors can name file and line.
package tomlfile

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/pelletier/go-toml/v2"

	"plimsoll/ground/problem"
)

// File is the content of a TOML file, key by key.
type File struct {
	Path    string
	Entries []Entry // in the file's order, a table before its content
}

// Entry is a key with its value. A list of tables is an entry, and so is each of its tables: that of [[steps]] that
// stands first has the key steps.1.
type Entry struct {
	Key   []string
	Line  int
	Raw   any // as TOML has it: string, int64, float64, bool, []any, map[string]any, …
	Table bool
}

// Read reads the file at path.
func Read(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, string(text))
}

// Parse reads text; path stands in what is said about it.
func Parse(path, text string) (*File, error) {
	f := &File{Path: path}
	var tree map[string]any
	if err := toml.Unmarshal([]byte(text), &tree); err != nil {
		return nil, problem.New(problem.Usage, f.syntax(err), "the file is TOML: key = value, tables in [brackets]")
	}
	w := &walk{file: f, tree: tree, seen: map[string]bool{}, lists: map[string]int{}}
	if err := w.all([]byte(text)); err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("%s: %w", path, err), "")
	}
	return f, nil
}

// At names a place in the file.
func (f *File) At(line int) string { return fmt.Sprintf("%s:%d", f.Path, line) }

func (f *File) syntax(err error) error {
	var d *toml.DecodeError
	if errors.As(err, &d) {
		line, _ := d.Position()
		return fmt.Errorf("%s: %s", f.At(line), d.Error()[len("toml: "):])
	}
	return fmt.Errorf("%s: %w", f.Path, err)
}

// valueAt follows a key of the file; in a list its parts count from 1.
func valueAt(tree any, key []string) any {
	for _, part := range key {
		switch at := tree.(type) {
		case map[string]any:
			tree = at[part]
		case []any:
			n, err := strconv.Atoi(part)
			if err != nil || n < 1 || n > len(at) {
				return nil
			}
			tree = at[n-1]
		default:
			return nil
		}
	}
	return tree
}

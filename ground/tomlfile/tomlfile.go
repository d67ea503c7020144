// Package tomlfile reads TOML with the line of every key, so that errors can name file and line.
package tomlfile

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/BurntSushi/toml"

	"plimsoll/ground/problem"
)

// File is the content of a TOML file, key by key.
type File struct {
	Path    string
	Entries []Entry // in the file's order, a table before its content
}

// Entry is a key with its value.
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
	var top map[string]toml.Primitive
	md, err := toml.Decode(text, &top)
	if err != nil {
		return nil, problem.New(problem.Usage, f.syntax(err), "the file is TOML: key = value, tables in [brackets]")
	}
	found := map[string]Entry{}
	for key, p := range top {
		if err := take(&md, toml.Key{key}, p, found); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	lines := strings.Split(text, "\n")
	for _, key := range md.Keys() {
		if e, ok := found[key.String()]; ok { // what is inside a list is not known by key
			e.Line = firstLine(lines, e)
			f.Entries = append(f.Entries, e)
			delete(found, key.String())
		}
	}
	return f, nil
}

// firstLine is where a value begins: the decoder gives the last line of a text of several.
func firstLine(lines []string, e Entry) int {
	text, is := e.Raw.(string)
	if !is || !strings.Contains(text, "\n") {
		return e.Line
	}
	for at := e.Line - 1; at > 0; at-- {
		if line := lines[at-1]; strings.Contains(line, "'''") || strings.Contains(line, `"""`) {
			return at
		}
	}
	return e.Line
}

// At names a place in the file.
func (f *File) At(line int) string { return fmt.Sprintf("%s:%d", f.Path, line) }

func (f *File) syntax(err error) error {
	var p toml.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %s", f.At(p.Position.Line), p.Message)
	}
	return fmt.Errorf("%s: %w", f.Path, err)
}

// located reads a value together with its line: the decoder tells the position of a
// key only in an error, so this one always errs.
type located struct{ raw any }

var errLocated = errors.New("here")

func (l *located) UnmarshalTOML(v any) error { l.raw = v; return errLocated }

func take(md *toml.MetaData, key toml.Key, p toml.Primitive, found map[string]Entry) error {
	var l located
	err := md.PrimitiveDecode(p, &l)
	var at toml.ParseError
	if !errors.As(err, &at) || at.Message != errLocated.Error() {
		return fmt.Errorf("locate key %s: %w", key, err)
	}
	_, table := l.raw.(map[string]any)
	found[key.String()] = Entry{key, at.Position.Line, l.raw, table}
	if !table {
		return nil
	}
	var inner map[string]toml.Primitive
	if err := md.PrimitiveDecode(p, &inner); err != nil {
		return err
	}
	for k, p := range inner {
		if err := take(md, append(key[:len(key):len(key)], k), p, found); err != nil {
			return err
		}
	}
	return nil
}

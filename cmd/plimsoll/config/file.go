package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/BurntSushi/toml"

	"plimsoll/cmd/plimsoll/nearest"
	"plimsoll/platform/problem"
)

// File is what a configuration file says, key by key.
type File struct {
	Path   string
	values map[string]value
}

type value struct {
	line int
	raw  any // as TOML has it: string, int64, float64, bool, []any, …
}

// located reads a value together with its line: the decoder tells the position of a
// key only in an error, so this one always errs.
type located struct{ raw any }

var errLocated = errors.New("here")

func (l *located) UnmarshalTOML(v any) error { l.raw = v; return errLocated }

// Read reads the file at path and holds it against the settings there are. A file
// that nobody asked for may be missing; named is true when somebody did.
func Read(path string, named bool, settings []Setting) (*File, error) {
	f := &File{Path: path, values: map[string]value{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return f, nil
	}
	if err != nil {
		return nil, usage(fmt.Errorf("read configuration: %w", err), "")
	}
	var top map[string]toml.Primitive
	md, err := toml.Decode(string(text), &top)
	if err != nil {
		return nil, usage(f.syntax(err), "the file is TOML: key = value, tables in [brackets]")
	}
	for key, p := range top {
		if err := f.take(&md, key, p); err != nil {
			return nil, err
		}
	}
	return f, f.check(md.Keys(), settings)
}

func (f *File) syntax(err error) error {
	var p toml.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf("%s:%d: %s", f.Path, p.Position.Line, p.Message)
	}
	return fmt.Errorf("%s: %w", f.Path, err)
}

// take keeps key's value, or what a table of that name holds.
func (f *File) take(md *toml.MetaData, key string, p toml.Primitive) error {
	var l located
	line, err := locate(md, p, &l)
	if err != nil {
		return err
	}
	if _, table := l.raw.(map[string]any); !table {
		f.values[key] = value{line, l.raw}
		return nil
	}
	var inner map[string]toml.Primitive
	if err := md.PrimitiveDecode(p, &inner); err != nil {
		return err
	}
	for k, p := range inner {
		if err := f.take(md, key+"."+k, p); err != nil {
			return err
		}
	}
	return nil
}

func locate(md *toml.MetaData, p toml.Primitive, l *located) (int, error) {
	err := md.PrimitiveDecode(p, l)
	var at toml.ParseError
	if !errors.As(err, &at) || at.Message != errLocated.Error() {
		return 0, fmt.Errorf("locate a configuration key: %v", err)
	}
	return at.Position.Line, nil
}

// check finds the first key, in the file's order, that no setting has or whose value is wrong.
func (f *File) check(order []toml.Key, settings []Setting) error {
	known := map[string]Setting{}
	keys := make([]string, 0, len(settings))
	for _, s := range settings {
		known[s.Key] = s
		keys = append(keys, s.Key)
	}
	for _, k := range order {
		key := strings.Join(k, ".")
		v, is := f.values[key]
		if !is {
			continue // a table
		}
		s, ok := known[key]
		if !ok {
			return usage(fmt.Errorf("%s: unknown key %q", f.at(v), key),
				nearest.Hint(key, keys, "'plimsoll config' lists the keys there are"))
		}
		if _, err := v.text(s); err != nil {
			return usage(fmt.Errorf("%s: %w", f.at(v), err), "")
		}
	}
	return nil
}

func (f *File) at(v value) string { return fmt.Sprintf("%s:%d", f.Path, v.line) }

func usage(err error, hint string) error { return problem.New(problem.Usage, err, hint) }

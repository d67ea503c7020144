package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/ground/tomlfile"
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

// Read reads the file at path and holds it against the settings there are. A file
// that the user did not name may be missing; named says whether it was named.
func Read(path string, named bool, settings []Setting) (*File, error) {
	f := &File{Path: path, values: map[string]value{}}
	read, err := tomlfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return f, nil
	}
	var lacks *fs.PathError
	if errors.As(err, &lacks) {
		return nil, usage(fmt.Errorf("read configuration: %w", err), "")
	}
	if err != nil {
		return nil, err
	}
	var order []string
	for _, e := range read.Entries {
		if key := strings.Join(e.Key, "."); !e.Table {
			f.values[key] = value{e.Line, e.Raw}
			order = append(order, key)
		}
	}
	return f, f.check(order, settings)
}

// check finds the first key, in the file's order, that no setting has or whose value is wrong.
func (f *File) check(order []string, settings []Setting) error {
	known := map[string]Setting{}
	keys := make([]string, 0, len(settings))
	for _, s := range settings {
		known[s.Key] = s
		keys = append(keys, s.Key)
	}
	for _, key := range order {
		v := f.values[key]
		s, ok := known[key]
		if !ok {
			return usage(fmt.Errorf("%s: unknown key %q", f.position(v), key),
				human.NearestHint(key, keys, "'plimsoll config' lists the keys there are"))
		}
		if _, err := v.text(s); err != nil {
			return usage(fmt.Errorf("%s: %w", f.position(v), err), "")
		}
	}
	return nil
}

func (f *File) position(v value) string { return fmt.Sprintf("%s:%d", f.Path, v.line) }

func usage(err error, hint string) error { return problem.New(problem.Usage, err, hint) }

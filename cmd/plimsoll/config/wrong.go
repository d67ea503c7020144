package config

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// kinds describes the values of each type of flag.
var kinds = map[string]string{
	"int":      "a whole number",
	"int64":    "a whole number",
	"uint16":   "a whole number",
	"float64":  "a number",
	"bool":     "true or false",
	"duration": "a duration such as 30s or 5m",
	"string":   "text",
	"age":      "an age such as 30d, 2w or 12h",
	"size":     "a size such as 300MB or 5GB",

	"stringSlice": "words with commas between",
}

// Kind says in plain words what flag f takes.
func Kind(f *pflag.Flag) string {
	if k, ok := kinds[f.Value.Type()]; ok {
		return k
	}
	return f.Value.Type()
}

// Reason is an error of a value type of ours, said in words fit for a person.
type Reason string

func (r Reason) Error() string { return string(r) }

// Wrong says that text is no value for the flag or key called name. Our own value
// types give their Reason; the errors of the standard ones describe parsing, so they are replaced.
func Wrong(name string, f *pflag.Flag, text string, err error) error {
	var reason Reason
	if errors.As(err, &reason) {
		return fmt.Errorf("%s: %w", name, reason)
	}
	return fmt.Errorf("%s takes %s, not %q", name, Kind(f), text)
}

// text is the value as the flag's own parser wants it; the TOML type must fit the flag's.
func (v value) text(s Setting) (string, error) {
	f := s.Flag()
	text, ok := v.spelled(f.Value.Type())
	if !ok {
		return "", fmt.Errorf("%s takes %s, not the %s", s.Key, Kind(f), v.described())
	}
	if err := try(f, text); err != nil {
		return "", Wrong(s.Key, f, text, err)
	}
	return text, nil
}

func (v value) spelled(kind string) (string, bool) {
	switch raw := v.raw.(type) {
	case string:
		switch kind {
		case "int", "int64", "uint16", "float64", "bool":
			return "", false
		}
		return raw, true
	case int64:
		return strconv.FormatInt(raw, 10), kind != "string" && kind != "bool" && kind != "duration"
	case float64:
		return strconv.FormatFloat(raw, 'g', -1, 64), kind != "string" && kind != "bool" && kind != "duration"
	case bool:
		return strconv.FormatBool(raw), kind == "bool"
	}
	return "", false
}

func (v value) described() string {
	switch raw := v.raw.(type) {
	case string:
		return fmt.Sprintf("text %q", raw)
	case int64, float64:
		return fmt.Sprintf("number %v", raw)
	case bool:
		return fmt.Sprintf("boolean %v", raw)
	case []any:
		return "list"
	}
	return fmt.Sprintf("value %v", v.raw)
}

// try parses text as f would and leaves f as it was.
func try(f *pflag.Flag, text string) error {
	before := f.Value.String()
	defer func() { _ = f.Value.Set(before) }()
	return f.Value.Set(text)
}

package request

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/lab/load/script"
)

// The names that a template refers to are those that it needs, and what stands between them stays as it is.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{"/orders/{{id}}", "{{a}}{{a}}", "{", "{{", "{{ a }}", `{"n": {{n}}, "s": "{{s}}"}`,
		"}}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names, err := Variables(text)
		if err != nil {
			return
		}
		values := map[string]script.Value{}
		for i, name := range names {
			if slices.Contains(names[:i], name) {
				t.Errorf("%q is named twice", name)
			}
			values[name] = script.Text("\x00")
		}
		full, err := expand(text, values, func(s string) string { return s })
		if err != nil {
			t.Fatalf("%v with all of %q given", err, names)
		}
		if strings.Count(full, "\x00") < len(names) {
			t.Errorf("%q has not all of %q", full, names)
		}
	})
}

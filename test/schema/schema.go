// Package schema generates JSON schemas from Go types, so that a published one cannot differ.
package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	generator "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Of returns the schema of the type that value points to. Names may be added: readers must accept new ones.
func Of(t testing.TB, value any, id, title, description string) string {
	t.Helper()
	r := generator.Reflector{AllowAdditionalProperties: true}
	s := r.Reflect(value)
	kind := reflect.TypeOf(value).Elem()
	nullable(s, kind, kind.Name(), map[reflect.Type]bool{})
	s.ID = generator.ID(id)
	s.Title, s.Description = title, description
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// Compile a schema, to validate documents.
func Compile(t testing.TB, text []byte) *jsonschema.Schema {
	t.Helper()
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	const name = "urn:schema"
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, tree); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Fits fails the test unless the value's JSON is as the schema says.
func Fits(t testing.TB, s *jsonschema.Schema, name string, value any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(tree); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// nullable lets null stand where Go has a pointer, a list or a map: the generator knows
// only what is there.
func nullable(s *generator.Schema, kind reflect.Type, definition string, seen map[reflect.Type]bool) {
	for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice || kind.Kind() == reflect.Array {
		kind = kind.Elem()
	}
	if kind.Kind() != reflect.Struct || kind.PkgPath() == "time" {
		return
	}
	embedded := definition != kind.Name()
	if seen[kind] && !embedded {
		return
	}
	seen[kind] = true
	for i := range kind.NumField() {
		f := kind.Field(i)
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		if f.Anonymous {
			nullable(s, f.Type, definition, seen)
			continue
		}
		inner := f.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		nullable(s, inner, inner.Name(), seen)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch f.Type.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			if strings.Contains(options, "omitempty") {
				continue
			}
			properties := s.Definitions[definition].Properties
			if was, is := properties.Get(name); is {
				if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Pointer {
					was.Items = &generator.Schema{AnyOf: []*generator.Schema{was.Items, {Type: "null"}}}
				}
				properties.Set(name, &generator.Schema{AnyOf: []*generator.Schema{was, {Type: "null"}}})
			}
		}
	}
}

package result

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	generator "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll/test/golden"
)

const (
	schemaFile = "../../../docs/schema/run-1.json"
	schemaID   = "urn:plimsoll:schema:run-1"
)

// The schema is made from the types, so that it cannot say otherwise; names may be added:
// readers must bear with new ones.
func made(t *testing.T) []byte {
	t.Helper()
	r := generator.Reflector{AllowAdditionalProperties: true}
	s := r.Reflect(&Result{})
	seen := map[reflect.Type]bool{}
	nullable(s, reflect.TypeFor[Result](), reflect.TypeFor[Result]().Name(), seen)
	s.ID = schemaID
	s.Title = "A run of Plimsoll"
	s.Description = "What `plimsoll run --json` prints and a stored run is. Null is \"not measured\", never zero."
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// nullable lets null stand where Go has a pointer, a list or a map: the generator knows
// only what is there.
func nullable(s *generator.Schema, of reflect.Type, definition string, seen map[reflect.Type]bool) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Array {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of.PkgPath() == "time" {
		return
	}
	embedded := definition != of.Name()
	if seen[of] && !embedded {
		return
	}
	seen[of] = true
	for i := range of.NumField() {
		f := of.Field(i)
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

func TestPublishedSchemaIsThatOfTheTypes(t *testing.T) {
	golden.Compare(t, schemaFile, string(made(t)))
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaID, tree); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(schemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestResultsFitTheSchema(t *testing.T) {
	schema := compiled(t)
	real, err := os.ReadFile("resulttest/overloaded.json")
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	if err := json.Unmarshal(real, &r); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Result){
		"ARealRun": func(*Result) {},
		"NoScore":  func(r *Result) { r.Apdex, r.Interval = nil, nil },
		"NoDatabase": func(r *Result) {
			r.Conditions.Engine, r.Conditions.Workers, r.Audit = Engine{}, nil,
				Audit{None: true}
		},
		"OpenModel": func(r *Result) {
			r.Conditions.Load.Model, r.Conditions.Load.Arrivals = "open", &Arrivals{Spacing: "poisson", RatePerS: 5}
			r.Conditions.Load.Scenario, r.Conditions.Load.Day = &Scenario{Name: "own"}, [][2]float64{{0, 1}}
		},
		"Nothing": func(r *Result) { *r = Result{Schema: Schema} },
	} {
		t.Run(name, func(t *testing.T) {
			own := r
			change(&own)
			if err := fits(t, schema, own); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("AndOthersDoNot", func(t *testing.T) {
		for _, wrong := range []string{`{}`, `[]`, strings.Replace(string(real), `"users":`, `"usres":`, 1),
			strings.Replace(string(real), `"valid": false`, `"valid": "no"`, 1)} {
			tree, err := jsonschema.UnmarshalJSON(strings.NewReader(wrong))
			if err != nil {
				t.Fatal(err)
			}
			if schema.Validate(tree) == nil {
				t.Errorf("%.60s fits", wrong)
			}
		}
	})
}

func fits(t *testing.T, schema *jsonschema.Schema, r Result) error {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	tree, err := jsonschema.UnmarshalJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(tree)
}

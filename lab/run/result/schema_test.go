package result

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll/test/golden"
	"plimsoll/test/schema"
)

const (
	schemaFile = "../../../docs/schema/run-1.json"
	schemaID   = "urn:plimsoll:schema:run-1"
)

func made(t *testing.T) string {
	return schema.Of(t, &Result{}, schemaID, "A run of Plimsoll",
		"What `plimsoll run --json` prints and a stored run is. Null is \"not measured\", never zero. "+
			"Percentiles are those of all operations, failures being the longest, unless the name says answered.")
}

func TestPublishedSchemaIsThatOfTheTypes(t *testing.T) {
	golden.Compare(t, schemaFile, made(t))
}

func TestResultsFitTheSchema(t *testing.T) {
	published, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	fitting := schema.Compile(t, published)
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
			if err := fits(t, fitting, own); err != nil {
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
			if fitting.Validate(tree) == nil {
				t.Errorf("%.60s fits", wrong)
			}
		}
	})
}

func fits(t *testing.T, fitting *jsonschema.Schema, r Result) error {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	tree, err := jsonschema.UnmarshalJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	return fitting.Validate(tree)
}

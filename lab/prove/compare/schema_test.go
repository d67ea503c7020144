package compare

import (
	"bytes"
	"encoding/json"
	"testing"

	generator "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll/test/golden"
)

const (
	schemaFile = "../../../docs/schema/compare-1.json"
	schemaID   = "urn:plimsoll:schema:compare-1"
)

// The schema is generated from the types, so the two always agree.
func made(t *testing.T) string {
	t.Helper()
	r := generator.Reflector{AllowAdditionalProperties: true}
	s := r.Reflect(&Comparison{})
	s.ID = schemaID
	s.Title = "A comparison of Plimsoll"
	s.Description = "What `plimsoll compare --json` prints and a stored comparison is. What is not known is absent."
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

func TestPublishedSchemaIsThatOfTheTypes(t *testing.T) { golden.Compare(t, schemaFile, made(t)) }

func TestComparison_KeepsItsNames(t *testing.T) { golden.Names[Comparison](t, "testdata/compare.json") }

func TestComparisonFitsTheSchema(t *testing.T) {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(made(t))))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(schemaID, tree); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(schemaID)
	if err != nil {
		t.Fatal(err)
	}
	for _, factor := range []string{"100", "120"} {
		var b bytes.Buffer
		if err := compared(t, programs(t, factor)).WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(&b)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Error(err)
		}
	}
}

package advise

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll/test/golden"
	"plimsoll/test/schema"
)

func TestPublishedSchemaIsThatOfTheTypes(t *testing.T) {
	text := schema.Of(t, &Report{}, "urn:plimsoll:schema:advise-1", "Advice of Plimsoll",
		"What `plimsoll advise --json` prints. Null is \"not measured\", never zero.")
	golden.Compare(t, "../../docs/schema/advise-1.json", text)
	fitting := schema.Compile(t, []byte(text))
	price := 0.5
	full := Report{Schema: Schema, Advice: []Advice{{ID: "x", Price: &price, Changes: []Change{plain("a", "b")}}},
		Limits: limits}
	for name, one := range map[string]Report{"full": full, "empty": {Schema: Schema}} {
		schema.Fits(t, fitting, name, one)
	}
	if wrong, _ := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(`{"schema": 1}`))); fitting.Validate(wrong) == nil {
		t.Error("anything fits")
	}
}

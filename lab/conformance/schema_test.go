package conformance

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll/test/golden"
	"plimsoll/test/schema"
)

func TestPublishedSchemaIsThatOfTheTypes(t *testing.T) {
	text := schema.Of(t, &Report{}, "urn:plimsoll:schema:check-1", "Check of Plimsoll",
		"What `plimsoll check --json` prints.")
	golden.Compare(t, "../../docs/schema/check-1.json", text)
	fitting := schema.Compile(t, []byte(text))
	full := Report{Schema: Schema, Steps: []Step{{Name: "x", Outcome: Failed, Said: "y", Cure: "z"}}}
	for name, one := range map[string]Report{"full": full, "empty": {Schema: Schema, Steps: []Step{}}} {
		schema.Fits(t, fitting, name, one)
	}
	if wrong, _ := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(`{"schema": 1}`))); fitting.Validate(wrong) == nil {
		t.Error("anything fits")
	}
}

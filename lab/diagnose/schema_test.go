package diagnose

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll/test/golden"
	"plimsoll/test/schema"
)

func TestPublishedSchemaIsThatOfTheTypes(t *testing.T) {
	text := schema.Of(t, &Diagnosis{}, "urn:plimsoll:schema:diagnose-1", "A diagnosis of Plimsoll",
		"What `plimsoll diagnose --json` prints. Null is \"not measured\", never zero.")
	golden.Compare(t, "../../docs/schema/diagnose-1.json", text)
	fitting := schema.Compile(t, []byte(text))
	m := plant(nil, nil, active(1, lockWait, "SELECT"), idleFor(tick))
	var missing sources
	d := Diagnosis{Schema: Schema, Ledger: m.ledger, Host: m.host, Rates: m.rates(), Limits: limits}
	d.Findings, d.Healthy = judge(m, &missing)
	d.Contradictions, d.Unavailable = contradict(m), missing.missing
	for name, one := range map[string]Diagnosis{"planted": d, "empty": {Schema: Schema}} {
		schema.Fits(t, fitting, name, one)
	}
	if wrong, _ := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(`{"schema": 1}`))); fitting.Validate(wrong) == nil {
		t.Error("anything fits")
	}
}

package resulttest

import (
	_ "embed"
	"encoding/json"
	"testing"

	"plimsoll/lab/run/result"
)

// JSON began as a real run on which much went wrong; an event, a reason and the last operation were added manually
// for more cases, so its figures are for the layout only and measure nothing.
//
//go:embed overloaded.json
var JSON []byte

// Overloaded parses JSON again at each call.
func Overloaded(t *testing.T) *result.Result {
	t.Helper()
	var r result.Result
	if err := json.Unmarshal(JSON, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

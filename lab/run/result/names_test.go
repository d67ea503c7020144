package result

import (
	"testing"

	"plimsoll/test/golden"
)

// The published schema says what is required; this is a run in which nothing is left out.
func TestResult_KeepsItsNames(t *testing.T) { golden.Names[Result](t, "testdata/result.json") }

package result

import (
	"testing"

	"plimsoll/test/golden"
)

// The published schema says which names are required; this run has all of them.
func TestResult_KeepsItsNames(t *testing.T) { golden.Names[Result](t, "testdata/result.json") }

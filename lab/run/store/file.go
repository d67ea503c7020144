package store

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"plimsoll/ground/problem"
	"plimsoll/lab/run/result"
)

// isARun is the hint for a file that is not a result.
const isARun = "give a file that 'plimsoll run --json' wrote"

// Read reads a run's JSON from any file.
func Read(name string) (*result.Result, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read run: %w", err), isARun)
	}
	return Parse(name, text)
}

// Parse reads a run's JSON; name stands in what is said about it.
func Parse(name string, text []byte) (*result.Result, error) {
	var r result.Result
	// Check the schema first: another version's file need not parse.
	if err := json.Unmarshal(text, &struct {
		Schema *string `json:"schema"`
	}{&r.Schema}); err == nil && r.Schema != result.Schema {
		hint := isARun
		if strings.HasPrefix(r.Schema, "plimsoll.run/") {
			hint = "another version of Plimsoll wrote it; show it with that version"
		}
		return nil, problem.New(problem.Usage,
			fmt.Errorf("read run %s: schema %q, want %q", name, r.Schema, result.Schema), hint)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read run %s: %w", name, err), isARun)
	}
	if err := r.Check(); err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read run %s: %w", name, err),
			"the file was changed after it was written")
	}
	return &r, nil
}

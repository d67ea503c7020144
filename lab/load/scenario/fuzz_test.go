package scenario

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/ground/problem"
	"plimsoll/ground/tomlfile"
)

// A file that cannot be read is the user's mistake. One of the ERP that can be read is printed so that it reads the
// same; the actions of operations of one's own are not printed.
func FuzzRead(f *testing.F) {
	var standard bytes.Buffer
	if err := Default().WriteTOML(&standard); err != nil {
		f.Fatal(err)
	}
	f.Add(standard.String())
	f.Add(web)
	examples, err := filepath.Glob("../../../docs/examples/*.toml")
	if err != nil || len(examples) == 0 {
		f.Fatalf("no examples: %v", err)
	}
	for _, file := range examples {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := tomlfile.Parse("fuzz.toml", text)
		if err != nil {
			isUsers(t, err)
			return
		}
		scenario, err := read(file)
		if err != nil {
			isUsers(t, err)
			return
		}
		travels(t, scenario)
		if strings.Contains(text, "application") || strings.Contains(text, "operations") {
			return
		}
		printed := toml(t, scenario)
		file, err = tomlfile.Parse("fuzz.toml", printed)
		if err != nil {
			t.Fatalf("%v in what was printed:\n%s", err, printed)
		}
		again, err := read(file)
		if err != nil {
			t.Fatalf("%v in what was printed:\n%s", err, printed)
		}
		if second := toml(t, again); second != printed {
			t.Errorf("printed:\n%s\nread and printed again:\n%s", printed, second)
		}
	})
}

// travels to an agent, which gets the same scenario.
func travels(t *testing.T, s *Scenario) {
	t.Helper()
	wire, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var there Scenario
	if err := json.Unmarshal(wire, &there); err != nil {
		t.Fatal(err)
	}
	if err := there.Prepare(); err != nil || there.Digest() != s.Digest() {
		t.Errorf("%v: %s", err, wire)
	}
}

func isUsers(t *testing.T, err error) {
	t.Helper()
	if problem.ClassOf(err) != problem.Usage {
		t.Errorf("class %v: %v", problem.ClassOf(err), err)
	}
}

func toml(t *testing.T, s *Scenario) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.WriteTOML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

package installation_test

import (
	"os"
	"strings"
	"testing"

	"plimsoll/ground/postgres/installation"
)

func TestMissing_FixesOfLaterMinorReleases(t *testing.T) {
	for _, c := range []struct {
		version   string
		number    int
		missing   string
		distrusts bool
	}{
		{"18.6", 180006, "18.7", true},
		{"18.2", 180002, "18.7", true},
		{"18.7", 180007, "", false},
		{"18.8", 180008, "", false},
		{"17.4", 170004, "", false}, // releases of other versions are not known
		{"19rc1", 190000, "", false},
	} {
		s := installation.Server{Version: c.version, VersionNum: c.number}
		note := s.MissingNote()
		if (note == "") != (c.missing == "") || !strings.Contains(note, c.missing) {
			t.Errorf("%s: %q, want %q", c.version, note, c.missing)
		}
		if c.missing != "" && !strings.Contains(note, "PostgreSQL "+c.version+" lacks the fixes of "+c.missing+
			" (2026-11-12): several ways in which indexes become corrupt") {
			t.Errorf("%s: %q does not say what is missing", c.version, note)
		}
		if _, distrusts := s.DistrustsIncremental(); distrusts != c.distrusts {
			t.Errorf("%s: incremental backups are distrusted: %v", c.version, distrusts)
		}
	}
}

// What the program says of a release, the documents for operators say, too.
func TestMissing_IsInTheDocuments(t *testing.T) {
	for _, r := range (installation.Server{VersionNum: 180000}).Missing() {
		for _, file := range []string{"../../../SECURITY.md", "../../../docs/engine/minor.md"} {
			text, err := os.ReadFile(file)
			must(t, err)
			if !strings.Contains(string(text), "| "+r.Version+" | "+r.Date+" |") {
				t.Errorf("%s has no line of %s of %s", file, r.Version, r.Date)
			}
		}
	}
}

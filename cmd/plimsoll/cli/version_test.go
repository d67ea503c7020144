package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestVersion_IsTheChangelogsNewest(t *testing.T) {
	text, err := os.ReadFile("../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## ([0-9.]+) · \d{4}-\d\d-\d\d$`).FindSubmatch(text)
	if newest == nil || string(newest[1]) != release {
		t.Errorf("the program calls itself %s, the changelog's newest version is %s", release, newest)
	}
}

func TestVersion_NamesReleaseAndCommit(t *testing.T) {
	defer func(c, m string) { commit, modified = c, m }(commit, modified)
	commit, modified = "0123456789abcdef", "true"
	if got, want := software().Version, release+"+0123456789ab.modified"; got != want {
		t.Errorf("version %s, want %s", got, want)
	}
}

func TestVersion_NamesTheEngineAndTheFixesItLacks(t *testing.T) {
	prefix := t.TempDir()
	t.Setenv("PLIMSOLL_CACHE", t.TempDir())
	for version, want := range map[string]string{
		"18.6": "PostgreSQL 18.6 plimsoll (patchset 3) in " + prefix +
			"\nnote: PostgreSQL 18.6 lacks the fixes of 18.7 (2026-11-12)",
		"18.99": "PostgreSQL 18.99 plimsoll (patchset 3) in " + prefix + "\n",
	} {
		write(t, prefix+"/bin/postgres", "#!/bin/sh\necho 'postgres (PostgreSQL) "+version+"'\n")
		write(t, prefix+"/plimsoll-engine.json", `{"flavour": "plimsoll", "patchset": 3}`)
		t.Setenv("PATH", prefix+"/bin:"+os.Getenv("PATH"))
		o := plimsoll(t, "version")
		o.want(t, ExitOK)
		if _, after, _ := strings.Cut(o.stdout, "\n"); !strings.HasPrefix(after, want) ||
			strings.Contains(want, "note") != strings.Contains(after, "note") {
			t.Errorf("got %q, want %q", after, want)
		}
		o = plimsoll(t, "version", "--json")
		if strings.Contains(o.stdout, `"missing_fixes"`) != strings.Contains(want, "note") {
			t.Errorf("%s: %s", version, o.stdout)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

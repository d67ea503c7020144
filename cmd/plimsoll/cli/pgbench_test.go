package cli

import (
	"strings"
	"testing"

	"plimsoll/test/files"
)

// What is printed is what --pgbench plays, and a file to go on from.
func TestScenario_PrintsPgbenchScripts(t *testing.T) {
	freshState(t)
	dir := t.TempDir()
	own := files.Write(t, dir, "own.sql", "SELECT :n;\n")
	o := plimsoll(t, "scenario", "--pgbench", "tpcb@3", "--pgbench", own, "--define", "n=7", "--protocol", "prepared")
	o.want(t, ExitOK)
	for _, part := range []string{"[operations.\"tpcb-like\"]", "weight = 3", "script = \"" + own + "\"", "n = \"7\"",
		`mode = "prepared"`} {
		if !strings.Contains(o.stdout, part) {
			t.Errorf("lacks %s:\n%s", part, o.stdout)
		}
	}
	var printed, played struct{ Digest string }
	plimsoll(t, "scenario", files.Write(t, dir, "printed.toml", o.stdout), "--json").decode(t, &printed)
	plimsoll(t, "scenario", "--pgbench", "tpcb@3", "--pgbench", own, "--define", "n=7", "--protocol", "prepared",
		"--json").decode(t, &played)
	if printed.Digest == "" || printed.Digest != played.Digest {
		t.Errorf("printed %q, played %q", printed.Digest, played.Digest)
	}
	plimsoll(t, "scenario", "--pgbench", "no.sql").want(t, ExitUsage, "--pgbench: open no.sql")
	plimsoll(t, "scenario", own, "--pgbench", "tpcb").want(t, ExitUsage, "--pgbench has no effect with a file")
	plimsoll(t, "scenario", "--define", "n=7").want(t, ExitUsage, "--define has no effect without --pgbench")
}

func TestPgbenchScriptsThatCannotRunAreRefused(t *testing.T) {
	freshState(t)
	dir := t.TempDir()
	shell := files.Write(t, dir, "shell.sql", "SELECT 1;\n\\shell echo no\n")
	most := files.Write(t, dir, "most.sql", "\\set n random(1, :most)\nSELECT :n;\n")
	for _, c := range []struct {
		args []string
		says []string
	}{
		{[]string{"--pgbench", "tpcb"}, nil}, // a name may be cut, as pgbench's -b: what is lacking is a database
		{[]string{"--pgbench", "no.sql"}, []string{"--pgbench: open no.sql", "hint: a file, or one of select-only"}},
		{[]string{"--pgbench", shell}, []string{shell + ":2: ", "must not start programs"}},
		{[]string{"--pgbench", most}, []string{"nothing sets the variable most"}},
		{[]string{"--pgbench", most, "--define", "most"}, []string{`--define: "most" is not NAME=VALUE`}},
		{[]string{"--protocol", "prepared"}, []string{"--protocol has no effect without --pgbench"}},
		{[]string{"--define", "a=1"}, []string{"--define has no effect without --pgbench"}},
	} {
		for _, command := range []string{"run", "line"} {
			got := plimsoll(t, append([]string{command, "--dsn", "postgres://127.0.0.1:1/none"}, c.args...)...)
			if c.says == nil {
				if got.code == ExitOK || got.code == ExitUsage {
					t.Errorf("%v: exit code %d: %s", c.args, got.code, got.stderr)
				}
				continue
			}
			got.want(t, ExitUsage, c.says...)
		}
	}
}

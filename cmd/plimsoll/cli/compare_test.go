package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"plimsoll/lab/load"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/stats"
	"plimsoll/lab/system"
	"plimsoll/platform/worker/shape"
)

// bench is a program with known figures, which waits at a place that a file names.
func bench(t *testing.T, dir, ms string) string {
	t.Helper()
	path := filepath.Join(dir, "bench"+ms)
	text := "#!/bin/sh\n" + `[ "$PLIMSOLL_COMPARE_ROUND" = 3 ] && [ -e "` + dir + `/wait" ] && exec sleep 1000` + "\n" +
		`echo '{"figures": {"seconds": '$(( ` + ms + ` + PLIMSOLL_COMPARE_ROUND % 2 ))'}}'` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// A third side has flags, too, though the help leaves them out.
func TestCompare_ThreeCommands(t *testing.T) {
	freshState(t)
	dir := t.TempDir()
	o := plimsoll(t, "compare", "--command-a", bench(t, dir, "100"), "--command-b", bench(t, dir, "150"),
		"--name-b", "new", "--command-c", bench(t, dir, "100"), "--metric", "seconds", "--pairs", "5", "--json")
	o.want(t, ExitOK)
	var c compare.Comparison
	if o.decode(t, &c); len(c.Findings) != 2 || c.Findings[0].Verdict != verdict.Worse || c.Findings[0].Name != "new" ||
		c.Findings[1].Verdict != verdict.Equal {
		t.Error(c.Statement())
	}
}

func TestCompare_RefusesSides(t *testing.T) {
	freshState(t)
	for want, args := range map[string][]string{
		"C: needs a system, a connection string":      {"a", "b", "--name-c", "c"},
		"A: give a system, a connection string or a":  {"--command-a", "a", "--dsn-a", "x", "--command-b", "b"},
		"A: a command takes no settings, tweaks, SQL": {"--command-a", "a", "--sql-a", "x", "--command-b", "b"},
		"--reset-a: must be one of":                   {"--dsn-a", "x", "--reset-a", "y", "--command-b", "b"},
		"A: read SQL: ":                               {"--dsn-a", "x", "--sql-a", "@/no/file", "--command-b", "b"},
		"--agents: takes a number":                    {"a", "b", "--agents", "many"},
	} {
		plimsoll(t, append([]string{"compare"}, args...)...).want(t, ExitUsage, want)
	}
	for text, want := range map[string]string{
		"colour=1": `B: no tweak "colour"`, "chain": `"chain" is not NAME=VALUE`, "chain=x": "B: tweak chain: ",
		"clearing=never": "B: tweak clearing: ", "durability=fast": `B: no durability "fast"`, "shape=lean": "no tweak",
	} {
		plimsoll(t, "compare", "plimsoll+lean", "--tweak-b", text).want(t, ExitUsage, want)
	}
}

// Tweaks change the shape of one side alone, and each reaches its workers.
func TestCompare_Tweaks(t *testing.T) {
	s := system.Shape{Name: "tuned", Tweaks: shape.Tweaks{Chain: 7}}
	given := map[string]string{"clearing": "always", "temp-pool": "9", "lifetime": "2m", "lifetime-jitter": "5s",
		"chain": "3", "durability": "sync"}
	changed, err := tweaked(s, given)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"shape": "tuned", "clearing": "always", "temp-pool": "9",
		"lifetime": "2m0s", "lifetime-jitter": "5s", "chain": "3", "durability": "sync"} {
		if !slices.Contains(changed.Arguments(), "--"+name+"="+value) {
			t.Errorf("%s=%s does not reach the workers: %q", name, value, changed.Arguments())
		}
	}
	if s.Chain != 7 || s.Clearing != "" {
		t.Errorf("the other side changed as well: %+v", s)
	}
	if len(given) != len(system.TweakFlags) {
		t.Errorf("not all of %q are tried", system.TweakFlags)
	}
}

// What a killed comparison had measured is there, and the next goes on with it.
func TestCompare_GoesOnAfterAKill(t *testing.T) {
	state, dir := freshState(t), t.TempDir()
	wait := filepath.Join(dir, "wait")
	if err := os.WriteFile(wait, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"compare", "--command-a", bench(t, dir, "100"), "--command-b", bench(t, dir, "150"), "--metric",
		"seconds", "--pairs", "4"}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	killed := exec.Command(self, args...)
	killed.Env = append(os.Environ(), "PLIMSOLL_STATE="+state)
	last := compare.Letter(stats.Rotation(2, 2, load.SeedDefault)[3])
	killed.Stderr = &watched{text: "round 2, " + last + ": done",
		seen: func() { _ = killed.Process.Signal(syscall.SIGKILL) }}
	if err := killed.Run(); err == nil {
		t.Fatal("it was not killed")
	}
	if err := os.Remove(wait); err != nil {
		t.Fatal(err)
	}
	o := plimsoll(t, append(args, "--resume", "--json")...)
	o.want(t, ExitOK)
	var c compare.Comparison
	if o.decode(t, &c); len(c.Runs) != 8 || c.Findings[0].Verdict != verdict.Worse {
		t.Errorf("%d runs, %s", len(c.Runs), o.stdout)
	}
	if strings.Contains(o.stderr, "round 2,") {
		t.Errorf("runs that were made are made again:\n%s", o.stderr)
	}
	shown := plimsoll(t, "compare", "--show", c.ID[:8])
	if shown.want(t, ExitOK); !strings.Contains(shown.stdout, "B is worse than A: seconds +") {
		t.Error(shown.stdout)
	}
}

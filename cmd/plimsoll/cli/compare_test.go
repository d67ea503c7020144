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

func TestCompare_ReadsSidesFromAFile(t *testing.T) {
	freshState(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "sides.toml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	side := func(name, ms string) string {
		return "[[side]]\nname = \"" + name + "\"\ncommand = \"" + bench(t, dir, ms) + "\"\n"
	}
	write(side("old", "100") + side("new", "150") + side("same", "100"))
	o := plimsoll(t, "compare", "--sides", file, "--metric", "seconds", "--pairs", "5", "--json")
	o.want(t, ExitOK)
	var c compare.Comparison
	if o.decode(t, &c); len(c.Findings) != 2 || c.Findings[0].Verdict != verdict.Worse || c.Findings[0].Name != "new" ||
		c.Findings[1].Verdict != verdict.Equal {
		t.Error(c.Statement())
	}
	for text, want := range map[string]string{
		side("alone", "100"): "1 sides, there must be 2 to 8",
		side("a", "100") + side("b", "1") + "colour = 1\n":              "unknown key side.colour",
		"[[side]]\n" + side("b", "1"):                                   "A: needs a system, a connection string",
		side("a", "1") + "dsn = \"x\"\n" + side("b", "1"):               "A: give a system, a connection string or a",
		side("a", "1") + "sql = \"x\"\n" + side("b", "1"):               "A: a command takes no settings, tweaks, SQL",
		"[[side]]\ndsn = \"x\"\nreset = \"y\"\n" + side("b", "1"):       `A: reset "y"`,
		"[[side]]\ndsn = \"x\"\nsql = \"@/no/file\"\n" + side("b", "1"): "A: read SQL: ",
		"[[side": "read sides ",
	} {
		write(text)
		plimsoll(t, "compare", "--sides", file).want(t, ExitUsage, want)
	}
	for text, want := range map[string]string{
		"colour=1": `B: no tweak "colour"`, "chain": `"chain" is not NAME=VALUE`, "chain=x": "B: tweak chain: ",
		"clearing=never": "B: tweak clearing: ", "durability=fast": `B: no durability "fast"`, "shape=lean": "no tweak",
	} {
		plimsoll(t, "compare", "plimsoll+lean", "--tweak-b", text).want(t, ExitUsage, want)
	}
	plimsoll(t, "compare", "a", "--sides", file).want(t, ExitUsage, "--sides names all sides")
	plimsoll(t, "compare", "a", "b", "--agents", "many").want(t, ExitUsage, "--agents: takes a number")
}

// Tweaks change the shape of one side alone, and each reaches its workers.
func TestCompare_Tweaks(t *testing.T) {
	o := shapeOptions{name: "tuned", chain: 7}
	given := map[string]string{"clearing": "always", "temp-pool": "9", "lifetime": "2m", "lifetime-jitter": "5s",
		"chain": "3", "durability": "sync"}
	changed, err := o.tweaked(given)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"shape": "tuned", "clearing": "always", "temp-pool": "9",
		"lifetime": "2m0s", "lifetime-jitter": "5s", "chain": "3", "durability": "sync"} {
		if !slices.Contains(changed.arguments(), "--"+name+"="+value) {
			t.Errorf("%s=%s does not reach the workers: %q", name, value, changed.arguments())
		}
	}
	if o.chain != 7 || o.clearing != "" {
		t.Errorf("the other side changed as well: %+v", o)
	}
	if len(given) != len(tweakFlags) {
		t.Errorf("not all of %q are tried", tweakFlags)
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

package applications

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/installation"
	"plimsoll/test/patience"
	"plimsoll/test/thorough"
)

// desk is where somebody types what the documents say: a folder with docs/ in it, a shell, and the program on its PATH.
type desk struct {
	folder      string
	environment []string
}

// unhurried are settings by which a busy machine makes no run of a test void, and no search longer than a few minutes.
var unhurried = []string{"PLIMSOLL_RUN_LAG_LIMIT=1h", "PLIMSOLL_RUN_DISTURBED_LIMIT=1", "PLIMSOLL_LINE_LAG_LIMIT=1h",
	"PLIMSOLL_LINE_DISTURBED_LIMIT=1", "PLIMSOLL_LINE_BUDGET=3m"}

// takesMinutes is for a test at a desk.
func takesMinutes(t *testing.T) {
	t.Helper()
	if !thorough.Asked() {
		t.Skip("NOT TESTED: what the documents say is typed for minutes (make test-full)")
	}
}

// atDesk of somebody whose application has this database.
func atDesk(t *testing.T, dsn string) *desk {
	t.Helper()
	d := &desk{folder: t.TempDir()}
	state, programs := filepath.Join(d.folder, "state"), filepath.Join(d.folder, "bin")
	program, err := os.Executable()
	if err = errors.Join(err, os.Mkdir(state, 0o755), os.Mkdir(programs, 0o755)); err != nil {
		t.Fatal(err)
	}
	d.link(t, program, "bin/plimsoll")
	d.link(t, filepath.Join(top(), "docs"), "docs")
	d.environment = append(postgres(t, dsn), "DSN="+dsn, "PATH="+programs+":"+os.Getenv("PATH"),
		"PLIMSOLL_STATE="+state, "PLIMSOLL_CONFIG="+os.DevNull)
	d.environment = append(d.environment, unhurried...)
	return d
}

// top of the clone.
func top() string { return filepath.Join(folder(), "..", "..") }

func (d *desk) link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, filepath.Join(d.folder, name)); err != nil {
		t.Fatal(err)
	}
}

// pgbench of the tests' engine on the PATH.
func (d *desk) pgbench(t *testing.T) {
	t.Helper()
	engine, err := installation.Find(t.Context(), clustertest.Engine())
	if err != nil {
		t.Fatal(err)
	}
	program, err := engine.Program("pgbench")
	if err != nil {
		t.Skipf("SKIPPED: this PostgreSQL has no pgbench: %v", err)
	}
	d.link(t, program, "bin/pgbench")
}

// types a command, which must end with one of these codes, and says how long it took.
func (d *desk) types(t *testing.T, command string, codes ...int) (said string) {
	t.Helper()
	began := time.Now()
	shell := exec.CommandContext(t.Context(), "bash", "-c", command)
	shell.Dir, shell.Env, shell.WaitDelay = d.folder, d.environment, patience.Max
	out, err := shell.CombinedOutput()
	if shell.ProcessState == nil {
		t.Fatal(err)
	}
	code := shell.ProcessState.ExitCode()
	t.Logf("%4.1f min, exit code %d: %s", time.Since(began).Minutes(), code, command)
	if !slices.Contains(codes, code) {
		t.Fatalf("%s: exit code %d, not of %v:\n%s", command, code, codes, out)
	}
	return string(out)
}

// read a file that was made at the desk.
func (d *desk) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// continued is the end of a line within a command.
var continued = regexp.MustCompile(` *\\\n *`)

// document of the clone.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top(), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// commands are those of the one block of code of a document that has this text.
func commands(t *testing.T, name, having string) (all []string) {
	t.Helper()
	var with []string
	for _, block := range blocks(document(t, name)) {
		if strings.Contains(block, having) {
			with = append(with, block)
		}
	}
	if len(with) != 1 {
		t.Fatalf("%s: %d blocks of code have %q, want one", name, len(with), having)
	}
	for _, line := range strings.Split(continued.ReplaceAllString(with[0], " "), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// blocks of code of a document, between fences or indented.
func blocks(text string) (all []string) {
	var block strings.Builder
	end := func() {
		if block.Len() > 0 {
			all = append(all, block.String())
		}
		block.Reset()
	}
	fenced := false
	for line := range strings.Lines(text) {
		indented, is := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(line, "```"):
			end()
			fenced = !fenced
		case fenced:
			block.WriteString(line)
		case is:
			block.WriteString(indented)
		default:
			end()
		}
	}
	end()
	return all
}

// own puts what is a person's own into a line of a document, which must have what it stands for.
func own(t *testing.T, line string, pairs ...string) string {
	t.Helper()
	for pair := range slices.Chunk(pairs, 2) {
		if !strings.Contains(line, pair[0]) {
			t.Fatalf("the document does not say %q any more: %s", pair[0], line)
		}
		line = strings.ReplaceAll(line, pair[0], pair[1])
	}
	return line
}

func TestBlocksOfADocument(t *testing.T) {
	got := blocks("# Top\n\n```sh\na \\\n    --b\n\nc\n```\ntext\n\n    d\n    e\n\ntext `f`\n\n    g\n")
	if want := []string{"a \\\n    --b\n\nc\n", "d\ne\n", "g\n"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

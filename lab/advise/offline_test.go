package advise

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll/ground/problem"
	"plimsoll/test/patience"
)

// failing keeps the server from starting: nothing checks whether the library exists.
func failing() []Advice {
	return append(several(), Advice{ID: "bad", Changes: []Change{{Kind: Setting, Name: preloaded, Value: "nosuch",
		Restart: true}}}, Advice{ID: "log", Changes: []Change{{Kind: Setting, Name: "wal_buffers",
		Value: "3MB", Restart: true}}})
}

func TestDown(t *testing.T) {
	b := newSmall(t)
	for name, test := range map[string]func(*testing.T, *bench){
		"FailedRestart": failedRestart, "RevertOfAServerThatIsDown": revertDown, "FilesOfOthers": filesOfOthers,
		"ServerThatRuns": serverThatRuns, "RevertStartsOurs": revertStartsOurs,
	} {
		t.Run(name, func(t *testing.T) { test(t, b) })
	}
}

// failedRestart: the settings that it was for go back into the file, and the server runs as before.
func failedRestart(t *testing.T, b *bench) {
	dsn := planted(t, b)
	before := stateOf(t, dsn)
	h := Applier{DSN: dsn, Folder: t.TempDir(),
		Restart: func(context.Context) error { b.own.Stop(); return b.own.TryStart() },
		Start:   func(context.Context) (string, error) { return dsn, b.own.TryStart() }}
	t.Cleanup(func() {
		if t.Failed() {
			_ = b.own.TryStart()
		}
	})
	out, err := h.Apply(patience.Context(t), failing())
	if err == nil || !strings.Contains(err.Error(), "shared_preload_libraries = nosuch") ||
		!strings.Contains(err.Error(), "it runs") || strings.Contains(err.Error(), "work_mem") {
		t.Fatalf("%v, %+v", err, out)
	}
	var reverted []string
	for _, s := range out.Steps {
		if s.State == Reverted {
			reverted = append(reverted, s.Change.Name)
		}
	}
	if len(out.Steps) != 7 || !slices.Equal(reverted, []string{preloaded, "wal_buffers"}) {
		t.Errorf("restored: %q of %+v", reverted, out.Steps)
	}
	if mem := value[string](t, dsn, "SHOW work_mem"); mem != "9MB" {
		t.Errorf("work_mem is %s: it kept no server from starting", mem)
	}
	if _, err := h.Revert(patience.Context(t)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, stateOf(t, dsn)); diff != "" {
		t.Errorf("before -, after the revert +:\n%s", diff)
	}
}

// broken is a server that somebody has restarted after an apply, and that is down since.
func broken(t *testing.T, b *bench) (h Applier, before map[string]string) {
	dsn := planted(t, b)
	before = stateOf(t, dsn)
	h = Applier{DSN: dsn, Folder: t.TempDir()}
	if out, err := h.Apply(patience.Context(t), failing()); err != nil || !strings.Contains(out.Needs, "--revert") {
		t.Fatalf("%v, %+v", err, out)
	}
	b.own.Stop()
	if err := b.own.TryStart(); err == nil {
		t.Fatal("it starts")
	}
	return h, before
}

func revertDown(t *testing.T, b *bench) {
	h, before := broken(t, b)
	out, err := h.Revert(patience.Context(t))
	if err != nil || len(out.Steps) != 4 || !strings.Contains(out.Needs, "start the server") {
		t.Fatalf("%v, %+v", err, out)
	}
	b.own.Start()
	if out, err := h.Revert(patience.Context(t)); err != nil || len(out.Steps) != 3 {
		t.Errorf("%v, %+v", err, out)
	}
	if diff := cmp.Diff(before, stateOf(t, h.DSN)); diff != "" {
		t.Errorf("before -, after the revert +:\n%s", diff)
	}
}

func revertStartsOurs(t *testing.T, b *bench) {
	h, before := broken(t, b)
	// A journal of another database of the server, and one of a server that was in the folder before.
	own := journalOf(t, h).path
	for name, change := range map[string][2]string{"other.json": {`"database": "`, `"database": "other_`},
		"former.json": {`"server": "`, `"server": "1`}} {
		text, err := os.ReadFile(own)
		if err == nil {
			text = []byte(strings.Replace(string(text), change[0], change[1], 1))
			err = os.WriteFile(filepath.Join(h.Folder, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer os.Remove(filepath.Join(h.Folder, name))
	}
	h.Start = func(context.Context) (string, error) { return h.DSN, b.own.TryStart() }
	if out, err := h.Revert(patience.Context(t)); err != nil || len(out.Steps) < 7 || out.Needs != "" {
		t.Errorf("%v, %+v", err, out)
	}
	if diff := cmp.Diff(before, stateOf(t, h.DSN)); diff != "" {
		t.Errorf("before -, after the revert +:\n%s", diff)
	}
}

// filesOfOthers are not changed: the answer contains the lines to remove or replace.
func filesOfOthers(t *testing.T, b *bench) {
	h, _ := broken(t, b)
	data := journalOf(t, h).Data
	replaceIn(t, h, data, "/nowhere/data")
	out, err := h.Revert(patience.Context(t))
	want := []string{"/nowhere/data/postgresql.auto.conf: remove the line wal_buffers = '3MB'",
		"/nowhere/data/postgresql.auto.conf: remove the line shared_preload_libraries = 'nosuch'",
		"/nowhere/data/postgresql.auto.conf: remove the line random_page_cost = '1.1'",
		"/nowhere/data/postgresql.auto.conf: replace work_mem = '9MB' by work_mem = '7MB'"}
	if problem.ClassOf(err) != problem.Environment || out == nil || !slices.Equal(out.ByHand, want) {
		t.Errorf("%v, %+v", err, out)
	}
	replaceIn(t, h, "/nowhere/data", data)
	if _, err := h.Revert(patience.Context(t)); err != nil {
		t.Error(err)
	}
	b.own.Start()
	if _, err := h.Revert(patience.Context(t)); err != nil {
		t.Error(err)
	}
}

// serverThatRuns, and does not answer at the address: its file is its own to write.
func serverThatRuns(t *testing.T, b *bench) {
	dsn := planted(t, b)
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	if _, err := h.Apply(patience.Context(t), several()[:1]); err != nil {
		t.Fatal(err)
	}
	const elsewhere = "127.0.0.1:1"
	there := journalOf(t, h).Address
	replaceIn(t, h, there, elsewhere)
	file := filepath.Join(journalOf(t, h).Data, autoConf)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	away := h
	away.DSN = "host=127.0.0.1 port=1 user=x dbname=x sslmode=disable"
	if out, err := away.Revert(patience.Context(t)); !isDown(err) {
		t.Errorf("%v, %+v", err, out)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("%v: the file of a server that runs was changed:\n%s", err, after)
	}
	if _, err := h.Revert(patience.Context(t)); err != nil {
		t.Error(err)
	}
}

// journalOf is the one journal in the folder.
func journalOf(t *testing.T, h Applier) *Journal {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(h.Folder, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %q", err, files)
	}
	text, err := os.ReadFile(files[0])
	j := &Journal{path: files[0]}
	if err == nil {
		err = json.Unmarshal(text, j)
	}
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func replaceIn(t *testing.T, h Applier, old, now string) {
	t.Helper()
	file := journalOf(t, h).path
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(strings.ReplaceAll(string(text), old, now)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestPutBackIn(t *testing.T) {
	const file = "# Do not edit\nwork_mem = '1MB'\nWork_Mem = '9MB' # ours\nlisten = 'it''s \\\\ here'\n"
	nine, seven := "9MB", "it's \\ there"
	step := func(name, value string, before *string) Step {
		return Step{Change: plain(name, value), Before: before, State: Done}
	}
	for name, c := range map[string]struct {
		step  Step
		state State
		want  string
	}{
		"Removed": {step("work_mem", nine, nil), Reverted, "# Do not edit\nlisten = 'it''s \\\\ here'\n"},
		"Replaced": {step("listen", `it's \ here`, &seven), Reverted,
			"# Do not edit\nwork_mem = '1MB'\nWork_Mem = '9MB' # ours\nlisten = 'it''s \\\\ there'\n"},
		"SomebodyElses": {step("work_mem", "3MB", nil), Left, file},
		"NeverMade":     {step("other", "3MB", nil), Reverted, file},
		"Gone":          {step("other", "3MB", &nine), Left, file},
	} {
		t.Run(name, func(t *testing.T) {
			lines, state := c.step.revertIn(strings.SplitAfter(file, "\n"))
			if got := strings.Join(lines, ""); got != c.want || state != c.state {
				t.Errorf("%s:\n%s", state, cmp.Diff(c.want, got))
			}
		})
	}
}

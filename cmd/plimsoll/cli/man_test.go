package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMan_EachCommandHasItsPage(t *testing.T) {
	dir := t.TempDir()
	o := plimsoll(t, "man", dir)
	o.want(t, ExitOK)
	for page, words := range map[string][]string{
		"plimsoll.1":     {`plimsoll\-run(1)`, ".SH EXIT STATUS", "130"},
		"plimsoll-run.1": {`\-\-users`, ".SH COMMON OPTIONS", ".SH EXAMPLES", "plimsoll(1)"},
		"plimsoll-up.1":  {`\-\-engine`, `\-\-replica`},
	} {
		text, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range words {
			if !strings.Contains(string(text), word) {
				t.Errorf("%s lacks %q", page, word)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "plimsoll-keep.1")); err == nil {
		t.Error("a hidden command has a page")
	}
	plimsoll(t, "man", filepath.Join(dir, "missing")).want(t, ExitEnvironment)
}

// groff reads every page without a warning, and no line of a text is lost as a request.
func TestMan_PagesAreWellFormed(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("SKIP: no groff here to read the pages")
	}
	dir := t.TempDir()
	plimsoll(t, "man", dir).want(t, ExitOK)
	pages, _ := filepath.Glob(filepath.Join(dir, "*.1"))
	for _, page := range pages {
		out, err := exec.Command(groff, "-k", "-man", "-ww", "-z", "-Tutf8", page).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", filepath.Base(page), err, out)
		}
	}
}

func TestRoffText_HasNoRequests(t *testing.T) {
	if got, want := roffText(".state\n'quoted' C:\\x\na-b"), "\\&.state\n\\&'quoted' C:\\ex\na\\-b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

package peers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What each generator wrote of a real trial, cut down to the lines that are read.
func TestOwnFiguresAreRead(t *testing.T) {
	for _, c := range []struct {
		file, as string
		read     func(Job) (Report, error)
		want     Report
	}{
		{"k6.json", "k6.json", K6.Read, Report{Answers: 1810, P50: 0.2126045, P95: 0.45672945,
			P99: 2.885246300000001, Max: 2001.902687}},
		{"locust.json", Out, Locust.Read, Report{Answers: 19, Mean: 99.37285599153256 / 19, P50: 3, P95: 46, P99: 46,
			Max: 46.35423699801322}},
		{"gatling.txt", Out, Gatling.Read, Report{Answers: 50, Mean: 39, P50: 7, P95: 344, P99: 376, Max: 376}},
	} {
		t.Run(c.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			j := Job{Folder: t.TempDir()}
			if _, err := c.read(j); err == nil {
				t.Error("no error for a missing file")
			}
			if err := os.WriteFile(j.Path(c.as), text, 0o644); err != nil {
				t.Fatal(err)
			}
			got, err := c.read(j)
			if err != nil || got != c.want {
				t.Errorf("read %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

// A generator whose client is not on this machine is missing, and the reason names the client.
func TestAToolThatCannotBeInstalledIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	programs, missing := Ready(t.Context(), t.TempDir(), All)
	if len(programs) > 0 {
		t.Errorf("without any client there are %v", programs)
	}
	for name, client := range map[string]string{
		K6.Name: "go install", Locust.Name: "python3 -m", Gatling.Name: "mvn package", Oha.Name: "cargo install",
	} {
		if why := missing[name]; why == nil || !strings.Contains(why.Error(), client+": ") {
			t.Errorf("%s: %v; expected that %q is not there", name, why, client)
		}
	}
}

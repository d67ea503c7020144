package peers

import (
	"os"
	"path/filepath"
	"testing"
)

// What each generator wrote of a real trial, cut down to the lines that are read.
func TestOwnFiguresAreRead(t *testing.T) {
	for _, c := range []struct {
		file string
		read func(Job) (Report, error)
		want Report
	}{
		{"k6.json", K6.Read, Report{Answers: 1810, P50: 0.2126045, P95: 0.45672945,
			P99: 2.885246300000001}},
		{"locust_stats.csv", Locust.Read, Report{Answers: 1883, Mean: 2.750807063784453, P50: 1, P95: 12,
			P99: 46}},
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
			if err := os.WriteFile(filepath.Join(j.Folder, c.file), text, 0o644); err != nil {
				t.Fatal(err)
			}
			got, err := c.read(j)
			if err != nil || got != c.want {
				t.Errorf("read %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

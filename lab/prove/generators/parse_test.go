package main

import (
	"os"
	"path/filepath"
	"testing"
)

// What each generator wrote of a real trial, cut down to the lines that are read.
func TestOwnFiguresAreRead(t *testing.T) {
	for _, c := range []struct {
		file string
		read func(job) (own, error)
		want own
	}{
		{"plimsoll.json", plimsollOwn, own{Answers: 13962, P50: 0.978, P95: 4.795, P99: 15.351, Max: 43.103}},
		{"k6.json", k6Own, own{Answers: 1810, Dropped: 191, P50: 0.2126045, P95: 0.45672945, P99: 2.885246300000001,
			Max: 2001.902687}},
		{"locust_stats.csv", locustOwn, own{Answers: 1883, P50: 1, P95: 12, P99: 46, Max: 98}},
	} {
		t.Run(c.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			j := job{folder: t.TempDir()}
			if _, err := c.read(j); err == nil {
				t.Error("nothing is said of a file that is missing")
			}
			if err := os.WriteFile(filepath.Join(j.folder, c.file), text, 0o644); err != nil {
				t.Fatal(err)
			}
			got, err := c.read(j)
			if err != nil || got != c.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

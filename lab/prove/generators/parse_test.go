package main

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/lab/prove/peers"
)

// What each generator wrote of a real trial, cut down to the lines that are read.
func TestOwnFiguresAreRead(t *testing.T) {
	for _, c := range []struct {
		file string
		read func(peers.Job) (peers.Report, error)
		want peers.Report
	}{
		{"plimsoll.json", plimsollOwn, peers.Report{Answers: 13962, P50: 0.978, P95: 4.795, P99: 15.351, Max: 43.103}},
		{"k6.json", peers.K6.Read, peers.Report{Answers: 1810, Dropped: 191, P50: 0.2126045, P95: 0.45672945,
			P99: 2.885246300000001, Max: 2001.902687}},
		{"locust_stats.csv", peers.Locust.Read, peers.Report{Answers: 1883, Mean: 2.750807063784453, P50: 1, P95: 12,
			P99: 46, Max: 98}},
	} {
		t.Run(c.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			j := peers.Job{Folder: t.TempDir()}
			if _, err := c.read(j); err == nil {
				t.Error("nothing is said of a file that is missing")
			}
			if err := os.WriteFile(filepath.Join(j.Folder, c.file), text, 0o644); err != nil {
				t.Fatal(err)
			}
			got, err := c.read(j)
			if err != nil || got != c.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

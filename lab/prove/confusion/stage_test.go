package confusion

import (
	"slices"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
)

// What experiments plant on a stage of their own: jobs, freezes at random that are counted, a setting without its
// library.
func TestStage_WhatExperimentsPlant(t *testing.T) {
	s, err := OpenStage(t.Context(), Options{Clusters: cluster.Open(clustertest.State(t)),
		Spec: clustertest.Copied(clustertest.Spec()), Duration: 5 * time.Second,
		Stalls: Stalls{For: 500 * time.Millisecond, Every: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	stands, d, err := s.Try(t.Context(), "jobs-10+random-stalls")
	if err != nil {
		t.Fatal(err)
	}
	// Whom a busy machine lets the diagnosis blame is for the experiment.
	if stands.Void == "" && (stands.Stalls == 0 || len(d.Standstills) == 0 || stands.Users[Jobs].PerS <= 0) {
		t.Errorf("%d stalls, %d told, jobs %+v", stands.Stalls, len(d.Standstills), stands.Users[Jobs])
	}
	runs, _, err := s.Try(t.Context(), "jobs-10")
	if err != nil || runs.Stalls != 0 {
		t.Errorf("%d stalls where none were planted, %v", runs.Stalls, err)
	}
	for plant, want := range map[string]bool{"missing-library": true, Healthy: false} {
		ids, err := s.Advice(t.Context(), plant)
		if err != nil || slices.Contains(ids, "library:"+MissingLibrary) != want {
			t.Errorf("%s: advice %q, %v", plant, ids, err)
		}
	}
}

func TestStalled_CountsWhatIsWithinFromBeginToEnd(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	var s stalled
	for _, one := range [][2]int{{1, 3}, {4, 6}, {7, 9}} {
		s.add(at(one[0]), at(one[1]))
	}
	for want, window := range map[int][2]int{3: {0, 10}, 2: {1, 8}, 1: {2, 8}, 0: {5, 8}} {
		if got := s.within(at(window[0]), at(window[1])); got != want {
			t.Errorf("%d stalls within %v, want %d", got, window, want)
		}
	}
}

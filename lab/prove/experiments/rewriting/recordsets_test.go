package rewriting

import (
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/durability"
)

// Jobs rewrite on a real server in each mode, and what they leave is what they found.
func TestRecordSets_AreRewrittenAndProved(t *testing.T) {
	s := &recordSets{dsn: clustertest.Database(t).Secret()}
	if err := s.make(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []durability.Mode{durability.Sync, durability.DurableAck} {
		f, err := s.turn(t.Context(), commitSide{2, mode}, time.Second, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, figure := range []string{pace, worstSecond, busyShare, logVolume} {
			if f[figure] <= 0 {
				t.Errorf("%s: %s is %g", mode, figure, f[figure])
			}
		}
	}
	if err := s.check(t.Context()); err != nil {
		t.Error(err)
	}
	change(t, s.dsn, "UPDATE record_sets SET amount = amount + 1 WHERE recorder = 1")
	if err := s.check(t.Context()); err == nil || !strings.Contains(err.Error(), "differ") {
		t.Errorf("a changed record set is not seen: %v", err)
	}
}

// The experiment's own server is slowed, and gone afterwards.
func TestSlowDisk_FlushesTakeAtLeastSoLong(t *testing.T) {
	const latency = 40 * time.Millisecond // no disk takes so long
	b := benchOfOwnClusters(t)
	s := &site.Site{}
	if err := site.OnSlowDisk.Open(t.Context(), b, s); err != nil {
		t.Fatal(err)
	}
	title := ""
	one := trial.Trial{Parts: []trial.Part{recordSetPart(b, s, "slow", latency, time.Second,
		[]commitSide{{1, durability.Sync}})}}
	one.Parts[0].Rounds = 1
	one.Measured = []trial.Phrase{trial.Say("%s", trial.Words(func(m *trial.Measurements) string {
		title = trial.Title("slow").Text(m)
		return title
	}))}
	f, err := one.Play(t.Context(), trial.Options{})
	if err != nil || len(f.Figures) == 0 {
		t.Fatalf("%+v, %v", f, err)
	}
	if took := commitOf(t, title); took < latency {
		t.Errorf("%q: a lone commit took %s", title, took)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := b.Clusters.List(); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func commitOf(t *testing.T, title string) time.Duration {
	t.Helper()
	_, text, _ := strings.Cut(title, "commit ")
	text, _, _ = strings.Cut(text, " ms")
	took, err := time.ParseDuration(text + "ms")
	if err != nil {
		t.Fatalf("%q: %v", title, err)
	}
	return took
}

package rewriting

import (
	"strings"
	"testing"
	"time"

	"plimsoll/erp/fill"
	"plimsoll/erp/fill/filltest"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/durability"
)

// Jobs rewrite on a real server in each mode, and what they leave is what they found.
func TestRecordSets_AreRewrittenAndProved(t *testing.T) {
	s := &recordSets{dsn: clustertest.Database(t).Secret()}
	if err := s.make(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []durability.Mode{durability.Sync, durability.DurableAck} {
		f, err := s.turn(t.Context(), commitSide{jobs: 2, mode: mode}, time.Second, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, figure := range []string{pace, worstSecond, busyShare, logVolume} {
			if f[figure] <= 0 {
				t.Errorf("%s: %s is %g", mode, figure, f[figure])
			}
		}
	}
	shared := commitSide{jobs: 2, mode: durability.Sync, objects: 3}
	if f, err := s.turn(t.Context(), shared, time.Second, 1); err != nil || f[pace] <= 0 || f[deadlocks] < 0 {
		t.Errorf("%s: %v, %v", shared, f, err)
	}
	if err := s.check(t.Context()); err != nil {
		t.Error(err)
	}
	change(t, s.dsn, "UPDATE record_sets SET amount = amount + 1 WHERE recorder = 1")
	if err := s.check(t.Context()); err == nil || !strings.Contains(err.Error(), "differ") {
		t.Errorf("a changed record set is not seen: %v", err)
	}
}

// An application server that can fill up fills up, and what jobs wait for it is no work.
func TestRecordSets_TheApplicationServerFillsUp(t *testing.T) {
	s := &recordSets{dsn: clustertest.Database(t).Secret()}
	// four jobs for a single processor that takes 20 ms for an object
	s.application = &applicationServer{work: 20 * time.Millisecond, slots: make(chan struct{}, 1)}
	if err := s.make(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	f, err := s.turn(t.Context(), commitSide{jobs: 4, mode: durability.Async}, 2*time.Second, 1)
	if err != nil {
		t.Fatal(err)
	}
	// no more than the processor can do, with work that varies by half: 50/s on average, 100 if all of it is short
	if f[pace] <= 0 || f[pace] > 100 || f[applicationBusy] <= 0 || f[applicationBusy] > 100 ||
		f[applicationWork] != 20 {
		t.Errorf("want a pace and a share up to 100, and work of 20 ms, got %v", f)
	}
}

// What our ERP takes is the application's own time: less than the whole, which its statements wait for, too.
func TestApplication_IsMeasuredFromOurERP(t *testing.T) {
	sales := filltest.Copy(t, "sales", fill.Options{Items: 100, Counterparties: 50, Documents: 300, Trade: true})
	db, err := database.Open(t.Context(), sales, database.Options{Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	began := time.Now()
	each, objects, err := erpWork(t.Context(), db)
	if err != nil || objects < erpWarm || each <= 0 {
		t.Fatalf("%s for each of %d objects, %v", each, objects, err)
	}
	t.Logf("%s for each of %d objects, in %s", each, objects, time.Since(began))
}

func TestWithin(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	for want, span := range map[int][2]int{0: {0, 9}, 2: {8, 12}, 3: {12, 15}, 1: {19, 25}, 10: {5, 30}} {
		if got := within(at(span[0]), at(span[1]), at(10), at(20)); got != time.Duration(want)*time.Second {
			t.Errorf("%v: %s, want %d s", span, got, want)
		}
	}
	if within(at(21), at(22), at(10), at(20)) != 0 {
		t.Error("what begins after the end counts")
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
	one := trial.Trial{Parts: []trial.Part{recordSetPart(b, s, recordSetPlace{name: "slow", latency: latency},
		time.Second, []commitSide{{jobs: 1, mode: durability.Sync}})}}
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

package crash_test

import (
	"flag"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/postgres/storage"
	"plimsoll/lab/crash"
	"plimsoll/lab/crash/image"
	"plimsoll/lab/run/worker/workertest"
	"plimsoll/platform/worker/shape"
	"plimsoll/test/leak"
	"plimsoll/test/thorough"
)

func TestMain(m *testing.M) {
	workertest.Become()
	runAsShop()
	flag.Parse()
	thorough.Checks(3) // of real servers and workers
	leak.Main(clustertest.Runner(m))
}

// seeds of each control: few in make test, many in make test-full.
func seeds() int { return thorough.Or(100, 2) }

func run(t *testing.T, change func(*crash.Options)) *crash.Report {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skipf("NOT TESTED: no C compiler: %v", err)
	}
	state := clustertest.State(t)
	s := clustertest.Spec()
	s.Unsafe = false
	s.Settings = []profile.Setting{{Name: "max_wal_size", Value: "256MB"}}
	o := crash.Options{Clusters: cluster.Open(state), Spec: clustertest.Copied(s), Ending: crash.PowerCut,
		Durability: crash.Sync, Load: crash.SQL, Sessions: 4, Duration: time.Second, Seeds: seeds(), Seed: 1,
		Model: image.Strict, Serve: workertest.Command(), Shape: shape.Tuned, Workers: 2}
	change(&o)
	report, err := crash.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := cluster.Open(state).List(); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
	var text strings.Builder
	if err := report.Write(&text); err != nil {
		t.Error(err)
	}
	t.Log(text.String())
	if report.Operations == 0 {
		t.Fatal("the load acknowledged nothing")
	}
	inOrder(t, report)
	return report
}

// inOrder: though cuts are examined side by side, each seed is there once, in its place.
func inOrder(t *testing.T, report *crash.Report) {
	t.Helper()
	for i, c := range report.Cuts {
		if c.Seed != report.FirstSeed+uint64(i) {
			t.Errorf("seed %d is number %d", c.Seed, i)
		}
	}
}

// noticing is how many cuts must show a fault that one cut in five may hide: a disk may keep what no flush covers.
func noticing() int { return thorough.Or(100, 5) }

// Controls of the harness: cases that must lose nothing, and cases that must be noticed.
func TestSynchronousCommitsLoseNothing(t *testing.T) {
	r := run(t, func(o *crash.Options) {
		o.Duration, o.Seeds = time.Duration(thorough.Or(2000, 500))*time.Millisecond, thorough.Or(500, 20)
	})
	if r.Broken() {
		t.Error("a synchronous commit was lost, or data are damaged")
	}
	if r.Segments < 2 {
		t.Errorf("the load wrote %d segments of the log: a change of segments was not tried", r.Segments)
	}
}

func TestWithoutFsyncAPowerCutLoses(t *testing.T) {
	r := run(t, func(o *crash.Options) { o.Durability, o.Seeds = crash.Unsafe, noticing() })
	if r.Lost() == 0 {
		t.Error("fsync=off lost nothing in a power cut")
	}
}

func TestALibraryThatTakesAllForFlushedIsNoticed(t *testing.T) {
	r := run(t, func(o *crash.Options) { o.Durability, o.Broken = crash.Unsafe, storage.AllDurable })
	if r.Lost() > 0 || r.Damaged() > 0 {
		t.Error("with all writes taken for flushed nothing can be lost: this is the control that fsync=off must lose")
	}
}

func TestALibraryThatOverlooksFlushesIsNoticed(t *testing.T) {
	if r := run(t, func(o *crash.Options) { o.Broken, o.Seeds = storage.WALNever, noticing() }); !r.Broken() {
		t.Error("flushes of the log were overlooked, and nobody noticed")
	}
}

// A server that forgets to flush its folders, for which the library forgets what it sees of that.
func TestFoldersThatAreNotFlushedAreNoticed(t *testing.T) {
	const loads = 10 // one may change its segment of the log too late, or write one only
	for load := range uint64(loads) {
		if run(t, func(o *crash.Options) {
			o.Broken, o.Seeds, o.Seed = storage.FoldersNever, noticing(), 1+1000*load
		}).Broken() {
			return
		}
	}
	t.Error("flushes of folders were overlooked, and nobody noticed")
}

func TestATornPageIsNoticed(t *testing.T) {
	if !thorough.Asked() {
		t.Skip("NOT TESTED: a cut in the middle of a page is rare (make test-full)")
	}
	r := run(t, func(o *crash.Options) {
		o.Spec.Settings = append(o.Spec.Settings, profile.Setting{Name: "full_page_writes", Value: "off"})
	})
	if r.Damaged() == 0 {
		t.Error("full_page_writes=off, and no torn page was found")
	}
}

func TestKillsLoseNoSynchronousCommit(t *testing.T) {
	ways := []crash.Ending{crash.Backend}
	if thorough.Asked() {
		ways = []crash.Ending{crash.Backend, crash.All, crash.Immediate}
	}
	for _, way := range ways {
		r := run(t, func(o *crash.Options) {
			o.Ending, o.Duration, o.Seeds = way, 500*time.Millisecond, min(seeds(), 70)
		})
		if r.Broken() {
			t.Errorf("%s broke a promise", way)
		}
	}
}

func TestAPlannedStopLosesNoAsynchronousCommit(t *testing.T) {
	ways := []crash.Ending{crash.Orderly, crash.Smart, crash.Down}
	if thorough.Asked() {
		ways = append(ways, crash.StopWorker)
	}
	for _, way := range ways {
		r := run(t, func(o *crash.Options) {
			if way == crash.StopWorker {
				erp(o)
			}
			o.Ending, o.Durability, o.Duration, o.Seeds = way, crash.Async, 500*time.Millisecond, thorough.Or(10, 1)
		})
		if r.Broken() {
			t.Errorf("%s lost what was acknowledged", way)
		}
	}
}

func TestAnImmediateStopLosesAsynchronousCommits(t *testing.T) {
	r := run(t, func(o *crash.Options) {
		o.Ending, o.Durability = crash.Immediate, crash.Async
		o.Duration, o.Seeds = 500*time.Millisecond, thorough.Or(10, 3)
		// or the log writer may have flushed all before the stop, where the sessions get no processor
		o.Spec.Settings = append(o.Spec.Settings, profile.Setting{Name: "wal_writer_delay", Value: "10s"})
	})
	if r.Lost() == 0 {
		t.Error("nothing is lost: planned stops are not tried")
	}
	if r.Broken() {
		t.Error("asynchronous commits may be lost, but nothing may be damaged")
	}
}

// Every loss is given in operations, documents, time and bytes, and three wal_writer_delay and a flush explain it.
func TestAPowerCutLosesWhatTheFormulaExplains(t *testing.T) {
	r := run(t, func(o *crash.Options) {
		o.Durability, o.FlushLatency, o.Seeds = crash.Async, 2*time.Millisecond, thorough.Or(100, 4)
	})
	// few cuts may all keep what was not flushed
	if thorough.Asked() && r.Lost() == 0 || r.LongestFlushMS < 2 || r.LongestGapMS <= 0 {
		t.Errorf("%d lost, longest flush %.2f ms, longest gap %.2f ms", r.Lost(), r.LongestFlushMS, r.LongestGapMS)
	}
	for _, c := range r.Cuts {
		// The log is known up to the start of the last operation: a lost one without a follower has no bytes, and none
		// explain it if it is the first one, or if nothing was written for long. An acknowledgement that no record
		// followed came at the end, and is no time old.
		if c.LostDocuments != c.Lost || c.LostMS < 0 || c.LostWALBytes < 0 || c.ExplainedMS < 600 ||
			c.ExplainedWALBytes < 0 || c.Lost == 0 && (c.LostMS > 0 || c.LostWALBytes > 0) {
			t.Errorf("losses that do not fit each other: %+v", c)
		}
	}
}

// erp is a load of the ERP's operations.
func erp(o *crash.Options) {
	o.Load, o.Durability, o.Sessions = crash.ERP, crash.DurableAck, 30
	o.Duration, o.Seeds = time.Duration(thorough.Or(2000, 500))*time.Millisecond, thorough.Or(500, 2)
}

func TestADurableAcknowledgementOutlivesAPowerCut(t *testing.T) {
	r := run(t, func(o *crash.Options) { erp(o); o.Duration, o.Seeds = time.Second, thorough.Or(500, 20) })
	if r.Broken() {
		t.Error("the ERP lost what it had acknowledged or shown, or data are damaged")
	}
}

// Readers of lists who do not wait for the log are shown what a cut right then undoes. On a busy machine a load may be
// too short for any of them. What takes the time are flushes, most of them of workers that start: few users and a
// shorter flush show the same.
func TestReadersWhoDoNotWaitAreNoticed(t *testing.T) {
	for range 10 {
		r := run(t, func(o *crash.Options) {
			erp(o)
			o.Durability, o.FlushLatency = "durable-ack,list=relaxed", 60*time.Millisecond
			o.Duration, o.Seeds, o.Sessions = time.Second, 6, 8
		})
		if r.Damaged() > 0 {
			t.Error("a reader who does not wait damages nothing")
		}
		if r.Lost() > 0 {
			return
		}
	}
	t.Error("readers were shown what was lost, and nobody noticed")
}

func TestADurableAcknowledgementOutlivesKills(t *testing.T) {
	if !thorough.Asked() {
		t.Skip("NOT TESTED: kills under the ERP's load (make test-full)")
	}
	for _, way := range []crash.Ending{crash.Backend, crash.All, crash.Worker, crash.Immediate} {
		if r := run(t, func(o *crash.Options) { erp(o); o.Ending, o.Seeds = way, 50 }); r.Broken() {
			t.Errorf("%s broke a promise", way)
		}
	}
}

func TestAPowerCutTakesAsynchronousOperations(t *testing.T) {
	if !thorough.Asked() {
		t.Skip("NOT TESTED: asynchronous commits of the ERP (make test-full)")
	}
	// On a busy machine a load may acknowledge too little.
	for range 10 {
		r := run(t, func(o *crash.Options) {
			erp(o)
			o.Durability, o.Seeds, o.FlushLatency = crash.Async, 20, 100*time.Millisecond
		})
		if r.Damaged() > 0 {
			t.Error("an asynchronous commit may be lost, but nothing may be damaged")
		}
		if r.Lost() > 0 {
			return
		}
	}
	t.Error("asynchronous commits lost nothing: the test sees no loss")
}

// With files made at once, as in a stock server, hundreds of them are in an image; a recovery must remove all.
func TestFilesOfTemporaryTablesGo(t *testing.T) {
	if !thorough.Asked() {
		t.Skip("NOT TESTED: files of temporary tables under the ERP's load (make test-full)")
	}
	if s, err := installation.Find(t.Context(), clustertest.Engine()); err != nil || s.Patchset == 0 {
		t.Skipf("NOT TESTED: %s has no memory catalog: %v", s, err)
	}
	r := run(t, func(o *crash.Options) {
		erp(o)
		o.Seeds = 20
		o.Spec.Settings = append(o.Spec.Settings, profile.Setting{Name: "temp_lazy_files", Value: "off"})
	})
	if r.Broken() {
		t.Error("something of temporary tables is left, or something else is lost")
	}
}

package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// garbageWorth is how much garbage a worker lets gather before it is worth a collection. A worker whose sessions
	// keep little would otherwise collect ten times a second at full load, and take a tenth of its processor time for
	// it.
	garbageWorth = 256 << 20
	// collectAtLeast is what Go does by itself: a worker with much session data takes no more memory than ever.
	collectAtLeast = 100
	collectAtMost  = 3200
	collectStep    = 50
)

// collectRarely sets after each collection when the next one begins. GOGC, if set, takes precedence.
func collectRarely() {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	set := collectAtLeast
	var collected func(*[16]byte)
	collected = func(mark *[16]byte) {
		metrics.Read(live)
		if at := collectAtLive(live[0].Value.Uint64()); at != set {
			set = at
			debug.SetGCPercent(at)
		}
		runtime.SetFinalizer(mark, collected)
	}
	collected(new([16]byte)) // no tiny object: those share a block and may never be finalized
}

// collectAtLive is the percentage by which the heap may outgrow the live data, in steps, so that it is not set again
// each time.
func collectAtLive(live uint64) int {
	at := garbageWorth * 100 / max(live, 1) / collectStep * collectStep
	return int(min(max(at, collectAtLeast), collectAtMost))
}

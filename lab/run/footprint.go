package run

import (
	"runtime"
	"time"

	"plimsoll/lab/run/result"
)

// liveMemory of a generator, by readings before log-in, with half of its users, with all of them, at the end of the
// load, and when the connections are closed.
//
//	per user = (all - half) / (users - half of them) + connections / users
//
// What the first users add once (caches, code) is in the first half alone, so that it does not count as a cost of
// each; counters are in neither part.
type liveMemory struct {
	before, half, all, end, closed float64
	halfUsers, users               int
}

func (m liveMemory) footprint() *result.Footprint {
	connections := max(0, m.end-m.closed)
	f := &result.Footprint{Of: result.MemoryOfGenerator, Measure: result.LiveMemory, Users: m.users,
		BeforeLogIn: m.before, AfterLogIn: m.all, UnderLoad: &m.end, Connections: &connections}
	if more := m.users - m.halfUsers; more >= result.PerUserMin && m.all > m.half {
		each := (m.all-m.half)/float64(more) + connections/float64(m.users)
		f.PerUser = &each
	}
	return f
}

// closedWithin bounds the wait for the goroutines of connections that were closed.
const closedWithin = 2 * time.Second

// awaitClosed connections: until no goroutine ended for a while.
func awaitClosed() {
	const while = 50 * time.Millisecond
	for before, until := 0, time.Now().Add(closedWithin); time.Now().Before(until); {
		now := runtime.NumGoroutine()
		if now == before {
			return
		}
		before = now
		time.Sleep(while)
	}
}

// liveBytes is memory in use after garbage collection: heap and stacks. A second collection removes what pools kept
// over the first, such as the buffers of a base that this process has just filled.
func liveBytes() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// footprints of the generator, the workers and the database.
func (r *record) footprints() (all []result.Footprint) {
	if r.made.Live != nil {
		all = append(all, *r.made.Live)
	}
	for which, holder := range holderNames {
		before, after := r.memoryBefore[which], r.memoryAfter[which]
		if which == generatorCPU || before == nil || after == nil {
			continue
		}
		all = append(all, result.Footprint{Of: holder, Measure: result.PrivateMemory, Users: r.Users,
			BeforeLogIn: *before,
			AfterLogIn:  *after, UnderLoad: r.meters.mostMemory(which, r.made.Tally.From)})
	}
	return all
}

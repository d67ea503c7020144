package crash

import (
	"testing"
	"time"

	"plimsoll/ground/postgres/storage"
)

// A log that grows by 1,000 bytes each 100 ms, of which a journal has a record each.
func plantedWatch(from time.Time) *logWatch {
	w := &logWatch{delay: 200 * time.Millisecond}
	for n := range 20 {
		w.points = append(w.points, logPoint{uint64(n + 1), from.Add(time.Duration(n) * 100 * time.Millisecond),
			int64(n+1) * 1000})
	}
	return w
}

func TestTheFormulaExplainsThreeDelaysAndAFlush(t *testing.T) {
	from := time.Unix(1000, 0)
	w := plantedWatch(from)
	c := Cut{Record: 15}
	c.explain(w, 150*time.Millisecond, from.Add(1450*time.Millisecond))
	// 750 ms before 1450 ms: the point of 700 ms is the last one that is not later
	if c.ExplainedMS != 750 || c.ExplainedWALBytes != 8000 || c.WALBytesPerS < 9999 || c.WALBytesPerS > 10001 {
		t.Fatalf("explained %+v, want 750 ms and 8000 bytes at 10,000 bytes a second", c)
	}
	for _, one := range []struct {
		ms    float64
		bytes int64
		want  bool
	}{{750, 8000, false}, {751, 10, true}, {10, 8001, true}} {
		if c.LostMS, c.LostWALBytes = one.ms, one.bytes; c.Unexplained() != one.want {
			t.Errorf("%+v: the other verdict on whether it is explained", one)
		}
	}
	lost := c.count(nil, []ack{{key: "k", document: "d", at: from.Add(time.Second), wal: w.before(9).wal},
		{key: "l", document: "d", at: from.Add(time.Second), wal: w.before(10).wal}}, from.Add(1450*time.Millisecond))
	if len(lost) != 2 || c.LostDocuments != 1 || c.LostMS != 450 || c.LostWALBytes != 6000 {
		t.Errorf("%v %+v", lost, c)
	}
	late := Cut{Record: 15}
	late.explain(w, 150*time.Millisecond, from.Add(1450*time.Millisecond))
	late.count(nil, []ack{{key: "k", at: from.Add(time.Second), wal: 7100},
		{key: "l", at: from.Add(1440 * time.Millisecond), wal: 15600}}, from.Add(1450*time.Millisecond))
	if late.LostWALBytes != 8500 || late.Unexplained() {
		t.Errorf("what was written behind the last look is not explained: %+v", late)
	}
	if gap := w.longestGap(); gap != 100*time.Millisecond {
		t.Errorf("gap %s", gap)
	}
}

// A flush lasts from what follows its beginning; those of other files do not count.
func TestLongestFlushIsOfTheLog(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }
	records := []storage.Record{
		{Number: 1, Kind: storage.Open, Ino: 1, Path: "pg_wal/000000010000000000000001", At: at(0)},
		{Number: 2, Kind: storage.Open, Ino: 2, Path: "base/5/1", At: at(0)},
		{Number: 3, Kind: storage.Write, Ino: 1, At: at(10)},
		{Number: 4, Kind: storage.Write, Ino: 2, At: at(12)},
		{Number: 5, Kind: storage.Sync, Ino: 1, Before: 4, At: at(19)},
		{Number: 6, Kind: storage.Sync, Ino: 2, Before: 3, At: at(40)},
	}
	if got := longestFlush(records, 2); got != 7*time.Millisecond {
		t.Errorf("%s, want 7ms", got)
	}
}

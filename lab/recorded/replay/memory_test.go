package replay

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/recorded/score"
	"plimsoll/lab/recorded/techlog"
)

// Two logs, one of four times the size. What is kept of a log shows in the difference: it may be a fiftieth of what the
// second one has more, and a log of any size fits into memoryMost.
const (
	smallBytes = 4 << 20
	bigBytes   = 16 << 20
	keptMost   = 50
	memoryMost = 400 << 20
	runInTests = 1 << 20
	looks      = 50 // in each pass over a log
)

// sizes of both logs, and of a run. PLIMSOLL_LOG_MB=10000 go test -run Memory -v ./lab/recorded/replay reads 10 GB.
func sizes(t *testing.T) (small, big, ofRun int) {
	n, err := strconv.Atoi(os.Getenv("PLIMSOLL_LOG_MB"))
	if err != nil {
		return smallBytes, bigBytes, runInTests
	}
	t.Logf("a log of %d MB", n)
	return smallBytes, n << 20, runBytes
}

func TestMemory_DoesNotGrowWithTheLog(t *testing.T) {
	small, big, ofRun := sizes(t)
	var dirs [2]string
	var statements [2]int64
	for i, bytes := range []int{small, big} {
		dirs[i] = t.TempDir()
		statements[i] = writeBig(t, dirs[i], bytes)
	}
	for name, do := range map[string]func(t *testing.T, dir string, statements int64, look func()){
		"Score": scoreAll,
		"Replay": func(t *testing.T, dir string, statements int64, look func()) {
			orderAll(t, dir, statements, ofRun, look)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var peaks [2]int64
			for i := range peaks {
				peaks[i] = peakOf(func(look func()) { do(t, dirs[i], statements[i], look) })
			}
			t.Logf("logs of %d and %d kB: at most %d and %d kB in use", small>>10, big>>10, peaks[0]>>10, peaks[1]>>10)
			if more, most := peaks[1]-peaks[0], int64(big-small)/keptMost; more > most {
				t.Errorf("%d kB more in use for %d kB more of a log, want at most %d", more>>10, (big-small)>>10,
					most>>10)
			}
			if peaks[1] > memoryMost {
				t.Errorf("%d MB in use, want at most %d", peaks[1]>>20, memoryMost>>20)
			}
		})
	}
}

func scoreAll(t *testing.T, dir string, statements int64, look func()) {
	looked := int64(0)
	r, err := score.Read(t.Context(), score.Options{Paths: []string{dir}, Progress: func(read, all int64) {
		if part := read * looks / all; part > looked {
			looked = part
			look()
		}
	}})
	if err != nil || r.Unscored.OfAll != statements {
		t.Errorf("%+v, %v", r, err)
	}
}

// orderAll does with a log what a replay does before it plays, and hands out the statements.
func orderAll(t *testing.T, dir string, statements int64, ofRun int, look func()) {
	o := Options{Paths: []string{dir}, State: t.TempDir(), Speed: 1}
	o.complete()
	seen := int64(0)
	each := func() error {
		if seen++; seen%max(statements/looks, 1) == 0 {
			look()
		}
		return nil
	}
	s := &stage{Options: o, left: map[string]int64{}, outcome: newOutcome(nil),
		found: func(string) error { return each() }} // is told with each statement that is read
	s.Database = "trade"
	ordered, err := newOrder(o.State)
	if err != nil {
		t.Fatal(err)
	}
	ordered.most = ofRun
	read, err := s.reader()
	recorded := score.NewSessions(score.Options{})
	if err == nil {
		err = read(t.Context(), ordered, recorded, &Result{})
	}
	look()
	if err == nil {
		err = ordered.each(func(statement) error { return each() })
	}
	if err != nil || seen != 2*statements || recorded.Result() == nil {
		t.Errorf("%d of %d statements, read and handed out; %v", seen, statements, err)
	}
}

// writeBig writes a log of so many bytes, and gives the number of its statements.
func writeBig(t *testing.T, dir string, bytes int) (statements int64) {
	t.Helper()
	w, err := techlog.NewWriter(dir, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 28, 8, 0, 0, 0, time.Local)
	text := strings.Repeat("SELECT T1._Fld45, T1._Fld46 FROM _Document34_VT42 T1 WHERE T1._Fld44RRef = $1 ", 12)
	text = strings.ReplaceAll(text, "$1", `'\\200\\305\\000\\120'::bytea`)
	for written := 0; written < bytes; {
		client := fmt.Sprint(statements / 10 % 97)
		began := at
		for range 10 {
			at = at.Add(time.Millisecond)
			w.Write(techlog.Event{At: at, Duration: time.Millisecond, Name: "DBPOSTGRS", Fields: []techlog.Field{
				{Name: "process", Value: "rphost"}, {Name: "t:clientID", Value: client},
				{Name: "DataBase", Value: `h\trade`}, {Name: "Trans", Value: "0"}, {Name: "dbpid", Value: client},
				{Name: "Sql", Value: text}, {Name: "RowsAffected", Value: "1"},
				{Name: "Result", Value: "PGRES_TUPLES_OK"}}})
			statements++
			written += len(text) + 150
		}
		at = at.Add(time.Millisecond)
		w.Write(techlog.Event{At: at, Duration: at.Sub(began), Name: "CALL", Fields: []techlog.Field{
			{Name: "process", Value: "rphost"}, {Name: "t:clientID", Value: client},
			{Name: "Context", Value: "Document.Sale.Post" + fmt.Sprint(statements%7)}}})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return statements
}

// peakOf is the most memory that was in use whenever do looked. What nobody refers to any more is not counted, and
// nothing goes on meanwhile, so that the figure depends on the work alone.
func peakOf(do func(look func())) (peak int64) {
	do(func() {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, int64(m.HeapAlloc))
	})
	return peak
}

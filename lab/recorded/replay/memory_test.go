package replay

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	host "plimsoll/ground/host/memory"
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

	sizeVariable = "PLIMSOLL_LOG_MB"
	// sizeLeast of the larger log where the environment asks for one: the smaller one must fill runs, too.
	sizeLeast = 8 * runBytes
	// privateMost is what the process may have of memory then, with what is not collected yet.
	privateMost = 500 << 20
)

// sizes of both logs, and of a run. PLIMSOLL_LOG_MB=10000 asks for a log of 10 GB, and for runs as large as a replay's
// (docs/design/061-your-own-week.md).
func sizes(t *testing.T) (small, big, ofRun int, asked bool) {
	text := os.Getenv(sizeVariable)
	if text == "" {
		return smallBytes, bigBytes, runInTests, false
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < sizeLeast>>20 {
		t.Fatalf("%s=%s: want a number of MB, %d at least", sizeVariable, text, sizeLeast>>20)
	}
	return n << 20 / (bigBytes / smallBytes), n << 20, runBytes, true
}

func TestMemory_DoesNotGrowWithTheLog(t *testing.T) {
	small, big, ofRun, asked := sizes(t)
	var dirs [2]string
	var statements, written [2]int64
	for i, bytes := range []int{small, big} {
		dirs[i] = t.TempDir()
		statements[i] = writeBig(t, dirs[i], bytes)
		if written[i] = bytesIn(t, dirs[i]); written[i] < int64(bytes)*9/10 {
			t.Fatalf("a log of %d kB, want %d kB", written[i]>>10, bytes>>10)
		}
	}
	for name, do := range map[string]func(t *testing.T, dir string, statements int64, look func()){
		"Score": scoreAll,
		"Replay": func(t *testing.T, dir string, statements int64, look func()) {
			orderAll(t, dir, statements, ofRun, look)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var peaks [2]peak
			for i := range peaks {
				peaks[i] = peakOf(t, func(look func()) { do(t, dirs[i], statements[i], look) })
				t.Logf("a log of %d kB, %d statements: at most %d kB in use, %d kB of the process", written[i]>>10,
					statements[i], peaks[i].used>>10, peaks[i].private>>10)
			}
			more, longer := peaks[1].used-peaks[0].used, written[1]-written[0]
			if most := longer / keptMost; more > most {
				t.Errorf("%d kB more in use for %d kB more of a log, want at most %d", more>>10, longer>>10, most>>10)
			}
			if peaks[1].used > memoryMost {
				t.Errorf("%d MB in use, want at most %d", peaks[1].used>>20, memoryMost>>20)
			}
			if asked && peaks[1].private > privateMost {
				t.Errorf("the process has %d MB, want at most %d", peaks[1].private>>20, privateMost>>20)
			}
		})
	}
}

// bytesIn the files of a folder.
func bytesIn(t *testing.T, dir string) (sum int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
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
	defer func() { // the next log's statements need the place
		if err := ordered.remove(); err != nil {
			t.Error(err)
		}
	}()
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

// peak of memory while a log is read.
type peak struct {
	used    int64 // that somebody refers to: it depends on the work alone
	private int64 // that the process has: also what is not collected yet
}

// peakOf is the most memory whenever do looked. What is in use is counted after a collection, with nothing going on
// meanwhile.
func peakOf(t *testing.T, do func(look func())) (most peak) {
	t.Helper()
	do(func() {
		private, err := host.Own()
		if err != nil {
			t.Error(err)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most.used, most.private = max(most.used, int64(m.HeapAlloc)), max(most.private, private)
	})
	return most
}

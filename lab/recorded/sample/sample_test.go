package sample_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load/onec"
	"plimsoll/lab/recorded/sample"
	"plimsoll/lab/recorded/sample/sampletest"
	"plimsoll/lab/recorded/score"
	"plimsoll/lab/recorded/techlog"
	"plimsoll/test/leak"
)

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m)) }

// What is read from the log is what the load did, on a fine clock and on one that ticks every 15.6 ms.
func TestLog_IsTheTruth(t *testing.T) {
	for name, o := range map[string]sampletest.Options{
		"OwnSessions": {Users: 6, Each: 12},
		"Pool, coarse clock": {Users: 6, Sessions: 3, Each: 40, Pause: 20 * time.Millisecond,
			Tick: 15_625 * time.Microsecond},
	} {
		t.Run(name, func(t *testing.T) {
			r := sampletest.Record(t, o)
			dir := r.Folder(t, nil)
			scored, err := score.Read(t.Context(), score.Options{Paths: []string{dir}})
			if err != nil {
				t.Fatal(err)
			}
			calls := map[string]int64{}
			for _, op := range scored.Operations {
				calls[op.Name] = op.N
			}
			if diff := cmp.Diff(r.Truth.Calls, calls); diff != "" || scored.Unread.Events > 0 {
				t.Errorf("calls (-true +read):\n%s\nunread: %+v", diff, scored.Unread)
			}
			if scored.Unscored.OfAll != r.Truth.Statements || (scored.TickMS != nil) != (o.Tick > 0) {
				t.Errorf("%d statements, want %d; tick %v", scored.Unscored.OfAll, r.Truth.Statements, scored.TickMS)
			}
			mustScoreByPauses(t, r.Folder(t, withoutCalls))
			seen := read(t, dir)
			if seen.rows != r.Truth.Rows || seen.octal == 0 || (seen.nameless > 0) != (o.Sessions == 0) {
				t.Errorf("%+v, want %d rows", seen, r.Truth.Rows)
			}
		})
	}
}

// What a statement says of itself stands in its event and in those beside it; one that failed has no rows.
func TestLog_KeepsWhatStatementsAre(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	log, err := sample.Create(dir, sample.Options{Database: "trade"})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 28, 10, 0, 0, 0, time.Local)
	failed := func(state string) error {
		return fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: state, Message: "no"})
	}
	for i, s := range []onec.Statement{
		{Text: "SELECT 1", Rows: 1, Tuples: true},
		{Text: "BEGIN TRANSACTION", Numbered: true, Transaction: true},
		{Text: "SELECT 1 FROM t FOR UPDATE", Rows: 5, Tuples: true, Numbered: true, Transaction: true},
		{Text: "UPDATE a", Rows: 7, Numbered: true, Transaction: true, Err: failed("55P03")},
		{Text: "UPDATE b", Rows: 7, Numbered: true, Transaction: true, Err: failed("40P01")},
		{Text: "UPDATE c", Rows: 7, Numbered: true, Transaction: true, Err: failed("23505")},
		{Text: "UPDATE d", Rows: 7, Numbered: true, Transaction: true, Err: errors.New("lost")},
		{Text: "ROLLBACK TRANSACTION", Numbered: true, Transaction: true},
	} {
		s.User, s.Process, s.Began = 3, 11, at.Add(time.Duration(10*i)*time.Millisecond)
		s.Ended = s.Began.Add(4 * time.Millisecond)
		log.Statement(s)
	}
	log.Call(onec.Call{User: 3, Operation: "sale.write", Began: at, Ended: at.Add(time.Second)})
	truth, err := log.Close()
	want := sample.Truth{From: at, To: at.Add(time.Second), Statements: 8, Rows: 6, Sessions: 1,
		Calls:  map[string]int64{sample.NameOf("sale.write"): 1},
		Errors: map[string]int64{"55P03": 1, "40P01": 1, "23505": 1, "": 1}}
	if diff := cmp.Diff(want, truth); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	var got []string
	events(t, dir, func(e *techlog.Event) {
		text := fmt.Sprintf("%s %s%s%s %s", e.Name, e.Value("Func"), e.Value("Regions"), e.Value("Sql"),
			e.Value("dbpid")+e.Value("Trans")+strings.TrimPrefix(e.Value("Result"), "PGRES"))
		got = append(got, strings.Join(strings.Fields(text+" "+e.Value("Descr")), " "))
	})
	const lines = `DBPOSTGRS SELECT 1 0_TUPLES_OK
SDBL BeginTransaction 1
DBPOSTGRS BEGIN TRANSACTION 111_COMMAND_OK
TLOCK Document34.REFLINES
DBPOSTGRS SELECT 1 FROM t FOR UPDATE 111_TUPLES_OK
DBPOSTGRS UPDATE a 111_FATAL_ERROR
EXCP DBMS error: 55P03: ERROR: no
TTIMEOUT Document34.REFLINES
DBPOSTGRS UPDATE b 111_FATAL_ERROR
EXCP DBMS error: 40P01: ERROR: no
TDEADLOCK Document34.REFLINES
DBPOSTGRS UPDATE c 111_FATAL_ERROR
EXCP DBMS error: 23505: ERROR: no
DBPOSTGRS UPDATE d 111_FATAL_ERROR
EXCP DBMS error: connection to the server was lost
SDBL RollbackTransaction 1
DBPOSTGRS ROLLBACK TRANSACTION 111_COMMAND_OK
CALL`
	if diff := cmp.Diff(strings.Split(lines, "\n"), got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if _, err := sample.Create(dir, sample.Options{}); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a second log in one folder: %v", err)
	}
}

func withoutCalls(log []byte) []byte {
	return bytes.ReplaceAll(log, []byte(",CALL,"), []byte(",SCALL,"))
}

// A log without calls is scored by pauses, and says so.
func mustScoreByPauses(t *testing.T, dir string) {
	t.Helper()
	r, err := score.Read(t.Context(), score.Options{Paths: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Pauses == nil || r.Source != score.TechLog || r.Calls == 0 || !strings.Contains(strings.Join(r.Notes(), " "),
		"what users did is guessed") {
		t.Errorf("%d calls of %s, %v", r.Calls, r.Source, r.Notes())
	}
}

type seen struct{ rows, octal, nameless int64 }

func read(t *testing.T, dir string) (s seen) {
	t.Helper()
	events(t, dir, func(e *techlog.Event) {
		if e.Name != "DBPOSTGRS" {
			return
		}
		n, err := strconv.ParseInt(e.Value("RowsAffected"), 10, 64)
		if err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
		s.rows += n
		if strings.Contains(e.Value("Sql"), `'\\000\\000`) {
			s.octal++
		}
		if e.Value("dbpid") == "" {
			s.nameless++
		}
	})
	return s
}

// events of a log.
func events(t *testing.T, dir string, do func(*techlog.Event)) {
	t.Helper()
	files, err := techlog.Files([]string{dir}, time.Local)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		in, file, err := f.Open(func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		for {
			e, err := in.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			do(&e)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

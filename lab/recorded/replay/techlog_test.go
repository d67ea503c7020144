package replay_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load/onec"
	"plimsoll/lab/recorded/replay"
	"plimsoll/lab/recorded/sample/sampletest"
	"plimsoll/lab/recorded/score"
	"plimsoll/lab/recorded/techlog"
)

var (
	onecOnce sync.Once
	onecDay  sampletest.Recording
)

const pauseOfDay = 120 * time.Millisecond

func recordedDay(t *testing.T, pause time.Duration) sampletest.Recording {
	t.Helper()
	return sampletest.Record(t, sampletest.Options{Users: 8, Sessions: 5, Each: 20, Pause: pause})
}

// day of a 1C server with a pool of sessions, recorded once.
func day(t *testing.T) sampletest.Recording {
	t.Helper()
	onecOnce.Do(func() {
		onecDay = recordedDay(t, pauseOfDay)
	})
	if onecDay.Truth.Statements == 0 {
		t.Fatal("the recording failed")
	}
	return onecDay
}

func ofDay(t *testing.T, dir string, speed float64) replay.Options {
	t.Helper()
	o := options(t, dir, sampletest.Base(t), speed)
	o.Database, o.Zone = sampletest.Database, time.Local
	return o
}

// Each session of the recording is one here, all is replayed, and what it returned and changed is the same; the totals
// are right in the end.
func TestRun_A1CDayIsTheSameAgain(t *testing.T) {
	// At either pace users pause as long here: sessions do not wait for each other, and on a busy machine one that
	// hurries comes before what it read in the log.
	for speed, recorded := range map[float64]func() sampletest.Recording{
		1: func() sampletest.Recording { return day(t) },
		4: func() sampletest.Recording { return recordedDay(t, 4*pauseOfDay) },
	} {
		t.Run(fmt.Sprint(speed), func(t *testing.T) {
			d := recorded()
			o := ofDay(t, d.Folder(t, nil), speed)
			r, err := replay.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			f := r.Fidelity
			balanced(t, f)
			t.Logf("%s: %s", d, r.Says())
			if f.Read != d.Truth.Statements || f.Replayed != f.Read || f.Sessions != d.Truth.Sessions {
				t.Errorf("read %d, replayed %d of %s", f.Read, f.Replayed, d)
			}
			if !f.Faithful() || f.Rows.Compared != f.Replayed ||
				float64(f.Rows.Equal) < 0.995*float64(f.Rows.Compared) {
				t.Errorf("rows %+v of %d: %v; new errors %v %v", f.Rows, f.Replayed, f.RowExamples, f.New, f.Messages)
			}
			want := int64(0)
			for _, n := range d.Truth.Calls {
				want += n
			}
			if f.Calls.Read != want || r.Recorded.Calls != want || r.Replayed.Calls != want ||
				r.Replayed.Source != score.TechLog {
				t.Errorf("%+v calls, scored %d there, %d here, of %d", f.Calls, r.Recorded.Calls, r.Replayed.Calls,
					want)
			}
			var text bytes.Buffer
			if err := r.Text(&text, true); err != nil || !strings.Contains(text.String(), "as in the log") {
				t.Errorf("%v\n%s", err, &text)
			}
			report, err := onec.Audit(t.Context(), o.DSN, nil)
			if err != nil || !report.Clean() {
				t.Errorf("%+v, %v", report, err)
			}
		})
	}
}

// The server knows no number of a session until its first transaction, and its clock ticks every 15 ms.
func TestRun_SessionsWithoutNumberAndACoarseClock(t *testing.T) {
	d := sampletest.Record(t, sampletest.Options{Users: 5, Each: 20, Pause: 40 * time.Millisecond,
		Tick: 15_625 * time.Microsecond})
	r, err := replay.Run(t.Context(), ofDay(t, d.Folder(t, nil), 1))
	if err != nil {
		t.Fatal(err)
	}
	f := r.Fidelity
	balanced(t, f)
	if f.Sessions != d.Truth.Sessions || !f.Faithful() || f.ClockTickMS == nil {
		t.Errorf("%s: %s; tick %v, %v, %v", d, r.Says(), f.ClockTickMS, f.RowExamples, f.Messages)
	}
}

var (
	answered = regexp.MustCompile(`RowsAffected=(\d+)`)
	logged   = regexp.MustCompile(`(?m)^\d\d:\d\d\.\d{6}-\d+,DBPOSTGRS,`)
)

// A loss of 1 % is seen: answers that were others, and statements that the log lacks.
func TestRun_APlantedLossIsSeen(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, change := range map[string]func([]byte) []byte{
		"other answers": func(log []byte) []byte {
			return answered.ReplaceAllFunc(log, func(m []byte) []byte {
				if rng.IntN(100) == 0 {
					return []byte("RowsAffected=77")
				}
				return m
			})
		},
		"no statements": func(log []byte) []byte {
			return logged.ReplaceAllFunc(log, func(m []byte) []byte {
				if rng.IntN(100) == 0 {
					return bytes.Replace(m, []byte("DBPOSTGRS"), []byte("OTHER"), 1)
				}
				return m
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := replay.Run(t.Context(), ofDay(t, day(t).Folder(t, change), 4))
			if err != nil {
				t.Fatal(err)
			}
			balanced(t, r.Fidelity)
			if r.Fidelity.Faithful() || !strings.Contains(r.Says(), "do not trust") {
				t.Error(r.Says())
			}
		})
	}
}

// written is a log of events of one client, 10 ms after each other, or later where a time is given.
func written(t *testing.T, events ...techlog.Event) string {
	t.Helper()
	var text []byte
	at := time.Date(2026, 11, 28, 10, 0, 1, 0, time.UTC)
	for _, e := range events {
		at = cmp.Or(e.At, at.Add(10*time.Millisecond))
		e.At = at
		e.Fields = append([]techlog.Field{{Name: "process", Value: "rphost"}, {Name: "t:clientID", Value: "7"}},
			e.Fields...)
		text = e.Append(text)
	}
	path := filepath.Join(t.TempDir(), "26112810.log")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func sql(text, trans, rows, result string, further ...string) techlog.Event {
	e := techlog.Event{Name: "DBPOSTGRS", Duration: time.Millisecond, Fields: []techlog.Field{
		{Name: "DataBase", Value: `host\trade`}, {Name: "Trans", Value: trans}, {Name: "dbpid", Value: "11"},
		{Name: "Sql", Value: text}, {Name: "RowsAffected", Value: rows}, {Name: "Result", Value: result}}}
	for i := 0; i < len(further); i += 2 {
		e.Fields = append(e.Fields, techlog.Field{Name: further[i], Value: further[i+1]})
	}
	return e
}

func event(name string, fields ...string) techlog.Event {
	e := techlog.Event{Name: name}
	for i := 0; i < len(fields); i += 2 {
		e.Fields = append(e.Fields, techlog.Field{Name: fields[i], Value: fields[i+1]})
	}
	return e
}

// Transactions that are only in the fields are whole; errors, parameters and what is left out are as in the log.
func TestRun_WhatOnlyTheFieldsOfALogTell(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	clustertest.Exec(t, dsn, "CREATE TABLE _reference1 (_code text PRIMARY KEY, _fld1 numeric, _at timestamp, "+
		"_ref bytea)")
	const well, failed = "PGRES_COMMAND_OK", "PGRES_FATAL_ERROR"
	other := sql("SELECT 2", "0", "1", "PGRES_TUPLES_OK")
	other.Fields[0].Value = `server\base`
	path := written(t,
		sql("INSERT INTO _reference1 VALUES ($1, $2, $3, $4)", "0", "1", well, "Prm",
			"\np_0: 'it''s,\np: 1'\np_1: 17.5N\np_2: 20261128101500T\np_3: 0x80C5\n"),
		sql("INSERT INTO _reference1 VALUES ('b')", "1", "1", well),
		sql("INSERT INTO _reference1 VALUES ('c')", "1", "1", well),
		event("SDBL", "Func", "RollbackTransaction"),
		sql("INSERT INTO _reference1 VALUES ('d')", "1", "1", well),
		sql("SELECT * FROM _reference1", "0", "2", "PGRES_TUPLES_OK"), // outside: what came before was committed
		sql("INSERT INTO _reference1 VALUES ('d')", "0", "0", failed),
		event("EXCP", "Descr", "DBMS error:\n23505: ERROR:  duplicate key"),
		sql("INSERT INTO _reference1 VALUES ('d')", "0", "0", failed),
		event("EXCP", "Descr", "DBMS error:\n42P01: ERROR:  no table"),
		sql("SELECT 1/0", "0", "0", failed), // nothing says how
		sql("SELECT $1", "0", "1", "PGRES_TUPLES_OK"),
		other,
		techlog.Event{Name: "DBMSSQL", Fields: []techlog.Field{{Name: "Sql", Value: "SELECT 3"}}},
		event("TLOCK", "WaitConnections", "5"), event("TTIMEOUT"),
		event("CALL", "Context", "Document.Sale.Post"))
	o := options(t, path, dsn, 1)
	o.Database = "trade"
	r, err := replay.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	f := r.Fidelity
	balanced(t, f)
	if f.Made != 4 || f.Alike != 2 || f.Other["42P01 → 23505"] != 1 || f.LeftOut[replay.NoValues] != 1 ||
		f.LeftOut[replay.OtherDBMS] != 1 ||
		f.LeftOut[replay.OtherBase] != 1 || f.Managed != (replay.ManagedLocks{Locks: 1, Waits: 1, Timeouts: 1}) ||
		f.Rows.Equal != f.Rows.Compared || f.Rows.Compared != 5 {
		t.Errorf("%+v", f)
	}
	got := clustertest.Value(t, dsn, `SELECT string_agg(_code || coalesce(
		' ' || _fld1 || ' ' || _at || ' ' || _ref::text, ''), ';' ORDER BY _code) FROM _reference1`)
	if want := "d;it's,\np: 1 17.5 2026-11-28 10:15:00 \\x80c5"; got != want {
		t.Errorf("the table holds %q, want %q", got, want)
	}
	if r.Recorded.Calls != 1 || r.Replayed.Operations[0].Zones.Frustrated != 1 {
		t.Errorf("a call that lost a managed lock: %+v", r.Replayed.Operations)
	}
}

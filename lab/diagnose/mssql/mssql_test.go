package mssql_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/event"
	"plimsoll/lab/diagnose/mssql"
)

func snapshot(at string, writelogMS, transactions int) string {
	return fmt.Sprintf(`{"plimsoll":"mssql-snapshot-1","at":"%s","version":"15.0.2000","started":"2026-11-01T00:00:00",
"cpus":8,"cpu_ms":%d,"transactions":%d,"waits":[{"type":"WRITELOG","tasks":10,"ms":%d,"signal_ms":%d},
{"type":"LAZYWRITER_SLEEP","tasks":1,"ms":%d,"signal_ms":0},{"type":"NEW_WAIT","tasks":1,"ms":7,"signal_ms":0}],
"files":[{"base":"tempdb","kind":"ROWS","reads":1,"read_ms":2,"writes":%d,"write_ms":%d}],
"spinlocks":[{"name":"LOGCACHE_ACCESS","collisions":%d,"spins":%d,"backoffs":1}],
"queries":[{"hash":"0x1","text":"SELECT 1","calls":9,"ms":5,"cpu_ms":5,"pages":1},
{"hash":"0x2","text":"UPDATE a","calls":%[2]d,"ms":%[11]d,"cpu_ms":%[2]d,"pages":%[2]d}]}`, at, transactions,
		transactions, writelogMS, writelogMS/10, writelogMS*9, transactions, 2*transactions, transactions,
		1000*transactions, 3*transactions)
}

func parse(t *testing.T, text string) *mssql.Snapshot {
	t.Helper()
	s, err := mssql.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSubtract(t *testing.T) {
	before := parse(t, snapshot("2026-11-28T10:00:00.123Z", 1000, 50))
	after := parse(t, snapshot("2026-11-28T10:01:40.123Z", 6000, 1050))
	w, err := mssql.Subtract(before, after)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Waits) != 1 || w.Waits[0] != (mssql.Wait{Type: "WRITELOG", MS: 5000, SignalMS: 500}) || w.IdleS != 45 ||
		w.Length.Seconds() != 100 || *w.CPUS != 1 || *w.Transactions != 1000 {
		t.Errorf("%+v", w)
	}
	if len(w.Files) != 1 || w.Files[0].Writes != 1000 || w.Files[0].WriteMS != 2000 || w.Files[0].Reads != 0 ||
		len(w.Spinlocks) != 1 || w.Spinlocks[0].Spins != 1e6 {
		t.Errorf("%+v, %+v", w.Files, w.Spinlocks)
	}
	if want := (mssql.Query{Hash: "0x2", Text: "UPDATE a", Calls: 1000, MS: 3000, CPUMS: 1000, Pages: 1000}); len(
		w.Queries) != 1 || w.Queries[0] != want {
		t.Errorf("%+v, want %+v alone", w.Queries, want)
	}
	before.Queries[1].Calls = 9000 // the store has dropped old ones since
	if w, err := mssql.Subtract(before, after); err != nil || len(w.Queries) != 0 {
		t.Errorf("%+v, %v", w.Queries, err)
	}
	for name, broken := range map[string][2]string{
		"the same moment":  {snapshot("2026-11-28T10:00:00Z", 1, 1), snapshot("2026-11-28T10:00:00Z", 2, 2)},
		"sums that shrink": {snapshot("2026-11-28T10:00:00Z", 10, 1), snapshot("2026-11-28T10:01:00Z", 5, 2)},
		"another start": {snapshot("2026-11-28T10:00:00Z", 1, 1),
			strings.Replace(snapshot("2026-11-28T10:01:00Z", 2, 2), "11-01", "11-28", 1)},
	} {
		if _, err := mssql.Subtract(parse(t, broken[0]), parse(t, broken[1])); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// Clients break values into lines, and write UTF-16.
func TestParse_AsClientsWriteIt(t *testing.T) {
	whole := snapshot("2026-11-28T10:00:00Z", 1000, 50)
	broken := strings.ReplaceAll(whole, "WRITE", "WRI\r\nTE")
	utf16 := []byte{0xff, 0xfe}
	for _, c := range whole {
		utf16 = append(utf16, byte(c), byte(c>>8))
	}
	for name, text := range map[string][]byte{"whole": []byte(whole), "broken": []byte("\r\n" + broken + "\r\n"),
		"UTF-16": utf16} {
		s, err := mssql.Parse(text)
		if err != nil || s.Waits[0].Type != "WRITELOG" || s.Waits[0].MS != 1000 {
			t.Errorf("%s: %v, %+v", name, err, s)
		}
	}
	for _, text := range []string{"", "{}", `{"plimsoll":"mssql-snapshot-2"}`,
		`{"plimsoll":"mssql-snapshot-1","at":"x"}`,
		strings.Replace(whole, "2026-11-28T", "28.11.2026 ", 1), whole[:100]} {
		if s, err := mssql.Parse([]byte(text)); err == nil {
			t.Errorf("%q is taken: %+v", text, s)
		}
	}
	if _, err := mssql.Parse([]byte(`{"a":1}`)); !errors.Is(err, mssql.ErrNone) {
		t.Error(err)
	}
}

// What the dictionary names of PostgreSQL exists there.
func TestOf_NamesEventsThatExist(t *testing.T) {
	named := regexp.MustCompile(`\b(LWLock|IO|Lock|IPC|Client|Timeout):(\w+)`)
	for _, wait := range []string{"PAGELATCH_UP", "PAGEIOLATCH_SH", "WRITELOG", "LOGBUFFER", "LOGMGR_FLUSH", "LCK_M_X",
		"CXPACKET", "CXCONSUMER", "CXSYNC_PORT", "ASYNC_NETWORK_IO", "ASYNC_IO_COMPLETION", "IO_COMPLETION",
		"WRITE_COMPLETION", "BACKUPIO", "SPINLOCK_EXT", "HADR_SYNC_COMMIT", "WAITFOR", "EXECSYNC"} {
		m := mssql.Of(wait)
		if m.Idle || m.Stands == "" || m.Class == "" {
			t.Errorf("%s: %+v", wait, m)
		}
		for _, n := range named.FindAllStringSubmatch(m.Stands, -1) {
			if _, known := event.Of(waits.Event{Type: n[1], Name: n[2]}); !known {
				t.Errorf("%s: PostgreSQL has no %s", wait, n[0])
			}
		}
	}
	if m := mssql.Of("SOMETHING_NEW"); m.Idle || m.Class == "" {
		t.Errorf("an unknown wait disappears: %+v", m)
	}
	if m := mssql.Of("HADR_WORK_QUEUE"); !m.Idle {
		t.Errorf("a task that waits for work: %+v", m)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(snapshot("2026-11-28T10:00:00Z", 1000, 50)))
	f.Add([]byte{0xff, 0xfe, '{', 0, '}', 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := mssql.Parse(text)
		if err == nil {
			_, _ = mssql.Subtract(s, s)
		}
	})
}

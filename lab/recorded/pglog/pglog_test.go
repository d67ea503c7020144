package pglog_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/lab/recorded/lines"
	"plimsoll/lab/recorded/pglog"
)

const record = `2026-11-28 10:00:01.250 UTC,"u","shop",7,"127.0.0.1:5000",6740.7,3,"SELECT",2026-11-28 09:00:00 UTC,` +
	`3/4,0,LOG,00000,"duration: 12.500 ms  statement: SELECT 'a, ""b""'
  FROM orders",,,,,,,,,"shop web","client backend",,0` + "\n"

func read(t interface{ Fatal(...any) }, format pglog.Format, prefix, text string) ([]pglog.Entry, lines.Unread) {
	var p *pglog.Prefix
	if prefix != "" {
		var err error
		if p, err = pglog.ParsePrefix(prefix); err != nil {
			t.Fatal(err)
		}
	}
	r := pglog.NewReader(strings.NewReader(text), "log", format, p, time.UTC)
	var all []pglog.Entry
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, r.Unread
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
}

func TestReader_ReadsOneEntryAlikeInAllFormats(t *testing.T) {
	want := pglog.Entry{At: time.Date(2026, 11, 28, 10, 0, 1, 250e6, time.UTC), Process: "7", Session: "6740.7",
		User: "u", Database: "shop", Application: "shop web", Transaction: "3/4", Severity: "LOG", State: "00000",
		Message: "duration: 12.500 ms  statement: SELECT 'a, \"b\"'\n  FROM orders"}
	for format, text := range map[pglog.Format]string{
		pglog.CSV: record,
		pglog.JSON: `{"timestamp":"2026-11-28 10:00:01.250 UTC","user":"u","dbname":"shop","pid":7,` +
			`"session_id":"6740.7","vxid":"3/4","error_severity":"LOG","state_code":"00000",` +
			`"message":"duration: 12.500 ms  statement: SELECT 'a, \"b\"'\n  FROM orders",` +
			`"application_name":"shop web","backend_type":"client backend","query_id":0}` + "\n",
		pglog.Stderr: "2026-11-28 10:00:01.250 UTC [7] 6740.7 u@shop 3/4 00000 app=shop web " +
			"LOG:  duration: 12.500 ms  statement: SELECT 'a, \"b\"'\n\t  FROM orders\n",
	} {
		got, unread := read(t, format, "%m [%p] %c %u@%d %v %e app=%a ", text)
		if diff := cmp.Diff([]pglog.Entry{want}, got); diff != "" || unread.Events > 0 {
			t.Errorf("%s: %+v\n%s", format, unread, diff)
		}
		s, is := got[0].Timed()
		if !is || s.Duration != 12_500*time.Microsecond || s.Kind != pglog.Simple ||
			!strings.HasPrefix(s.Text, "SELECT 'a") {
			t.Errorf("%s: %v %+v", format, is, s)
		}
	}
}

// A time is the same moment on every machine, however its zone is written.
func TestReader_ReadsTimesOfOtherZones(t *testing.T) {
	moscow, here := time.FixedZone("MSK", 3*60*60), time.FixedZone("HERE", -2*60*60)
	for text, c := range map[string]struct {
		zone *time.Location
		utc  string
	}{
		"2026-11-28 10:00:01.250 UTC":    {here, "10:00:01.25"},
		"2026-11-28 10:00:01 GMT":        {here, "10:00:01"},
		"2026-11-28 10:00:01.250 +04":    {time.UTC, "06:00:01.25"},
		"2026-11-28 10:00:02.250 +04":    {here, "06:00:02.25"},
		"2026-11-28 10:00:01 +03":        {moscow, "07:00:01"},
		"2026-11-28 10:00:01 -03":        {time.UTC, "13:00:01"},
		"2026-11-28 10:00:01 -00":        {here, "10:00:01"},
		"2026-11-28 10:00:01.5 +0545":    {here, "04:15:01.5"},
		"2026-11-28 10:00:01 -0930":      {here, "19:30:01"},
		"2026-11-28 10:00:01 +05:30":     {here, "04:30:01"},
		"2026-11-28 10:00:01 MSK":        {moscow, "07:00:01"},
		"2026-11-28 10:00:01 XYZ":        {here, "12:00:01"}, // no machine knows how far that is
		"2026-11-28T10:00:01.250Z":       {here, "10:00:01.25"},
		"2026-11-28T10:00:01.250+04:00":  {here, "06:00:01.25"},
		"2026-11-28 10:00:01.250 +04000": {here, ""},
		"2026-11-28 25:00:01 +04":        {here, ""},
		"tomorrow +04":                   {here, ""},
	} {
		r := pglog.NewReader(strings.NewReader(`{"timestamp":"`+text+`","error_severity":"LOG","message":"x"}`+"\n"),
			"log", pglog.JSON, nil, c.zone)
		e, err := r.Next()
		got := ""
		if err == nil {
			got = e.At.UTC().Format("15:04:05.999")
		}
		if got != c.utc {
			t.Errorf("%s read in %s is %q in UTC, want %q", text, c.zone, got, c.utc)
		}
	}
	got, _ := read(t, pglog.Stderr, "%m [%p] ", "2026-11-28 10:00:01.250 +04 [7] LOG:  x\n")
	if len(got) != 1 || got[0].At.UTC().Hour() != 6 {
		t.Errorf("in the format stderr: %+v", got)
	}
}

func TestReader_OneBrokenEntryTakesNoOther(t *testing.T) {
	broken := strings.Replace(record, `""b""'`, `""b`, 1)
	for name, c := range map[string]struct {
		format       pglog.Format
		text         string
		read, unread int
	}{
		"quotes that never end":   {pglog.CSV, record + broken[:150] + "\n" + record, 2, 1},
		"cut at the end":          {pglog.CSV, record + record[:120], 1, 1},
		"few columns":             {pglog.CSV, "2026-11-28 10:00:01 UTC,\"u\",\"d\",7,x\n" + record, 1, 1},
		"half an object":          {pglog.JSON, "{\"timestamp\":\"2026\n\n", 0, 1},
		"no time":                 {pglog.JSON, "{\"error_severity\":\"LOG\"}\n", 0, 1},
		"somebody else's line":    {pglog.Stderr, "cp: no space\n2026-11-28 10:00:01 UTC [7] LOG:  x\n", 1, 1},
		"an attachment alone":     {pglog.Stderr, "2026-11-28 10:00:01 UTC [7] DETAIL:  x\n", 0, 1},
		"a language not known":    {pglog.Stderr, "2026-11-28 10:00:01 UTC [7] PROTOKOLL:  x\n", 0, 1},
		"a tab before everything": {pglog.Stderr, "\tx\n2026-11-28 10:00:01 UTC [7] LOG:  x\n", 1, 1},
	} {
		got, unread := read(t, c.format, "%t [%p] ", c.text)
		if len(got) != c.read || int(unread.Events) != c.unread || len(unread.Examples) != c.unread {
			t.Errorf("%s: read %d, expected %d; unread %+v, expected %d", name, len(got), c.read, unread, c.unread)
		}
	}
}

func TestReader_AttachmentsBelongToTheirEntry(t *testing.T) {
	const prefix = "%m [%p] %q%u@%d "
	got, unread := read(t, pglog.Stderr, prefix, `2026-11-28 10:00:01.250 UTC [7] u@d ERROR:  deadlock detected
2026-11-28 10:00:01.250 UTC [7] u@d DETAIL:  Process 7 waits
	for process 8.
2026-11-28 10:00:01.250 UTC [7] u@d HINT:  See server log.
2026-11-28 10:00:01.250 UTC [7] u@d STATEMENT:  UPDATE t
	SET n = 1
2026-11-28 10:00:02.250 UTC [1] LOG:  checkpoint starting: time
2026-11-28 10:00:03.250 UTC [7] u@d СООБЩЕНИЕ:  продолжительность: 3.250 мс, выполнение <unnamed>: SELECT 1
2026-11-28 10:00:04.250 UTC [7] u@d LOG:  process 7 acquired ShareLock on transaction 9 after 1500.250 ms
`)
	if len(got) != 4 || unread.Events > 0 {
		t.Fatalf("%d entries, expected 4; unread %+v", len(got), unread)
	}
	if e := got[0]; !e.Failed() || e.Detail != "Process 7 waits\nfor process 8." ||
		e.Statement != "UPDATE t\nSET n = 1" {
		t.Errorf("%+v", e)
	}
	if e := got[1]; e.User != "" || e.Process != "1" {
		t.Errorf("a process without a session: %+v", e)
	}
	if s, is := got[2].Timed(); !is || s.Kind != pglog.Execute || s.Text != "SELECT 1" ||
		s.Duration != 3250*time.Microsecond {
		t.Errorf("in Russian: %v, %+v", is, s)
	}
	if d, is := got[3].LockWait(); !is || d != 1500_250*time.Microsecond {
		t.Errorf("lock: %v, %v", is, d)
	}
}

func TestParsePrefix_RefusesWhatCannotTellSessions(t *testing.T) {
	for _, setting := range []string{"", "%m ", "[%p] ", "%m [%p] %z", "%m [%p] %"} {
		if _, err := pglog.ParsePrefix(setting); err == nil {
			t.Errorf("%q is taken", setting)
		}
	}
	for _, setting := range append(pglog.Prefixes, "%n %-10p %10u %%", "%m [%p] %q%q%u ") {
		if _, err := pglog.ParsePrefix(setting); err != nil {
			t.Error(err)
		}
	}
}

func TestFiles_OneFormatOfEachAndTheOldestFirst(t *testing.T) {
	dir := t.TempDir()
	line := func(hour int) string { return fmt.Sprintf("2026-11-28 %02d:00:00 UTC [7] LOG:  x\n", hour) }
	for name, text := range map[string]string{
		"b.log": line(9), "b.csv": strings.Replace(record, "10:00:01.250", "09:00:00.000", 1),
		"18-main.log": line(12), "18-main.log.1": line(11), "empty.log": "", "notes.txt": "x",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := pglog.Files([]string{dir}, nil, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f.Path)+" "+string(f.Format))
	}
	if diff := cmp.Diff([]string{"b.csv csvlog", "18-main.log.1 stderr", "18-main.log stderr"}, names); diff != "" {
		t.Error(diff)
	}
	strange := filepath.Join(dir, "strange.log")
	if err := os.WriteFile(strange, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pglog.Files([]string{strange}, nil, time.UTC); !errors.Is(err, pglog.ErrPrefix) {
		t.Errorf("%v, expected that no prefix fits", err)
	}
}

// Whatever stands in a file, each byte of it is in an entry or counted as unread, and reading ends.
func FuzzReader(f *testing.F) {
	f.Add(record, 0)
	f.Add(record[:120]+"\n"+record, 0)
	f.Add(`{"timestamp":"2026-11-28 10:00:01.250 UTC","error_severity":"LOG","message":"x"}`, 1)
	f.Add("2026-11-28 10:00:01 UTC [7] LOG:  a\n\tb\n2026-11-28 10:00:01 UTC [7] DETAIL:  c\n", 2)
	f.Fuzz(func(t *testing.T, text string, which int) {
		format := []pglog.Format{pglog.CSV, pglog.JSON, pglog.Stderr}[uint(which)%3]
		got, unread := read(t, format, "%t [%p] ", text)
		if strings.TrimSpace(strings.Trim(text, "\uFEFF")) != "" && len(got) == 0 && unread.Events == 0 {
			t.Errorf("nothing of %q was read or counted", text)
		}
		for _, e := range got {
			e.Timed()
			e.LockWait()
		}
	})
}

package techlog_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"plimsoll/lab/recorded/lines"
	"plimsoll/lab/recorded/techlog"
)

var hour = time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)

func read(t interface{ Fatal(...any) }, text string) ([]techlog.Event, lines.Unread) {
	r := techlog.NewReader(strings.NewReader(text), "26112810.log", hour)
	var all []techlog.Event
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, r.Unread
		}
		if err != nil {
			t.Fatal("a reader of a text failed:", err)
		}
		all = append(all, e)
	}
}

func TestReader_ReadsWhatServersWrite(t *testing.T) {
	const log = "\uFEFF27:17.239002-15976,DBPOSTGRS,3,level=DEBUG,process=rphost,t:clientID=622," +
		"DataBase=host\\base,Trans=0," +
		"dbpid=,Sql=\"select 'it''s', \"\"a\"\", $1\nfrom t\",planSQLText='Result  (cost=0.00)\n  Output: " +
		"1\n',Prm=\"\np_0: 1N\n\"," +
		"RowsAffected=1,Result=PGRES_TUPLES_OK\r\n" +
		"27:17.240000-0,TLOCK,5,process=rphost,t:clientID=622,Regions=InfoRg1.DIMS,Locks='InfoRg1.DIMS Exclusive " +
		"Fld2=\"A, B\"',WaitConnections=17,Context=Документ.Заказ.МодульОбъекта : 12 : Записать()\n" +
		"\n" +
		"59:59.999999-1000000,CALL,0,process=rphost,Context='\n\tФорма.Вызов : " +
		"Документ.Заказ.Форма.Ф.Модуль.Провести\n" +
		"\tДокумент.Заказ.МодульОбъекта : 12 : Запись();'\n" +
		"00:00.0001-5,SCOM,1\n"
	got, unread := read(t, log)
	if unread.Events != 0 {
		t.Fatalf("%d events unread, want none: %+v", unread.Events, unread.Examples)
	}
	if len(got) != 4 {
		t.Fatalf("%d events, want 4: %+v", len(got), got)
	}
	sql := got[0]
	if want := hour.Add(27*time.Minute + 17*time.Second + 239002*time.Microsecond); !sql.At.Equal(want) ||
		sql.Duration != 15976*time.Microsecond || sql.Name != "DBPOSTGRS" {
		t.Errorf("event %+v, want DBPOSTGRS at %s, of 15.976 ms", sql, want)
	}
	for name, want := range map[string]string{"Sql": "select 'it''s', \"a\", $1\nfrom t", "dbpid": "",
		"planSQLText": "Result  (cost=0.00)\n  Output: 1\n", "Prm": "\np_0: 1N\n", "Result": "PGRES_TUPLES_OK",
		"DataBase": `host\base`} {
		if got := sql.Value(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if got, want := got[1].Value("Locks"), `InfoRg1.DIMS Exclusive Fld2="A, B"`; got != want {
		t.Errorf("locks %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{"Форма.Вызов : Документ.Заказ.Форма.Ф.Модуль.Провести",
		"Документ.Заказ.МодульОбъекта : 12 : Запись();"}, got[2].Context()); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	if got := got[3]; got.Duration != 500*time.Microsecond || !got.At.Equal(hour.Add(100*time.Microsecond)) {
		t.Errorf("version 8.2: %+v, want tenths of milliseconds", got)
	}
}

func TestReader_ReadsJSON(t *testing.T) {
	const log = `{"ts":"2026-11-28T09:15:01.000250","duration":"1500","name":"CALL","depth":"1","level":"INFO",` +
		`"process":"rphost","t:clientID":"7","Context":"a\nb","Usr":"","Usr":"Анна","Memory":12}` + "\n" +
		`{"ts":"2026-11-28T09:15:02","duration":"x","name":"CALL"}` + "\n" + `{"broken` + "\n"
	got, unread := read(t, log)
	if len(got) != 1 || unread.Events != 2 {
		t.Fatalf("%d events and %d unread, want 1 and 2: %+v", len(got), unread.Events, unread)
	}
	want := techlog.Event{At: time.Date(2026, 11, 28, 9, 15, 1, 250_000, time.UTC), Duration: 1500 * time.Microsecond,
		Name: "CALL", Fields: []techlog.Field{{"process", "rphost"}, {"t:clientID", "7"}, {"Context", "a\nb"}, {"Usr",
			""},
			{"Usr", "Анна"}, {"Memory", "12"}}}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if got[0].Value("Usr") != "Анна" {
		t.Errorf("of a key that occurs twice %q was taken, want the one that says something", got[0].Value("Usr"))
	}
}

// A server that was killed leaves quotes open. That event is lost, and said to be; the next ones are not.
func TestReader_ABrokenEventTakesNoOther(t *testing.T) {
	const log = "00:01.000000-1,SDBL,3,process=rphost,Sdbl='SELECT\n" +
		"00:02.000000-1,CALL,1,process=rphost,Context=A\n" +
		"no event at all\n" +
		"00:03.000000-1,CALL,1,level=INFO,process=rphost,Context='B\n00:04.000000-1,CALL,inside of a value\n'\n" +
		"00:05.000000-9999999999999999999,CALL,1,process=rphost\n" +
		"00:06.000000-1,CALL,1,process=rphost,x='a'b,c\n" +
		"00:07.000000-1,CALL,1,process=rphost,Context=C"
	got, unread := read(t, log)
	var names []string
	for _, e := range got {
		names = append(names, strings.ReplaceAll(e.Value("Context"), "\n", "|"))
	}
	want := []string{"A|no event at all", "B|00:04.000000-1,CALL,inside of a value|", "C"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("contexts (-want +got):\n%s", diff)
	}
	if unread.Events != 3 || unread.Examples[0].Line != 1 {
		t.Errorf("unread %+v, want 3 events, the first in line 1", unread)
	}
}

func TestReader_AnEventThatIsTooLongIsCounted(t *testing.T) {
	log := "00:01.000000-1,DBPOSTGRS,3,process=rphost,Sql='" + strings.Repeat("x\n", techlog.EventBytesMost) + "'\n" +
		"00:02.000000-1,CALL,1,process=rphost,Context=A\n"
	got, unread := read(t, log)
	if len(got) != 1 || unread.Events != 1 {
		t.Errorf("%d events and %d unread, want one of each", len(got), unread.Events)
	}
}

func TestReader_ReadsBackWhatIsWritten(t *testing.T) {
	value := rapid.StringOfN(rapid.SampledFrom([]rune(`ab,='"`+"\n{}-:0Я")), 0, 30, -1)
	rapid.Check(t, func(t *rapid.T) {
		var want []techlog.Event
		var log strings.Builder
		for range rapid.IntRange(1, 5).Draw(t, "events") {
			e := techlog.Event{At: hour.Add(time.Duration(rapid.Int64Range(0, 3_599_999_999).Draw(t,
				"at")) * time.Microsecond),
				Duration: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "took")) * time.Microsecond,
				Name:     rapid.SampledFrom([]string{"CALL", "DBPOSTGRS", "DB2"}).Draw(t, "name")}
			for i := range rapid.IntRange(0, 3).Draw(t, "fields") {
				e.Fields = append(e.Fields, techlog.Field{Name: fmt.Sprint("f", i), Value: value.Draw(t, "value")})
			}
			e.Fields = append([]techlog.Field{{"process", "rphost"}}, e.Fields...)
			log.Write(e.Append(nil))
			want = append(want, e)
		}
		got, unread := read(t, log.String())
		if diff := cmp.Diff(want, got); diff != "" || unread.Events > 0 {
			t.Fatalf("of %q, unread %+v (-want +got):\n%s", log.String(), unread, diff)
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add("00:01.000000-1,SDBL,3,process=rphost,Sdbl='SELECT\n00:02.000000-1,CALL,1,process=rphost,Context=A\n")
	f.Add(`{"ts":"2026-11-28T09:15:01.000250","duration":"1","name":"CALL","a":{"b":[1]},"a":null}`)
	f.Add("00:00.0001-5,SCOM,1\n,,=''\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, unread := read(t, text)
		if strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF")) != "" && len(got) == 0 && unread.Events == 0 {
			t.Errorf("of %q nothing was read, and nothing was counted as unread", text)
		}
	})
}

func TestFiles_AreThoseOfTheHours(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"rphost_2/26112811.log", "rphost_1/26112810.log.gz", "rphost_1/26112811.log",
		"rphost_1/readme.txt"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal("make a folder:", err)
		}
		file, err := os.Create(path)
		if err != nil {
			t.Fatal("create a log:", err)
		}
		zip := gzip.NewWriter(file)
		_, err = zip.Write([]byte("00:02.000000-1,CALL,1,process=rphost,Context=A\n"))
		if err := errors.Join(err, zip.Close(), file.Close()); err != nil {
			t.Fatal("write a log:", err)
		}
	}
	files, err := techlog.Files([]string{dir, filepath.Join(dir, "rphost_1/26112811.log")}, time.UTC)
	if err != nil {
		t.Fatal("find the files:", err)
	}
	var got []string
	for _, f := range files {
		got = append(got, fmt.Sprintf("%s %d %s", f.Process, f.Hour.Hour(), filepath.Base(f.Path)))
	}
	if diff := cmp.Diff([]string{"rphost_1 10 26112810.log.gz", "rphost_1 11 26112811.log", "rphost_2 11 26112811.log"},
		got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	r, file, err := files[0].Open(func(int) {})
	if err != nil {
		t.Fatal("open a compressed log:", err)
	}
	defer func() { _ = file.Close() }()
	if e, err := r.Next(); err != nil || e.Value("Context") != "A" {
		t.Errorf("the first event of a compressed log is %+v, %v; want context A", e, err)
	}
	if _, err := techlog.Files([]string{filepath.Join(dir, "rphost_1/readme.txt")}, time.UTC); err == nil {
		t.Error("a file without an hour in its name was taken")
	}
}

func TestClock_FindsACoarseTick(t *testing.T) {
	for _, c := range []struct {
		name string
		tick time.Duration
		want bool
	}{{"15.6 ms", 15_625 * time.Microsecond, true}, {"a microsecond", time.Microsecond, false}} {
		t.Run(c.name, func(t *testing.T) {
			var clock techlog.Clock
			for i := range 2000 {
				// Events come at any time; the clock shows its last tick, and a serial number behind it.
				at := time.Duration(i*i%7919) * 7 * time.Microsecond
				at += time.Duration(i) * 9 * time.Millisecond
				shown := at.Truncate(c.tick)
				clock.See(&techlog.Event{At: hour.Add(shown.Truncate(time.Millisecond) +
					time.Duration(i%10)*time.Microsecond)})
			}
			got := clock.Tick()
			if c.want && (got-c.tick).Abs() > time.Millisecond || !c.want && got != 0 {
				t.Errorf("tick %s, want %s (%v)", got, c.tick, c.want)
			}
		})
	}
}

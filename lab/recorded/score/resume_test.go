package score_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"plimsoll/lab/recorded/lines"
	"plimsoll/lab/recorded/score"
)

// grown is a log in one of the formats, with what cannot be read among its entries.
type grown struct {
	name, rotated string // of its file, before and after
	text          func(n int) string
	broken        string
}

const (
	csvLine = `2026-11-28 %s UTC,"u","shop",%d,"127.0.0.1:5000",%d.7,3,"SELECT",2026-11-28 09:00:00 UTC,3/0,0,LOG,` +
		`00000,"duration: %d.500 ms  statement: SELECT 'a, ""b""'` + "\n" +
		`  FROM t%d",,,,,,,,,"shop web","client backend",,0` + "\n"
	jsonLine = `{"timestamp":"2026-11-28 %s UTC","user":"u","dbname":"shop","pid":%d,"error_severity":"LOG",` +
		`"message":"duration: %d.500 ms  statement: SELECT 1 FROM t%d"}` + "\n"
	plainLines = "2026-11-28 %s UTC [%d] u@shop LOG:  duration: %d.250 ms  statement: UPDATE t%d\n\tSET n = 1\n"
	errorLines = "2026-11-28 %s UTC [%d] u@shop ERROR:  deadlock detected\n" +
		"2026-11-28 %[1]s UTC [%[2]d] u@shop DETAIL:  x\n\ty\n" +
		"2026-11-28 %[1]s UTC [%[2]d] u@shop STATEMENT:  UPDATE t1\n"
)

func growing() map[string]grown {
	at := func(n int) string {
		return time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC).Add(time.Duration(n) * 170 * ms).Format("15:04:05.000")
	}
	return map[string]grown{
		"stderr": {"postgresql.log", "postgresql.log.1.gz", func(n int) string {
			text := fmt.Sprintf(plainLines, at(n), n%7+1, n%90, n%3)
			if n%5 == 0 {
				text += fmt.Sprintf(errorLines, at(n), n%7+1)
			}
			return text
		}, "cp: no space\n"},
		"csvlog": {"postgresql.csv", "postgresql.csv.gz", func(n int) string {
			return fmt.Sprintf(csvLine, at(n), n%7, n%7, n%90, n%3)
		}, "2026-11-28 10:00:01 UTC,\"u\",\"d\",7,x\n"},
		"jsonlog": {"postgresql.json", "postgresql.json.gz", func(n int) string {
			return fmt.Sprintf(jsonLine, at(n), n%7, n%90, n%3)
		}, "{\"timestamp\":\"2026\n"},
		"1c": {"rphost_1/26112810.log", "rphost_1/26112810.log.gz", func(n int) string {
			second := 1 + float64(n)*0.17
			return event(second, 10*ms, "DBPOSTGRS", fmt.Sprintf(",Sql='SELECT\n%d'", n)) + "\n" +
				call(second+0.01, 50*ms, fmt.Sprintf("Op.%d", n%3)) + "\n" +
				event(second+0.02, 10*ms, "DBPOSTGRS", ",Sql=x") + "\n"
		}, "00:01.000000-1,CALL,1,process=rphost,x='a'y\n"},
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if strings.HasSuffix(path, ".gz") {
		var b bytes.Buffer
		out := gzip.NewWriter(&b)
		_, err := out.Write(text)
		if err = errors.Join(err, out.Close()); err != nil {
			t.Fatal(err)
		}
		text = b.Bytes()
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// sameScore but for where it was read.
func sameScore(t *testing.T, what string, want, got *score.Result) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(score.Result{}, "Resumed", "Bytes", "Files"),
		cmpopts.IgnoreFields(lines.Example{}, "File")); diff != "" {
		t.Errorf("%s (-at once +read on):\n%s", what, diff)
	}
}

func resumed(t *testing.T, o score.Options) *score.Result {
	t.Helper()
	r, err := score.Read(t.Context(), o)
	for _, not := range []error{score.ErrNoCalls, score.ErrNoStatements, score.ErrNoLog, score.ErrResumeCalls} {
		if errors.Is(err, not) { // yet
			return nil
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// However a log grows, and wherever it ends meanwhile, each entry counts once, and what cannot be read, too.
func TestRead_ResumedCountsEachEntryOnce(t *testing.T) {
	for format, g := range growing() {
		t.Run(format, func(t *testing.T) {
			for seed := range uint64(8) {
				rng := rand.New(rand.NewPCG(seed, 2))
				var all bytes.Buffer
				for n := range 60 {
					all.WriteString(g.text(n))
					if n == 20 || n == 40 {
						all.WriteString(g.broken)
					}
				}
				dir := t.TempDir()
				o := score.Options{Paths: []string{dir}, Zone: time.UTC, Target: 20 * ms}
				once := o
				o.Resume = filepath.Join(t.TempDir(), "score.json")
				text := all.Bytes()
				for end := 0; end < len(text); {
					end = min(end+1+rng.IntN(len(text)/5), len(text))
					write(t, filepath.Join(dir, g.name), text[:end])
					if end < 300 {
						continue // too little to tell the format
					}
					if r := resumed(t, o); r != nil && r.Resumed == nil || r != nil && len(r.Resumed.Notes) > 0 {
						t.Fatalf("%+v", r.Resumed)
					}
				}
				if err := os.Remove(filepath.Join(dir, g.name)); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, g.rotated), text) // so it is whole
				r := resumed(t, o)
				want, err := score.Read(t.Context(), once)
				if err != nil {
					t.Fatal(err)
				}
				sameScore(t, fmt.Sprintf("seed %d", seed), want, r)
				if len(r.Resumed.Notes) > 0 || r.Resumed.Waiting > 0 || want.Unread.Events != 2 {
					t.Errorf("%+v, unread %+v", r.Resumed, want.Unread)
				}
				if again := resumed(t, o); again.Resumed.New != 0 || !again.Resumed.Again {
					t.Errorf("nothing is new: %+v", again.Resumed)
				} else {
					sameScore(t, "again", want, again)
				}
			}
		})
	}
}

// A file that is another one now, shorter, gone or a copy is noticed.
func TestRead_ResumedNoticesWhatBecameOfAFile(t *testing.T) {
	g := growing()["jsonlog"]
	text := func(from, to int) []byte {
		var b bytes.Buffer
		for n := from; n < to; n++ {
			b.WriteString(g.text(n))
		}
		return b.Bytes()
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		events int64
		note   string
	}{
		"renamed, and a new one": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "postgresql.json.1"), text(0, 12))
			write(t, filepath.Join(dir, g.name), text(12, 15))
		}, 15, ""},
		"replaced": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, g.name), text(20, 23)) }, 13,
			"is gone, or another file is there now"},
		"cut off": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, g.name), text(0, 4)) }, 10,
			"it was cut off"},
		"copied": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, g.name), text(0, 11))
			write(t, filepath.Join(dir, "copy.json"), text(0, 11))
		}, 11, "is taken for a copy"},
		"gone": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, g.name)); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "next.json"), text(20, 21))
		}, 11, "is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := score.Options{Paths: []string{dir}, Zone: time.UTC, Target: 20 * ms,
				Resume: filepath.Join(t.TempDir(), "score.json")}
			write(t, filepath.Join(dir, g.name), text(0, 10))
			if r := resumed(t, o); r.Events != 10 || r.Resumed.Again {
				t.Fatalf("%d events, %+v", r.Events, r.Resumed)
			}
			c.change(t, dir)
			r := resumed(t, o)
			if notes := strings.Join(r.Resumed.Notes, "; "); r.Events != c.events || !strings.Contains(notes, c.note) ||
				(notes == "") != (c.note == "") {
				t.Errorf("%d events, want %d; %+v, want %q", r.Events, c.events, r.Resumed, c.note)
			}
			if again := resumed(t, o); again.Events != c.events {
				t.Errorf("once more: %d events, want %d", again.Events, c.events)
			}
		})
	}
}

// What was read before Ctrl-C is kept, and counts once.
func TestRead_ResumedAfterAStop(t *testing.T) {
	for _, format := range []string{"stderr", "1c"} {
		g, dir := growing()[format], t.TempDir()
		var all bytes.Buffer
		for n := range 9_000 {
			all.WriteString(g.text(n % 300)) // within an hour
		}
		write(t, filepath.Join(dir, g.rotated), all.Bytes())
		o := score.Options{Paths: []string{dir}, Zone: time.UTC, Target: 20 * ms}
		want, err := score.Read(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		o.Resume = filepath.Join(t.TempDir(), "score.json")
		stops := 0
		for {
			ctx, stop := context.WithCancel(t.Context())
			reads := 0
			o.Progress = func(int64, int64) {
				if reads++; reads > stops+2 {
					stop()
				}
			}
			r, err := score.Read(ctx, o)
			stop()
			if err == nil {
				sameScore(t, format, want, r)
				break
			}
			if stops++; !errors.Is(err, context.Canceled) || stops > 10_000 {
				t.Fatal(err)
			}
		}
		if stops == 0 {
			t.Errorf("%s: it was never stopped", format)
		}
	}
}

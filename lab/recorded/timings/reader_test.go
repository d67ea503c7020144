package timings_test

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

	"plimsoll/lab/recorded/timings"
)

const (
	namespace = "www.v8.1c.ru/ssl/performace-assessment/apdexExport/1.0.0.4" //nolint:misspell // as 1C spells it
	root      = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<Performance xmlns="` + namespace +
		`" xmlns:prf="` + namespace + `" prf:version="1.0.0.4">` + "\n"
)

// at is 10:00 on 28 November 2026 as the application counts it, and n seconds.
func at(n int) int64 { return 63_931_456_800_000 + 1000*int64(n) }

func element(n int, value string, failed bool) string {
	return fmt.Sprintf("<measurement><value>%s</value><weight>1</weight><tUTC>%d</tUTC><userName>И</userName>"+
		"<runningError>%t</runningError></measurement>\n", value, at(n), failed)
}

type entry struct {
	Operation timings.Operation
	Measured  []timings.Measurement
}

func all(t *testing.T, text string) (found []entry, r *timings.Reader) {
	t.Helper()
	r = timings.NewReader(strings.NewReader(text), "a.xml")
	for {
		op, measured, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found, r
		}
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, entry{op, measured})
	}
}

var ten = time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)

func TestReader(t *testing.T) {
	posting := timings.Operation{Name: "ПроведениеЗаказа", TargetS: "1.5"}
	fields := "<name>Проведение заказа</name><nameFull>ПроведениеЗаказа</nameFull><long>false</long>" +
		"<priority>1</priority><targetValue>1.5</targetValue><uid>1-2</uid>"
	two := []timings.Measurement{{At: ten, Took: 1200 * time.Millisecond},
		{At: ten.Add(time.Second), Took: 3 * time.Second, Failed: true}}
	for name, c := range map[string]struct {
		text   string
		want   []entry
		unread int64
		why    string
	}{
		"as the library writes it": {text: root + "<KeyOperation>" + fields + element(0, "1.2", false) +
			element(1, "3", true) + "</KeyOperation></Performance>", want: []entry{{posting, two}}},
		"measurements before the name": {text: root + "<KeyOperation>" + element(0, "1.2", false) +
			element(1, "3", true) + fields + "</KeyOperation></Performance>", want: []entry{{posting, two}}},
		"attributes": {text: root + `<KeyOperation name="Проведение" targetValue="2" long="true">` +
			fmt.Sprintf(`<measurement value="0.25" tUTC="%d"/>`, at(0)) + "</KeyOperation></Performance>",
			want: []entry{{timings.Operation{Name: "Проведение", TargetS: "2", PerUnit: true},
				[]timings.Measurement{{At: ten, Took: 250 * time.Millisecond}}}}},
		"a version with dates": {text: strings.ReplaceAll(root, "/1.0.0.4", "") + "<prf:KeyOperation><prf:name>Отчет" +
			"</prf:name><prf:runningError>true</prf:runningError><prf:measurement><prf:value>2</prf:value>" +
			"<prf:tUTC>2026-11-28T10:00:00</prf:tUTC></prf:measurement></prf:KeyOperation></Performance>",
			want: []entry{{timings.Operation{Name: "Отчет"},
				[]timings.Measurement{{At: ten, Took: 2 * time.Second, Failed: true}}}}},
		"an operation without measurements": {text: root + "<KeyOperation>" + fields + "</KeyOperation></Performance>",
			want: []entry{{posting, nil}}},
		"values that are none": {text: root + "<KeyOperation>" + fields + element(0, "1.2", false) +
			element(1, "3", true) + element(2, "-1", false) + element(2, "NaN", false) + element(2, "", false) +
			"<measurement><value>1</value><tUTC>63879000000</tUTC></measurement></KeyOperation></Performance>",
			want: []entry{{posting, two}}, unread: 4, why: `value "-1" is no duration`},
		"no name": {text: root + "<KeyOperation><priority>1</priority>" + element(0, "1", false) +
			element(1, "1", false) + "</KeyOperation><KeyOperation>" + fields + "</KeyOperation></Performance>",
			want: []entry{{posting, nil}}, unread: 2, why: "without a name"},
		"cut off": {text: root + "<KeyOperation>" + fields + element(0, "1.2", false) + element(1, "3", true) +
			"<measurement><value>1</val", want: []entry{{posting, two}}, unread: 1, why: "unexpected EOF"},
		"no XML within": {text: root + "<KeyOperation>" + fields + element(0, "1.2", false) + element(1, "3", true) +
			"</KeyOperation><& ", want: []entry{{posting, two}}, unread: 1, why: "syntax error"},
		"too long": {text: root + "<KeyOperation>" + fields + element(0, "1.2", false) + element(1, "3", true) +
			"</KeyOperation><KeyOperation><name>" + strings.Repeat("x", 4<<20) + "</name></KeyOperation></Performance>",
			want: []entry{{posting, two}}, unread: 1, why: "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			found, r := all(t, c.text)
			if diff := cmp.Diff(c.want, found); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if r.Unread.Events != c.unread || c.unread > 0 && !strings.Contains(r.Unread.Examples[0].Why, c.why) {
				t.Errorf("unread: %+v, want %d, %q", r.Unread, c.unread, c.why)
			}
		})
	}
}

func TestFiles_TakesExportsAlone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b/2026-11-28 10-00-00-00001.xml": root + "</Performance>",
		"2026-11-28 09-00-00-00001.XML": root + "</Performance>", "other.xml": "<Performance/>", "no.xml": "a",
		"empty.xml": "", "export.txt": root} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := timings.Files([]string{dir, filepath.Join(dir, "b")})
	if err != nil || len(files) != 2 || filepath.Base(files[0].Path) != "2026-11-28 09-00-00-00001.XML" {
		t.Errorf("%v, %v", files, err)
	}
	if _, err := timings.Files([]string{dir, filepath.Join(dir, "other.xml")}); !errors.Is(err, timings.ErrMixed) {
		t.Errorf("exports and another file: %v", err)
	}
	if files, err := timings.Files([]string{filepath.Join(dir, "other.xml")}); err != nil || len(files) != 0 {
		t.Errorf("no export: %v, %v", files, err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(root + "<KeyOperation><name>a</name>" + element(0, "1", false) + "</KeyOperation></Performance>")
	f.Add(root + "<KeyOperation name='a'><measurement value='1e300' tUTC='-1e300'/>")
	f.Fuzz(func(t *testing.T, text string) {
		r := timings.NewReader(strings.NewReader(text), "a.xml")
		for n := 0; ; n++ {
			op, measured, err := r.Next()
			if err != nil {
				return
			}
			if op.Name == "" || n > len(text) {
				t.Fatalf("operation %d: %+v", n, op)
			}
			for _, m := range measured {
				if m.Took < 0 || m.At.Year() < 2000 || m.At.Year() > 2200 {
					t.Fatalf("%+v", m)
				}
			}
		}
	})
}

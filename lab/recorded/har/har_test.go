package har_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/lab/load/scenario"
	"plimsoll/lab/recorded/har"
	"plimsoll/test/files"
)

// entryOf is one of a HAR file, begun so many seconds after the first.
func entryOf(second float64, method, url, kind, answered, mime, text string) string {
	return fmt.Sprintf(`{"startedDateTime":"2026-03-01T09:00:%06.3fZ","time":12.5,"_resourceType":%q,"request":{
		"method":%q,"url":%q,"headers":[]},"response":{"status":%s,"headers":[],"content":{"mimeType":%q,"text":%q}}}`,
		second, kind, method, url, answered, mime, text)
}

func fileOf(entries ...string) string {
	return `{"log":{"version":"1.2","creator":{"name":"test","version":"1"},"pages":[{"id":"p","title":"x"}],
		"browser":{"name":"b"},"entries":[` + strings.Join(entries, ",") + `]}}`
}

const shop = "https://shop.example"

func TestRead_SaysWhatIsWrong(t *testing.T) {
	well := entryOf(0, "GET", shop+"/", "document", "200", "text/html", "")
	for name, c := range map[string]struct{ file, says string }{
		"Empty":        {"", "ends too early"},
		"HTML":         {"<html>", "not JSON at byte 1"},
		"OtherJSON":    {`{"a":1}`, `it has no "log"`},
		"List":         {`[1]`, "byte 1 should be {"},
		"NoEntries":    {fileOf(), "the recording has no requests"},
		"CutOff":       {fileOf(well)[:200], "ends too early"},
		"NoTime":       {strings.Replace(fileOf(well), "2026-03", "March", 1), "entry 1: startedDateTime is no time"},
		"NoURL":        {strings.Replace(fileOf(well), shop+"/", "", 1), "entry 1: the request has no method or url"},
		"OtherType":    {strings.Replace(fileOf(well), `"time":12.5`, `"time":"soon"`, 1), "entry 1: "},
		"EntriesTwice": {`{"log":{"entries":7}}`, "should be ["},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := har.Read(strings.NewReader(c.file))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

func TestRead_SortsByTimeAndTakesAByteOrderMark(t *testing.T) {
	rec, err := har.Read(strings.NewReader("\uFEFF" + fileOf(
		entryOf(2, "GET", shop+"/b", "document", "200", "text/html", ""),
		entryOf(1, "GET", shop+"/a", "document", "200", "text/html", ""))))
	if err != nil || len(rec.Entries) != 2 || rec.Entries[0].Number != 2 || rec.Creator != "test 1" {
		t.Errorf("%+v, %v", rec, err)
	}
}

// An entry that does not end cannot take all memory.
func TestRead_StopsInAnEntryWithoutAnEnd(t *testing.T) {
	_, err := har.Read(&endless{start: `{"log":{"entries":[{"pageref":"`})
	if err == nil || !strings.Contains(err.Error(), "one entry is longer than") {
		t.Error(err)
	}
}

// endless repeats a letter after its start.
type endless struct{ start string }

func (e *endless) Read(p []byte) (int, error) {
	if n := copy(p, e.start); n > 0 {
		e.start = e.start[n:]
		return n, nil
	}
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// mixed is a recording with much that is no load of the application.
func mixed() string {
	document := func(at float64, path string) string {
		return entryOf(at, "GET", shop+path, "document", "200", "text/html", "<p>"+path+"</p>")
	}
	return fileOf(document(0, "/"),
		entryOf(0.1, "GET", shop+"/app.css", "stylesheet", "200", "text/css", "a{}"),
		entryOf(0.1, "GET", shop+"/logo.png", "image", "200", "image/png", ""),
		entryOf(0.1, "GET", "https://fonts.example.net/a.woff2", "font", "200", "font/woff2", ""),
		entryOf(0.2, "GET", "https://www.google-analytics.com/g/collect?v=2", "ping", "204", "", ""),
		entryOf(0.2, "GET", "https://maps.example.org/tile", "fetch", "200", "application/json", "{}"),
		entryOf(0.3, "OPTIONS", "https://api.shop.example/items", "preflight", "204", "", ""),
		entryOf(0.3, "GET", "https://api.shop.example/items", "fetch", "200", "application/json", `{"items":[]}`),
		entryOf(0.4, "GET", "wss://shop.example/live", "websocket", "101", "", ""),
		document(5, "/about"), entryOf(5.1, "GET", shop+"/lost", "fetch", "0", "", ""),
		entryOf(5.2, "GET", shop+"/broken", "fetch", "500", "text/plain", "oops"),
		document(9, "/about"), document(12, "/logout"))
}

func TestImport_LeavesOutWhatIsNoLoad(t *testing.T) {
	s := importOf(t, mixed(), har.Options{})
	got := map[har.Reason]int{}
	for _, l := range s.LeftOut {
		got[l.Reason] = l.Requests
	}
	want := map[har.Reason]int{har.Static: 2, har.ThirdParty: 2, har.Analytics: 1, har.Preflight: 1, har.Stream: 1,
		har.Unanswered: 1, har.Broken: 1, har.Logout: 1}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("left out %v, want %v", got, want)
	}
	if s.Operations != 2 || s.Kept != 3 || s.Repeated != 1 || !strings.Contains(s.TOML, "weight = 2") ||
		!strings.Contains(s.TOML, `url = "https://api.shop.example/items"`) {
		t.Errorf("%d operations of %d requests, %d repeated:\n%s", s.Operations, s.Kept, s.Repeated, s.TOML)
	}
	readable(t, s)
}

func TestImport_KeepsWhatIsAskedFor(t *testing.T) {
	s := importOf(t, mixed(), har.Options{Keep: []har.Reason{har.Static, har.Logout},
		Hosts: []string{"maps.example.org"}})
	for _, path := range []string{"/app.css", "/logo.png", "/logout", "https://maps.example.org/tile"} {
		if !strings.Contains(s.TOML, `"`+path+`"`) {
			t.Errorf("%s is not kept:\n%s", path, s.TOML)
		}
	}
	if slices.ContainsFunc(s.LeftOut, func(l har.LeftOut) bool { return l.Reason == har.Static }) {
		t.Errorf("%+v", s.LeftOut)
	}
	readable(t, s)
}

func readable(t *testing.T, s *har.Scenario) *scenario.Scenario {
	t.Helper()
	read, err := scenario.Read(files.Write(t, t.TempDir(), "own.toml", s.TOML))
	if err != nil {
		t.Fatalf("%v\n%s", err, s.TOML)
	}
	for _, line := range strings.Split(s.TOML, "\n") {
		if strings.HasPrefix(line, "#") && len(line) > 120 {
			t.Errorf("a comment has %d columns: %s", len(line), line)
		}
	}
	return read
}

// What the page has made itself, or the user, is said, and so is what cannot be told apart.
func TestImport_SaysWhatItIsNotSureOf(t *testing.T) {
	s := importOf(t, fileOf(
		entryOf(0, "GET", shop+"/api/carts", "fetch", "200", "application/json",
			`[{"id":17,"mine":"a81bc81b-dead-4e5d-abff-90865d1e13b1","theirs":"a81bc81b-`+
				`dead-4e5d-abff-90865d1e13b1"}]`),
		entryOf(4, "GET", shop+"/api/carts/17", "fetch", "200", "application/json", "{}"),
		entryOf(8, "GET", shop+"/api/parts/a81bc81b-dead-4e5d-abff-90865d1e13b1", "fetch", "200", "application/json",
			"{}"),
		entryOf(12, "GET", shop+"/api/new/0f8fad5b-d9cb-469f-a165-70867728950e", "fetch", "200", "application/json",
			"{}"),
		entryOf(16, "GET", shop+"/api/news?_=1772355616000", "fetch", "200", "application/json", "{}"),
	), har.Options{})
	for _, part := range []string{
		`GET /api/carts/17, path carts "17": short`,
		`"a81bc81b…": the answer to GET /api/carts has it in 2 places; taken from 0.`,
		`"0f8fad5b…": in no answer before: made by the page or by the user; kept as recorded`,
		`"17723556…": in no answer before: a time that the page has taken`,
	} {
		if !slices.ContainsFunc(s.Doubts, func(d har.Doubt) bool { return strings.Contains(d.String(), part) }) {
			t.Errorf("nothing says %s: %v", part, s.Doubts)
		}
	}
	if !strings.Contains(s.TOML, "# Not sure, please look:") {
		t.Errorf("the file does not say so:\n%s", s.TOML)
	}
	readable(t, s)
}

func TestImport_OfNothing(t *testing.T) {
	for name, c := range map[string]struct {
		entries []string
		want    error
	}{
		"OnlyStatic": {[]string{entryOf(0, "GET", shop+"/a.css", "stylesheet", "200", "text/css", "")}, har.ErrNothing},
		"OnlyLogin": {[]string{strings.Replace(entryOf(0, "POST", shop+"/login", "fetch", "200", "application/json",
			"{}"), `"headers":[]}`, `"headers":[],"postData":{"mimeType":"application/json",
			"text":"{\"user\":\"a\",\"password\":\"b\"}"}}`, 1)}, har.ErrOnlyLogin},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := har.Read(strings.NewReader(fileOf(c.entries...)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := har.Import(rec, har.Options{}); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

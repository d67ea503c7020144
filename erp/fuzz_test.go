package erp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/openapi/openapitest"
	"plimsoll/platform/worker/server"
	"plimsoll/test/thorough"
)

// raw values that stand where the description wants something else. Written as JSON, as not all of them can be made
// of Go values.
var rawHostile = []string{
	`null`, `true`, `0`, `-1`, `1e400`, `-1e-400`, `99999999999999999999999999`, `0.1`, `{}`, `[]`, `[[]]`, `{"":{}}`,
	`""`, `" "`, `"-1"`, `"1e5"`, `"0x10"`, `"١"`,
	`"NaN"`, `"Infinity"`, `"999999999999999999999999"`, `"999999999"`, `"0.0000001"`, `"+1"`, `"1,5"`, `"\u0000"`,
	`"a\u0000b"`, `"\ud800"`, `"\u202e"`, "\"\xff\xfe\"", "\"\xc3\"",
	`"0000-00-00T00:00:00Z"`, `"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:60Z"`, `"2025-02-30T00:00:00Z"`,
	`"2025-06-01T00:00:00+99:99"`, `"-0044-03-15T00:00:00Z"`, `"292277026596-01-01T00:00:00Z"`,
	`"00000000-0000-0000-0000-000000000000"`, `"{018bcfe5-687b-7fff-bfff-ffffffffffff}"`,
	`"018bcfe5-687b-7fff-bfff-fffffffffff"`, `"ffffffff-ffff-ffff-ffff-ffffffffffff"`,
	`"'; DROP TABLE cat_items; --"`, `"$1"`, `"\\"`, `"%"`, `"{{7*7}}"`, `"../../etc/passwd"`,
	`"<script>alert(1)</script>"`,
}

// deep nesting and length, made rather than written.
func bulkyHostile() []string {
	return []string{
		strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000),
		`"` + strings.Repeat("я", 5000) + `"`, `"` + strings.Repeat("9", 100_000) + `"`, strings.Repeat("9", 100_000),
		"[" + strings.Repeat("{},", 20_000) + "{}]",
	}
}

// checkAnswer fails when an answer is the server's fault, differs from the description, or reveals internals.
func checkAnswer(t testing.TB, what string, o *openapitest.Operation, status int, body []byte) {
	t.Helper()
	if status >= 500 {
		t.Errorf("%s: %s answers %d %.300s", what, o.ID, status, body)
	}
	if status < 400 {
		return // data of the books, which may hold any text
	}
	for _, inside := range []string{"SQLSTATE", "ERROR:", "pgconn", "syntax error", "goroutine", "panic", ".go:"} {
		if strings.Contains(string(body), inside) {
			t.Errorf("%s: %s tells %.300s", what, o.ID, body)
		}
	}
}

// mark stands in a JSON text where a raw value is put.
const mark = "\x01"

// places calls each with every place of a JSON value, by its path; with(raw) is the whole text with something else
// there.
func places(root any, each func(path string, with func(raw string) []byte)) {
	text := func(raw string) []byte {
		b, _ := json.Marshal(root) // it was JSON before
		return []byte(strings.Replace(string(b), `"\u0001"`, raw, 1))
	}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				child := v[name]
				each(path+"."+name, func(raw string) []byte {
					v[name] = mark
					defer func() { v[name] = child }()
					return text(raw)
				})
				walk(path+"."+name, child)
			}
		case []any:
			for i, child := range v {
				at := fmt.Sprintf("%s[%d]", path, i)
				each(at, func(raw string) []byte {
					v[i] = mark
					defer func() { v[i] = child }()
					return text(raw)
				})
				walk(at, child)
			}
		}
	}
	walk("", root)
}

// Every field of every request, and every parameter, is given everything that it is not, or a part of it that
// changes from place to place. Two callers share the operations: one waits for the answer, the other checks his.
func TestHostileValuesEverywhere(t *testing.T) {
	t.Parallel()
	company := erptest.New(t, 2)
	base := company.Worker(t, server.Config{})
	var requests atomic.Int64
	t.Run("callers", func(t *testing.T) {
		for n := range hostileCallers {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				requests.Add(callHostile(t, newCaller(t, company, base, company.Organisations[0]), n))
			})
		}
	})
	if requests.Load() < 1000 {
		t.Errorf("only %d requests", requests.Load())
	}
	erptest.Clean(t, company.Database)
}

const hostileCallers = 2

// callHostile makes the requests of one caller, and returns how many.
func callHostile(t *testing.T, c *caller, which int) (requests int64) {
	all, place := append(slices.Clone(rawHostile), bulkyHostile()...), 0
	hostile := func() []string {
		place++
		return thorough.Part(all, place)
	}
	for i, o := range c.api.Operations {
		if o.ID == "session.close" || i%hostileCallers != which {
			continue
		}
		path := strings.NewReplacer("{id}", id.New().String(), "{key}", "hostile").Replace(o.Path)
		var body []byte
		if o.Body != nil {
			example := c.api.Example(o.Body, func(name string) string { return c.pick(t, name) })
			body = openapitest.JSON(t, example)
			try := func(what string, text []byte) {
				requests++
				status, _, answer := c.do(t, o, call{path: path, token: c.token, body: text,
					header: map[string]string{"If-Match": "1"}})
				checkAnswer(t, fmt.Sprintf("%s = %.60q", what, text), o, status, answer)
			}
			places(example, func(place string, with func(string) []byte) {
				for _, raw := range hostile() {
					try(place, with(raw))
				}
			})
			for _, raw := range hostile() {
				try("body", []byte(raw))
			}
		}
		for _, p := range o.Parameters {
			for _, raw := range hostile() {
				value := strings.Trim(raw, `"`)
				with := call{path: path, token: c.token, body: body, header: map[string]string{}}
				switch p.In {
				case "query":
					with.path += "?" + url.Values{p.Name: {value[:min(len(value), 4000)]}}.Encode()
				case "path":
					with.path = strings.Replace(o.Path, "{"+p.Name+"}", url.PathEscape(value[:min(len(value), 4000)]),
						1)
				case "header":
					if strings.ContainsFunc(value, func(r rune) bool {
						return r < 0x20 || r > 0x7e
					}) || len(value) > 8000 {
						continue // HTTP's own library sends no such header
					}
					with.header[p.Name] = value
				}
				if strings.Contains(with.path, "//") || strings.Contains(with.path, "/.") ||
					strings.HasSuffix(with.path, "/") {
					continue // another path
				}
				requests++
				status, _, answer := c.do(t, o, with)
				checkAnswer(t, fmt.Sprintf("%s = %.60q", p.Name, value), o, status, answer)
			}
		}
	}
	return requests
}

// FuzzAPI makes requests of the description that nobody would think of.
func FuzzAPI(f *testing.F) {
	company := erptest.New(f, 2)
	base := company.Worker(f, server.Config{})
	c := newCaller(f, company, base, company.Organisations[0])
	operations := c.api.Operations
	for i, o := range operations {
		body := ""
		if o.Body != nil {
			body = string(openapitest.JSON(f, c.api.Example(o.Body, func(name string) string {
				return c.pick(f, name)
			})))
		}
		f.Add(uint(i), id.New().String(), "limit=1&search=x&post=false", "1", "key", body)
		f.Add(uint(i), "%00", "before=AaH69A&date=2025-01-01&from=x", `"2"`, "", strings.Replace(body, "1", "1e9", 1))
	}
	f.Fuzz(func(t *testing.T, n uint, part, query, version, key, body string) {
		o := operations[n%uint(len(operations))]
		if o.ID == "session.close" || strings.Trim(part, ".") == "" || strings.ContainsAny(query, "# ") ||
			strings.ContainsFunc(query+version+key, func(r rune) bool {
				return r < 0x20 || r > 0x7e
			}) {
			t.Skip("not to be sent")
		}
		with := call{path: strings.NewReplacer("{id}", url.PathEscape(part), "{key}",
			url.PathEscape(part)).Replace(o.Path) + "?" + query, token: c.token, header: map[string]string{}}
		if _, err := url.Parse(with.path); err != nil {
			t.Skip("not a path")
		}
		if version != "" {
			with.header["If-Match"] = version
		}
		if key != "" {
			with.header["Idempotency-Key"] = key
		}
		if body != "" {
			with.body = []byte(body)
		}
		status, _, answer := c.do(t, o, with)
		checkAnswer(t, o.ID, o, status, answer)
	})
}

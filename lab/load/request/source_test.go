package request

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll/lab/load/script"
)

const pageOfShop = `<!DOCTYPE html><html><body>
<h1 class=title> Thank
  <b>you</b>!<script>var x = "no text"</script></h1>
<form action="/order?a=1&amp;b=2"><input type=hidden name="csrf[1]" value="a&quot;b@c"></form>
<p>Total: 12.50</p><a href="mailto:x@y">write</a></body></html>`

func answerOf(body string) *answer {
	return &answer{Response: &http.Response{Header: http.Header{"Location": {"/next"}, "X-Two": {"a", "b"},
		"Set-Cookie": {"csrftoken=c1; Path=/", "gone=x; Max-Age=0"}}, Body: io.NopCloser(strings.NewReader(""))},
		body: []byte(body)}
}

func TestSource(t *testing.T) {
	for text, want := range map[string]string{
		"css:h1":                          "Thank you!",
		"css:form@action":                 "/order?a=1&b=2",
		`css:input[name="csrf[1]"]@value`: `a"b@c`,
		`css:a[href="mailto:x@y"]`:        "write",
		`css:a[href="mailto:x@y"]@href`:   "mailto:x@y",
		"css:.nothing, h1.title":          "Thank you!",
		"css:h2":                          "!the answer has no css:h2",
		"css:h1@id":                       "!the answer has no css:h1@id",
		"regex:Total: ([0-9.]+)":          "12.50",
		"regex:Total: [0-9]+":             "Total: 12",
		"regex:(?i)TOTAL: (x)?":           "!the answer has no regex",
		"header:location":                 "/next",
		"header:X-Two":                    "a, b",
		"header:X-Three":                  "!the answer has no header:X-Three",
		"cookie:csrftoken":                "c1",
		"cookie:gone":                     "!the answer has no cookie:gone",
		"a.b":                             "!the answer is not JSON",
	} {
		source, err := ParseSource(text)
		if err != nil {
			t.Fatal(err)
		}
		value, err := source.in(answerOf(pageOfShop))
		if says, fails := strings.CutPrefix(want, "!"); fails {
			if err == nil || !strings.HasPrefix(err.Error(), says) {
				t.Errorf("%s: %q, %v", text, value, err)
			}
		} else if err != nil || value.String() != want {
			t.Errorf("%s is %q, %v, want %q", text, value, err, want)
		}
	}
	for _, wrong := range []string{"", "css:", "css:[", "css:input[name=", "regex:(", "xpath://a", "header:",
		"header:a b",
		"cookie:"} {
		if _, err := ParseSource(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

func TestCheck(t *testing.T) {
	object := `{"status":1,"lines":[{"price":1.50}],"note":null,"done":true}`
	variables := map[string]script.Value{"who": script.Text("you")}
	for _, c := range []struct{ body, source, want, says string }{
		{pageOfShop, "css:h1", "Thank {{who}}", ""},
		{pageOfShop, "css:h1", "thank", `css:h1 does not contain "thank"`},
		{pageOfShop, "css:h2", "x", "the answer has no css:h2"},
		{pageOfShop, "header:Location", "next", ""},
		{pageOfShop, "css:.error", "absent", ""},
		{pageOfShop, "css:h1", "absent", "the answer has css:h1"},
		{pageOfShop, "css:h1", "", ""},
		{pageOfShop, "css:.error", "", "the answer has no css:.error"},
		{object, "status", "1", ""},
		{object, "status", "1.0", ""},
		{object, "lines.0.price", "1.5", ""},
		{object, "status", "10", `status does not equal "10"`},
		{object, "done", "true", ""},
		{object, "done", "tr", `done does not equal "tr"`},
	} {
		source, err := ParseSource(c.source)
		if err != nil {
			t.Fatal(err)
		}
		e := Expected{Source: source, Want: c.want}
		if c.want == "absent" {
			e = Expected{Source: source, Absent: true}
		}
		err = (&Check{Values: []Expected{e}}).answer(answerOf(c.body), variables)
		if err != nil && err.Error() != c.says {
			t.Errorf("%s of %q: %q, want %q", c.source, c.want, err, c.says)
		} else if err == nil && c.says != "" {
			t.Errorf("%s of %q is accepted", c.source, c.want)
		}
	}
}

// A source that can be read is the same after its way to an agent, and finds something or says that it does not.
func FuzzSource(f *testing.F) {
	for _, text := range []string{"items.0.id", "css:input[name=a]@value", "css:h1", "regex:(a)|b", "header:X",
		"cookie:a",
		"json:css.x", "css:a:not(.b) > c@d", `css:[x="@y"]`, "regex:^$"} {
		f.Add(text, pageOfShop)
		f.Add(text, `{"items":[{"id":1}]}`)
	}
	f.Fuzz(func(t *testing.T, text, body string) {
		source, err := ParseSource(text)
		if err != nil {
			return
		}
		if utf8.ValidString(text) {
			wire, err := json.Marshal(source)
			var again Source
			if err == nil {
				err = json.Unmarshal(wire, &again)
			}
			if err != nil || !again.Equal(source) {
				t.Fatalf("%q became %q: %v", text, again, err)
			}
		}
		value, found, err := source.find(answerOf(body))
		if found && err == nil && strings.HasPrefix(text, "regex:") && !bytes.Contains([]byte(body),
			[]byte(value.String())) {
			t.Errorf("%q found %q, which is not in the answer", text, value)
		}
	})
}

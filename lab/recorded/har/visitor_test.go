package har_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// visitor does what a person with a browser does, and records it as a browser would. Its clock moves by what is done,
// so that nobody waits.
type visitor struct {
	t       *testing.T
	base    string
	jar     *cookiejar.Jar
	now     time.Time
	entries []map[string]any
}

func visit(t *testing.T, server *httptest.Server) *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t: t, base: server.URL, jar: jar, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
}

// page that the visitor looks at.
type page struct {
	v      *visitor
	at     *url.URL
	status int
	head   http.Header
	body   string
}

// asked is a request of the visitor.
type asked struct {
	method, address, kind, contentType, body string
	headers                                  map[string]string
}

func (v *visitor) send(a asked) *page {
	v.t.Helper()
	address := a.address
	if strings.HasPrefix(address, "/") {
		address = v.base + address
	}
	r, err := http.NewRequestWithContext(v.t.Context(), a.method, address, strings.NewReader(a.body))
	if err != nil {
		v.t.Fatal(err)
	}
	if a.contentType != "" {
		r.Header.Set("Content-Type", a.contentType)
	}
	for name, value := range a.headers {
		r.Header.Set(name, value)
	}
	for _, c := range v.jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	v.jar.SetCookies(r.URL, answer.Cookies())
	v.record(a, r, answer, string(body))
	return &page{v: v, at: r.URL, status: answer.StatusCode, head: answer.Header, body: string(body)}
}

func (v *visitor) record(a asked, r *http.Request, answer *http.Response, body string) {
	request := map[string]any{"method": a.method, "url": r.URL.String(), "headers": pairsOf(r.Header)}
	if a.body != "" {
		request["postData"] = map[string]any{"mimeType": a.contentType, "text": a.body}
	}
	v.entries = append(v.entries, map[string]any{"startedDateTime": v.now.Format(time.RFC3339Nano), "time": 8,
		"_resourceType": a.kind, "request": request, "response": map[string]any{
			"status": answer.StatusCode, "headers": pairsOf(answer.Header),
			"redirectURL": answer.Header.Get("Location"),
			"content": map[string]any{"mimeType": answer.Header.Get("Content-Type"), "size": len(body),
				"text": body},
		}})
	v.now = v.now.Add(10 * time.Millisecond)
}

func pairsOf(h http.Header) []any {
	all := []any{}
	for name, values := range h {
		for _, value := range values {
			all = append(all, map[string]any{"name": name, "value": value})
		}
	}
	return all
}

// think is long enough for what follows to be another act.
func (v *visitor) think() { v.now = v.now.Add(3 * time.Second) }

// open a page; redirects are followed.
func (v *visitor) open(address string) *page {
	v.t.Helper()
	return v.follow(v.send(asked{method: "GET", address: address, kind: "document"}))
}

func (v *visitor) follow(p *page) *page {
	v.t.Helper()
	for p.status >= 300 && p.status < 400 {
		to, err := p.at.Parse(p.head.Get("Location"))
		if err != nil {
			v.t.Fatal(err)
		}
		to.Fragment = ""
		p = v.send(asked{method: "GET", address: to.String(), kind: "document"})
	}
	return p
}

// fetch is what a script of a page asks for.
func (v *visitor) fetch(method, address, body string, headers ...string) *page {
	v.t.Helper()
	a := asked{method: method, address: address, kind: "fetch", body: body, headers: map[string]string{}}
	if body != "" {
		a.contentType = "application/json"
	}
	for i := 0; i+1 < len(headers); i += 2 {
		a.headers[headers[i]] = headers[i+1]
	}
	p := v.send(a)
	if p.status >= 500 {
		v.t.Fatalf("%s %s: %d %s", method, address, p.status, p.body)
	}
	return p
}

// json is a value of an answer.
func (p *page) json(path ...string) string {
	p.v.t.Helper()
	var tree any
	if err := json.Unmarshal([]byte(p.body), &tree); err != nil {
		p.v.t.Fatalf("%v in %s", err, p.body)
	}
	for _, step := range path {
		branch, is := tree.(map[string]any)
		if !is {
			p.v.t.Fatalf("no %q in %s", path, p.body)
		}
		tree = branch[step]
	}
	text, is := tree.(string)
	if !is {
		p.v.t.Fatalf("no %q in %s", path, p.body)
	}
	return text
}

// between is what stands between two texts of the page.
func (p *page) between(before, after string) string {
	p.v.t.Helper()
	_, rest, found := strings.Cut(p.body, before)
	inner, _, closed := strings.Cut(rest, after)
	if !found || !closed {
		p.v.t.Fatalf("no %s…%s in %s", before, after, p.body)
	}
	return inner
}

// submit sends the nth form of the page, with some fields filled in.
func (p *page) submit(nth int, fields map[string]string) *page {
	p.v.t.Helper()
	root, err := html.Parse(strings.NewReader(p.body))
	if err != nil {
		p.v.t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data != "form" {
			continue
		}
		if nth > 0 {
			nth--
			continue
		}
		values := url.Values{}
		for in := range n.Descendants() {
			if in.Type == html.ElementNode && in.Data == "input" && attribute(in, "name") != "" {
				values.Set(attribute(in, "name"), html.UnescapeString(attribute(in, "value")))
			}
		}
		for name, value := range fields {
			values.Set(name, value)
		}
		to, err := p.at.Parse(attribute(n, "action"))
		if err != nil {
			p.v.t.Fatal(err)
		}
		return p.v.follow(p.v.send(asked{method: "POST", address: to.String(), kind: "document",
			contentType: "application/x-www-form-urlencoded", body: values.Encode()}))
	}
	p.v.t.Fatalf("no such form in %s", p.body)
	return nil
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// har is the recording as a file.
func (v *visitor) har() string {
	v.t.Helper()
	file, err := json.Marshal(map[string]any{"log": map[string]any{"version": "1.2",
		"creator": map[string]any{"name": "a visitor", "version": "1"}, "entries": v.entries}})
	if err != nil {
		v.t.Fatal(err)
	}
	return string(file)
}

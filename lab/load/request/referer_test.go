package request

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestReferer_SaysWhatABrowserSays(t *testing.T) {
	for _, c := range []struct{ page, to, want string }{
		{"", "http://a/x", ""},
		{"http://a/p?q=1#part", "http://a/x", "http://a/p?q=1"},
		{"http://name:word@a/p", "http://a/x", "http://a/p"},
		{"http://a/p", "http://a:8080/x", "http://a/"},
		{"https://a/p", "https://a:443/x", "https://a/p"},
		{"https://a/p", "https://b/x", "https://a/"},
		{"https://a/p", "http://a/x", ""},
		{"http://a/p", "https://a/x", "http://a/"},
	} {
		var page *url.URL
		if c.page != "" {
			page, _ = url.Parse(c.page)
		}
		to, _ := url.Parse(c.to)
		if got := referer(page, to); got != c.want {
			t.Errorf("of %s to %s: %q, want %q", c.page, c.to, got, c.want)
		}
	}
}

// checked is an application that refuses forms over TLS which do not come from a page of its own, as Django does.
func checked(t *testing.T) (*httptest.Server, *seen) {
	t.Helper()
	s := &seen{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		from := r.Header.Get("Referer")
		s.add("%s %s from %q", r.Method, r.URL.Path, strings.TrimPrefix(from, "https://"+r.Host))
		switch {
		case r.Method == http.MethodPost && !strings.HasPrefix(from, "https://"+r.Host+"/"):
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/save":
			http.Redirect(w, r, "/saved", http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/api"):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "{}")
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		}
	}))
	t.Cleanup(server.Close)
	return server, s
}

// A form over TLS is sent from the page that was shown last, whatever its scripts have asked for since, and what
// follows a redirect names that page too.
func TestReferer_IsThePageThatTheUserSees(t *testing.T) {
	server, s := checked(t)
	u := user(server.URL)
	u.Transport = server.Client().Transport
	settings := &Settings{}
	_, err := (&Request{Method: "POST", URL: "/save"}).Do(t.Context(), settings, u)
	if err == nil || !strings.Contains(err.Error(), "status 403") {
		t.Errorf("a form from nowhere: %v", err)
	}
	if got := s.take(); !strings.HasSuffix(got, `POST /save from ""`) {
		t.Error(got)
	}
	must(t, &Request{Method: "GET", URL: "/form", Resources: []string{"/style"}}, settings, u)
	must(t, &Request{Method: "GET", URL: "/api/items"}, settings, u)
	must(t, &Request{Method: "POST", URL: "/save"}, settings, u)
	must(t, &Request{Method: "GET", URL: "/next"}, settings, u)
	must(t, &Request{Method: "GET", URL: "/own", Headers: map[string]string{"referer": "https://else/"}}, settings, u)
	got := s.take()
	for _, want := range []string{`GET /form from ""`, `GET /style from "/form"`, `GET /api/items from "/form"`,
		`POST /save from "/form"`, `GET /saved from "/form"`, `GET /next from "/saved"`,
		`GET /own from "https://else/"`} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %s:\n%s", want, got)
		}
	}
}

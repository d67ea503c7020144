package request

import (
	"compress/gzip"
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/lab/load/script"
	"plimsoll/lab/load/tally"
)

// seen is what a server was asked, in its order.
type seen struct {
	mu  sync.Mutex
	all []string
}

func (s *seen) add(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, fmt.Sprintf(format, args...))
}

func (s *seen) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.all = nil }()
	return strings.Join(s.all, " ")
}

func user(base string) *User {
	jar, _ := cookiejar.New(nil)
	return &User{Variables: map[string]script.Value{}, Transport: http.DefaultTransport, Jar: jar, Base: base}
}

func must(t *testing.T, r *Request, s *Settings, u *User) {
	t.Helper()
	if outcome, err := r.Do(t.Context(), s, u); outcome != tally.OK {
		t.Fatalf("%s %s: %v, %v", r.Method, r.URL, outcome, err)
	}
}

// redirects is a server whose answers lead on: /301 and so on to /end, and /loop to itself.
func redirects(t *testing.T) (*httptest.Server, *seen) {
	s := &seen{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		cookie, _ := r.Cookie("way")
		s.add("%s %s %q %s %v", r.Method, r.URL.Path, body, r.Header.Get("Authorization"), cookie)
		switch code := strings.TrimPrefix(r.URL.Path, "/"); code {
		case "301", "302", "303", "307", "308":
			http.SetCookie(w, &http.Cookie{Name: "way", Value: code})
			w.Header().Set("Location", "/end")
			w.WriteHeader(map[string]int{"301": 301, "302": 302, "303": 303, "307": 307, "308": 308}[code])
		case "loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "elsewhere":
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(server.Close)
	return server, s
}

func TestRedirects_KeepOrChangeTheMethodAndTakeCookies(t *testing.T) {
	server, s := redirects(t)
	for code, want := range map[string]string{
		"301": `GET /end ""`, "302": `GET /end ""`, "303": `GET /end ""`,
		"307": `POST /end "{}"`, "308": `POST /end "{}"`,
	} {
		must(t, &Request{Method: "POST", URL: "/" + code, Body: "{}"}, &Settings{}, user(server.URL))
		if got := s.take(); !strings.Contains(got, want) || !strings.HasSuffix(got, "way="+code) {
			t.Errorf("%s: %s, want %s with the cookie", code, got, want)
		}
	}
}

func TestRedirects_EndAndAreTheAnswerWhereTheyAreExpected(t *testing.T) {
	server, s := redirects(t)
	none := 0
	for name, c := range map[string]struct {
		request  Request
		settings Settings
		requests int
		says     string
	}{
		"Loop":        {Request{URL: "/loop"}, Settings{}, 11, "more than 10 redirects, the last one to /loop"},
		"None":        {Request{URL: "/302"}, Settings{Redirects: &none}, 1, "status 302 to /end"},
		"NoneWanted":  {Request{URL: "/302", Expect: []int{302}}, Settings{Redirects: &none}, 1, ""},
		"Expected":    {Request{URL: "/302", Expect: []int{302}}, Settings{}, 1, ""},
		"OtherStatus": {Request{URL: "/303", Expect: []int{200}}, Settings{}, 2, ""},
	} {
		c.request.Method = "GET"
		_, err := c.request.Do(t.Context(), &c.settings, user(server.URL))
		if got := fmt.Sprint(err); c.says == "" && err != nil || c.says != "" && got != c.says {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if n := strings.Count(s.take(), "GET "); n != c.requests {
			t.Errorf("%s: %d requests, want %d", name, n, c.requests)
		}
	}
}

// Another server is told neither by a redirect nor by an address of its own who the user is. Ports count.
func TestAuth_IsOfTheBaseAlone(t *testing.T) {
	server, s := redirects(t)
	other, strangers := redirects(t)
	settings := &Settings{Auth: &Auth{Bearer: "{{token}}"}}
	u := user(server.URL)
	must(t, &Request{Method: "GET", URL: "/end"}, settings, u)
	if got := s.take(); strings.Contains(got, "Bearer") {
		t.Errorf("no token is known yet: %s", got)
	}
	u.Variables["token"] = script.Text("t1")
	must(t, &Request{Method: "GET", URL: "/302"}, settings, u)
	if got := s.take(); strings.Count(got, "Bearer t1") != 2 {
		t.Errorf("want the token in both: %s", got)
	}
	must(t, &Request{Method: "POST", URL: "/elsewhere?to=" + other.URL + "/elsewhere?to=" + server.URL + "/end"},
		settings,
		u)
	must(t, &Request{Method: "GET", URL: other.URL + "/end"}, settings, u)
	if got := strangers.take(); !strings.Contains(got, "POST /elsewhere") || strings.Contains(got, "Bearer") {
		t.Errorf("another server saw: %s", got)
	}
	if got := s.take(); strings.Count(got, "Bearer") != 1 || !strings.Contains(got, "POST /end") {
		t.Errorf("a redirect back has it again: %s", got)
	}
	basic := &Settings{Auth: &Auth{Basic: "{{token}}:p:q"}, Headers: map[string]string{"X": "{{lost}}"}}
	must(t, &Request{Method: "GET", URL: "/end"}, basic, u)
	if got := s.take(); !strings.Contains(got, "Basic "+base64.StdEncoding.EncodeToString([]byte("t1:p:q"))) {
		t.Error(got)
	}
	own := &Request{Method: "GET", URL: "/end", Headers: map[string]string{"Authorization": "mine"}}
	must(t, own, basic, u)
	if got := s.take(); !strings.Contains(got, " mine ") {
		t.Error(got)
	}
}

func TestContent(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := r.Header.Get("Content-Type")
		length := r.ContentLength
		if strings.HasPrefix(kind, "multipart/") {
			if err := r.ParseMultipartForm(1 << 20); err != nil {
				t.Error(err)
				return
			}
			f, head, err := r.FormFile("photo")
			if err != nil {
				t.Error(err)
				return
			}
			text, _ := io.ReadAll(f)
			got = fmt.Sprintf("%s=%v %s %s %s %v", "note", r.Form["note"], head.Filename,
				head.Header.Get("Content-Type"),
				text, length > 0)
			return
		}
		body, _ := io.ReadAll(r.Body)
		got = fmt.Sprintf("%s %s %s %v", r.Method, kind, body, length == int64(len(body)))
	}))
	defer server.Close()
	u := user(server.URL)
	u.Variables["x"] = script.Text(`a&b "c" <d>`)
	photo := File{Name: `my "photo".jpg`, Type: "image/jpeg", Text: []byte("\xff\xd8")}
	headers := func(kind string) map[string]string { return map[string]string{"Content-Type": kind} }
	for want, r := range map[string]*Request{
		`POST application/json {"x":"a\u0026b \"c\" \u003cd\u003e"} true`: {Body: `{"x":"{{x}}"}`},
		"POST text/xml <x>a&amp;b &#34;c&#34; &lt;d&gt;</x> true": {Body: "<x>{{x}}</x>",
			Headers: headers("text/xml")},
		`POST text/plain a&b "c" <d> true`: {Body: "{{x}}", Headers: headers("text/plain")},
		"POST application/x-www-form-urlencoded n=1&n=2&x=a%26b+%22c%22+%3Cd%3E true": {
			Form: map[string][]string{"x": {"{{x}}"}, "n": {"1", "2"}}},
		"note=[a&b \"c\" <d>] my %22photo%22.jpg image/jpeg \xff\xd8 true": {
			Multipart: map[string][]string{"note": {"{{x}}"}}, Files: map[string]File{"photo": photo},
			Headers: headers("multipart/form-data; boundary=x")},
		"POST image/jpeg \xff\xd8 true": {BodyFile: &photo},
	} {
		r.Method, r.URL = "POST", "/"
		must(t, r, &Settings{}, u)
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r.RequestURI }))
	defer server.Close()
	u := user(server.URL + "/app/")
	u.Variables = map[string]script.Value{"x": script.Text("a b/c?d&e"), "path": script.Text("/next?page=2"),
		"whole": script.Text(server.URL + "/whole"), "relative": script.Text("2?x=1")}
	for _, c := range []struct{ url, want string }{
		{"/items/{{x}}?q={{x}}", "/app/items/a%20b%2Fc%3Fd&e?q=a+b%2Fc%3Fd%26e"},
		{"{{whole}}", "/whole"},
		{"{{path}}&q={{x}}", "/next?page=2&q=a+b%2Fc%3Fd%26e"},
		{"/dir/1", "/app/dir/1"},
		{"{{relative}}", "/app/dir/2?x=1"}, // as a link of the page before
	} {
		if must(t, &Request{Method: "GET", URL: c.url}, &Settings{}, u); got != c.want {
			t.Errorf("%s asks for %s, want %s", c.url, got, c.want)
		}
	}
	u.Base, u.Last = "", nil
	if _, err := (&Request{Method: "GET", URL: "{{path}}"}).Do(t.Context(), &Settings{}, u); err == nil ||
		!strings.Contains(err.Error(), "is no address") {
		t.Error(err)
	}
}

// What a header asks for in the way of compression is undone where something looks at the answer.
func TestCompressedAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := r.Header.Get("Accept-Encoding")
		w.Header().Set("Content-Encoding", kind)
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, "<h1>Hello</h1>")
		z.Close()
	}))
	defer server.Close()
	ask := func(kind, contains string) error {
		settings := &Settings{Headers: map[string]string{"Accept-Encoding": kind}}
		u := user(server.URL)
		u.Transport = &http.Transport{DisableCompression: true, DisableKeepAlives: true}
		_, err := (&Request{Method: "GET", URL: "/", Contains: contains}).Do(t.Context(), settings, u)
		return err
	}
	if err := ask("gzip", "<h1>Hello"); err != nil {
		t.Error(err)
	}
	if err := ask("br", ""); err != nil {
		t.Error(err)
	}
	if err := ask("br", "Hello"); err == nil || !strings.Contains(err.Error(), `compressed as "br"`) {
		t.Error(err)
	}
}

func base() *http.Transport {
	return &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100}
}

func pemOf(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

func TestConnections_VersionAndTLS(t *testing.T) {
	var got atomic.Value
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Store(fmt.Sprintf("%s %v", r.Proto, r.TLS != nil && r.TLS.ServerName == "example.com"))
	})
	both := httptest.NewUnstartedServer(handler)
	both.EnableHTTP2 = true
	both.StartTLS()
	defer both.Close()
	old := httptest.NewUnstartedServer(handler)
	old.TLS = &tls.Config{NextProtos: []string{"http/1.1"}}
	old.StartTLS()
	defer old.Close()
	clear := httptest.NewUnstartedServer(handler)
	clear.Config.Protocols = new(http.Protocols)
	clear.Config.Protocols.SetUnencryptedHTTP2(true)
	clear.Start()
	defer clear.Close()
	named := TLS{CA: pemOf(both), ServerName: "example.com"} // httptest's certificate has that name
	for _, c := range []struct {
		name     string
		settings Settings
		url      string
		want     string
	}{
		{"OneByTLS", Settings{TLS: &named}, both.URL, "HTTP/1.1 true"},
		{"TwoByTLS", Settings{TLS: &named, Version: HTTP2}, both.URL, "HTTP/2.0 true"},
		{"TwoForEach", Settings{TLS: &named, Version: HTTP2, Connections: OfBrowser}, both.URL, "HTTP/2.0 true"},
		{"TwoInClear", Settings{Version: HTTP2}, clear.URL, "HTTP/2.0 false"},
		{"Insecure", Settings{TLS: &TLS{Insecure: true}}, both.URL, "HTTP/1.1 false"},
		{"Unknown", Settings{}, both.URL, "!certificate"},
		{"OtherName", Settings{TLS: &TLS{CA: pemOf(both), ServerName: "other.test"}}, both.URL, "!other.test"},
		{"NoTwo", Settings{TLS: &TLS{Insecure: true}, Version: HTTP2}, old.URL, "!"},
	} {
		connections, err := c.settings.Open(base, 2)
		if err != nil {
			t.Fatal(err)
		}
		u := user(c.url)
		u.Transport = connections.Of(1)
		got.Store("")
		_, err = (&Request{Method: "GET", URL: "/"}).Do(t.Context(), &c.settings, u)
		if says, fails := strings.CutPrefix(c.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, %v", c.name, got.Load(), err)
			}
		} else if err != nil || got.Load() != c.want {
			t.Errorf("%s: %v, %v, want %s", c.name, got.Load(), err, c.want)
		}
		connections.Close()
	}
}

// Users with connections of their own never share one, keep it from request to request, and have at most six.
func TestConnections_Sharing(t *testing.T) {
	var opened atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		time.Sleep(20 * time.Millisecond) // so that resources are under way together
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	resources := make([]string, 8)
	for i := range resources {
		resources[i] = fmt.Sprintf("/%d", i)
	}
	for sharing, want := range map[Sharing][2]int64{Shared: {1, 6}, OfUser: {3, 3}, OfBrowser: {3, 18}} {
		opened.Store(0)
		settings := Settings{Connections: sharing}
		connections, err := settings.Open(base, 3)
		if err != nil {
			t.Fatal(err)
		}
		visit := func(r *Request) int64 {
			for range 2 {
				for i := range 3 {
					u := user(server.URL)
					u.Transport = connections.Of(i)
					must(t, r, &settings, u)
				}
			}
			return opened.Load()
		}
		page := visit(&Request{Method: "GET", URL: "/"})
		all := visit(&Request{Method: "GET", URL: "/", Resources: resources})
		if page != want[0] || all < want[0] || all > want[1] || sharing == OfBrowser && all == page {
			t.Errorf("%s: %d connections, with resources %d, want %d and at most %d", sharing, page, all, want[0],
				want[1])
		}
		connections.Close()
	}
}

func TestResources_AreWantedAndInTime(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/lost":
			w.WriteHeader(http.StatusNotFound)
		case "/slow":
			time.Sleep(50 * time.Millisecond)
		}
	}))
	defer server.Close()
	within := Check{Within: 20 * time.Millisecond}
	for says, r := range map[string]*Request{
		"resource /lost: status 404":              {Resources: []string{"/a", "/lost"}},
		"the answer took longer than 20ms":        {Resources: []string{"/slow"}, Check: within},
		"resource: url: undefined variable \"x\"": {Resources: []string{"/{{x}}"}},
	} {
		r.Method, r.URL = "GET", "/"
		if outcome, err := r.Do(t.Context(), &Settings{}, user(server.URL)); outcome != tally.Failed ||
			err.Error() != says && !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%v, %v, want %s", outcome, err, says)
		}
	}
}

// Cookies keep to their path and server; without a jar there are none.
func TestCookies(t *testing.T) {
	s := &seen{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "1", Path: "/"})
		http.SetCookie(w, &http.Cookie{Name: "admin", Value: "2", Path: "/admin"})
		s.add("%v", r.Cookies())
	}))
	defer server.Close()
	u := user(server.URL)
	for _, path := range []string{"/", "/", "/admin"} {
		must(t, &Request{Method: "GET", URL: path}, &Settings{}, u)
	}
	if got := s.take(); got != "[] [a=1] [admin=2 a=1]" {
		t.Error(got)
	}
	found := maps.Clone(u.Variables)
	r := &Request{Method: "GET", URL: "/", Extract: sources(t, "mine", "cookie:a")}
	if must(t, r, &Settings{}, u); u.Variables["mine"].String() != "1" || len(found) != 0 {
		t.Error(u.Variables)
	}
	if u.Jar = nil; s.take() == "" {
		t.Error("nothing was asked")
	}
	must(t, &Request{Method: "GET", URL: "/"}, &Settings{}, u)
	if got := s.take(); got != "[]" {
		t.Error(got)
	}
}

package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/live"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { leak.Main(m) }

// orders is a controller that records its calls.
type orders struct {
	mu  sync.Mutex
	got []string
}

func (o *orders) take(format string, args ...any) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.got = append(o.got, fmt.Sprintf(format, args...))
	return nil
}

func (o *orders) all() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.got, " ")
}

func (o *orders) Pause(paused bool) error { return o.take("pause:%v", paused) }
func (o *orders) End() error              { return errors.New("no users are active") }
func (o *orders) SetUsers(n int) error {
	if n > 100 {
		return problem.New(problem.Usage, errors.New("too many"), "")
	}
	return o.take("users:%d", n)
}

func started(t *testing.T) (*Server, *live.Picture, *orders) {
	t.Helper()
	p, controller := live.New(nil), &orders{}
	s, err := Start(AddressDefault, p, controller)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, p, controller
}

func (s *Server) at(path string) string { return "http://" + s.listens.Addr().String() + path }

// ask sends a request as changed.
func ask(t *testing.T, s *Server, method, path, body string, change func(*http.Request)) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.at(path), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Origin", s.at(""))
	r.Header.Set("Content-Type", "application/json")
	change(r)
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

func TestGuard(t *testing.T) {
	s, _, controller := started(t)
	port := s.listens.Addr().String()[strings.LastIndexByte(s.listens.Addr().String(), ':'):]
	for _, c := range []struct {
		name, method, path string
		change             func(*http.Request)
		want               int
	}{
		{"TokenOfAProgram", "GET", "/", func(*http.Request) {}, 200},
		{"Cookie", "GET", "/", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.AddCookie(&http.Cookie{Name: s.cookie(), Value: s.token})
		}, 200},
		{"NoToken", "GET", "/", func(r *http.Request) { r.Header.Del("Authorization") }, 403},
		{"NoTokenForAFile", "GET", "/web/live/page.js", func(r *http.Request) { r.Header.Del("Authorization") }, 403},
		{"NoTokenForTheStream", "GET", "/events", func(r *http.Request) { r.Header.Del("Authorization") }, 403},
		{"WrongToken", "GET", "/", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+s.token+"x") }, 403},
		{"EmptyToken", "GET", "/?token=", func(r *http.Request) { r.Header.Del("Authorization") }, 403},
		{"TokenInTheAddressOfAnythingElse", "GET", "/events?token=" + s.token,
			func(r *http.Request) { r.Header.Del("Authorization") }, 403},
		{"CookieOfAnotherRun", "GET", "/", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.AddCookie(&http.Cookie{Name: "plimsoll_00000000", Value: s.token})
		}, 403},
		{"NameThatWasRebound", "GET", "/", func(r *http.Request) { r.Host = "evil.example" + port }, 421},
		{"NameThatBeginsAsOurs", "GET", "/", func(r *http.Request) { r.Host = "127.0.0.1.evil.example" }, 421},
		{"NoName", "GET", "/", func(r *http.Request) { r.Host = "a" }, 421},
		{"Localhost", "GET", "/", func(r *http.Request) { r.Host = "localhost" + port; r.Header.Del("Origin") }, 200},
		{"TunnelOfAnotherPort", "POST", "/pause", func(r *http.Request) {
			r.Host = "localhost:9999"
			r.Header.Set("Origin", "http://localhost:9999")
		}, 204},
		{"OriginOfAnotherPort", "POST", "/pause",
			func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
		{"OriginOfAnotherSite", "GET", "/events",
			func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		{"OpaqueOrigin", "POST", "/pause", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"ChangeWithoutOrigin", "POST", "/pause", func(r *http.Request) { r.Header.Del("Origin") }, 403},
		{"ReadFromAnotherSiteWithoutOrigin", "GET", "/events",
			func(r *http.Request) { r.Header.Del("Origin"); r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		{"ChangeByReading", "GET", "/pause", func(*http.Request) {}, 405},
		{"FormOfAnotherPage", "POST", "/pause", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
			415},
		{"FileOutsideTheFolder", "GET", "/web/../web.go", func(*http.Request) {}, 307},
		{"FileOfAnotherKind", "GET", "/web/vendor/uplot/LICENSE", func(*http.Request) {}, 404},
		{"ReportThatIsNotThere", "GET", "/report", func(*http.Request) {}, 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			ended, cancel := context.WithCancel(t.Context())
			defer cancel()
			answer := ask(t, s, c.method, c.path, "{}",
				func(r *http.Request) { c.change(r); *r = *r.WithContext(ended) })
			if answer.StatusCode != c.want {
				t.Errorf("%s, want %d", answer.Status, c.want)
			}
			h := answer.Header
			if h.Get("Content-Security-Policy") != policy || strings.Contains(policy, "unsafe") ||
				h.Get("Referrer-Policy") != "no-referrer" || h.Get("Cache-Control") != "no-store" ||
				h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("header %v, want the policy, and no referrer, caching and sniffing", h)
			}
		})
	}
	if got := controller.all(); got != "pause:true" {
		t.Errorf("the controller got %q", got)
	}
	t.Run("RefusalSaysWhereTheTokenIs", func(t *testing.T) {
		answer := ask(t, s, "GET", "/", "", func(r *http.Request) { r.Header.Del("Authorization") })
		if text := body(t, answer); !strings.Contains(text, "plimsoll run --ui") || strings.Contains(text, s.token) {
			t.Errorf("want where the token is, and not the token, got %s", text)
		}
	})
	t.Run("TokenInTheAddressBecomesACookie", func(t *testing.T) {
		answer := ask(t, s, "GET", "/?token="+s.token, "",
			func(r *http.Request) { r.Header.Del("Authorization"); r.Header.Del("Origin") })
		c := answer.Cookies()
		if len(c) != 1 || c[0].Value != s.token || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode ||
			strings.Contains(body(t, answer), s.token) {
			t.Errorf("cookies %v, want one strict cookie with the token, which the page does not show", c)
		}
	})
}

func body(t *testing.T, answer *http.Response) string {
	t.Helper()
	var b strings.Builder
	if _, err := bufio.NewReader(answer.Body).WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAddressMustBeOnLoopback(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:0": true, "localhost:7070": true, "[::1]:0": true, "127.1.2.3:80": true,
		"0.0.0.0:7070": false, ":7070": false, "10.0.0.1:7070": false, "example.com:80": false, "7070": false,
		"": false,
	} {
		if err := CheckAddress(address); (err == nil) != ok ||
			err != nil && (problem.ClassOf(err) != problem.Usage || problem.HintOf(err) == "") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestOrders(t *testing.T) {
	s, _, controller := started(t)
	for _, c := range []struct {
		path, body string
		want       int
		says       string
	}{
		{"/users", `{"users":12}`, 204, ""},
		{"/users", `{"users":101}`, 400, "too many"},
		{"/users", `{"users":"many"}`, 400, "not a valid command"},
		{"/users", `{"user":12}`, 400, "unknown field"},
		{"/users", `{"users":12` + strings.Repeat(" ", 2000) + `}`, 400, "too large"},
		{"/users", ``, 400, "not a valid command"},
		{"/pause", `{}`, 204, ""},
		{"/resume", `{}`, 204, ""},
		{"/end", `{}`, 409, "no users are active"},
	} {
		answer := ask(t, s, "POST", c.path, c.body, func(*http.Request) {})
		if text := body(t, answer); answer.StatusCode != c.want || !strings.Contains(text, c.says) {
			t.Errorf("%s %.40s: %s %s", c.path, c.body, answer.Status, text)
		}
	}
	if got := controller.all(); got != "users:12 pause:true pause:false" {
		t.Errorf("the controller got %q", got)
	}
}

// reader reads the stream as a browser does.
type reader struct {
	lines *bufio.Scanner
	id    string
}

func follow(t *testing.T, s *Server, last string) *reader {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	answer := ask(t, s, "GET", "/events", "", func(r *http.Request) {
		*r = *r.WithContext(ctx)
		if last != "" {
			r.Header.Set("Last-Event-ID", last)
		}
	})
	t.Cleanup(cancel)
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 16<<20)
	return &reader{lines: lines}
}

func (r *reader) next(t *testing.T) (d live.Delta) {
	t.Helper()
	for r.lines.Scan() {
		if id, ok := strings.CutPrefix(r.lines.Text(), "id: "); ok {
			r.id = id
		}
		if data, ok := strings.CutPrefix(r.lines.Text(), "data: "); ok {
			if err := json.Unmarshal([]byte(data), &d); err != nil {
				t.Fatal(err)
			}
			return d
		}
	}
	t.Fatal("the stream has ended", r.lines.Err())
	return d
}

func (r *reader) ended() bool { return !r.lines.Scan() || r.lines.Text() == "" && !r.lines.Scan() }

// second of a run in which each operation ended n times.
func second(at int, n int64, operations int) tally.Page {
	p := tally.NewPage(at-1, operations)
	p.Users = 100
	for i := range p.Judged {
		p.Judged[i].Apdex = apdex.Counts{Satisfied: n}
		p.Judged[i].Outcomes[tally.OK] = n
		p.Judged[i].Latency = tally.Values{int64(5+i) * 1000}
	}
	return p
}

func TestStream(t *testing.T) {
	s, p, _ := started(t)
	p.SetPlan(live.Plan{ID: "r", Operations: []live.Operation{{ID: "post", Priority: 1}}})
	add := func(at int) {
		p.Add(second(at, 1, 1))
	}
	add(1)
	r := follow(t, s, "")
	if first := r.next(t); !first.Reset || first.Plan == nil || len(first.Seconds) != 1 {
		t.Errorf("want everything at first, got %+v", first)
	}
	add(2)
	if d := r.next(t); d.Reset || d.Plan != nil || len(d.Seconds) != 1 || d.Seconds[0].T != 1 {
		t.Errorf("want the new second only, got %+v", d)
	}
	t.Run("GoesOnWhereAPageLeftOff", func(t *testing.T) {
		left := r.id
		add(3)
		add(4)
		if d := follow(t, s, left).next(t); d.Reset || len(d.Seconds) != 2 || d.Seconds[0].T != 2 {
			t.Errorf("want the two seconds after the last one seen, got %+v", d)
		}
		for _, wrong := range []string{"nonsense", "-5", "99999999"} {
			if d := follow(t, s, wrong).next(t); !d.Reset || len(d.Seconds) != 4 {
				t.Errorf("after %q: %+v", wrong, d)
			}
		}
	})
	t.Run("GathersWhatComesQuickly", func(t *testing.T) {
		r := follow(t, s, "")
		r.next(t)
		for at := range 500 {
			add(5 + at)
		}
		events := 0
		for seen := 0; seen < 500; events++ {
			seen += len(r.next(t).Seconds)
		}
		if events > 50 {
			t.Errorf("500 seconds at once came in %d events", events)
		}
	})
	t.Run("BoundsThePages", func(t *testing.T) {
		// A closed page counts until the server notices: that may be while these come.
		status := 0
		for n := 0; n <= pagesMost && status != http.StatusServiceUnavailable; n++ {
			status = ask(t, s, "GET", "/events", "", func(*http.Request) {}).StatusCode
		}
		if status != http.StatusServiceUnavailable {
			t.Errorf("page %d was let in: %d", pagesMost+1, status)
		}
	})
}

func TestPagesHaveTheLastOfThePictureBeforeTheServerGoes(t *testing.T) {
	p := live.New(nil)
	s, err := Start(AddressDefault, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.farewell = patience.Max
	r := follow(t, s, "")
	r.next(t)
	p.Finish(live.Result{ID: "r", Valid: true})
	done := make(chan error)
	go func() { done <- s.Close() }()
	for d := r.next(t); d.State.Result == nil; {
		d = r.next(t)
	}
	if !r.ended() {
		t.Error("the stream goes on")
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

package custom

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/load/request"
	"plimsoll/lab/load/request/requesttest"
	"plimsoll/lab/load/script"
	"plimsoll/lab/load/tally"
)

func source(t testing.TB, text string) request.Source {
	t.Helper()
	s, err := request.ParseSource(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func get(url string) *Action { return &Action{Request: &request.Request{Method: "GET", URL: url}} }

// steps of a log-in and an order, as a scenario file has them.
func shopping(t testing.TB) (login, order *Action) {
	csrf := map[string]request.Source{"csrf": source(t, "css:input[name=csrf]@value")}
	page := func(url string) *Action {
		a := get(url)
		a.Request.Extract = csrf
		return a
	}
	form := func(url string, fields map[string][]string) *Action {
		fields["csrf"] = []string{"{{csrf}}"}
		return &Action{Request: &request.Request{Method: "POST", URL: url, Form: fields}}
	}
	enter := form("/login", map[string][]string{"name": {"u{{client_id}}"}, "password": {"secret of {{name}}"}})
	enter.Request.Check = request.Check{Values: []request.Expected{{Source: source(t, "css:#user"), Want: "{{name}}"}}}
	buy := form("/order", map[string][]string{})
	buy.Request.Contains = "Thank you"
	put := form("/cart", map[string][]string{"item": {"7"}})
	put.Request.Extract = csrf
	return &Action{Steps: []*Action{page("/login"), enter}}, &Action{Steps: []*Action{page("/items/7"), put, buy}}
}

func player(t testing.TB, base string, s Settings, users int, actions ...*Action) *Player {
	t.Helper()
	s.Base = base
	connections, err := s.HTTP.Open(func() *http.Transport { return &http.Transport{} }, users)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open(t.Context(), Options{Settings: s, Actions: actions, Users: users,
		Transport: func(user int) http.RoundTripper { return connections.Of(user) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(); connections.Close() })
	return p
}

var numbers = rand.New(rand.NewPCG(1, 1))

// Each user has cookies of its own, from its log-in on.
func TestSteps_OfAnApplicationWithForms(t *testing.T) {
	shop := requesttest.New(t, nil)
	login, order := shopping(t)
	p := player(t, shop.URL, Settings{Login: login, Variables: map[string]string{"name": "u1"}}, 2, order)
	if err := p.LogIn(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if outcome, err := p.Play(t.Context(), 1, 0, numbers); outcome != tally.OK {
			t.Fatal(outcome, err)
		}
	}
	if shop.Orders.Load() != 2 || shop.Forged.Load() != 0 {
		t.Errorf("%d orders, %d forged", shop.Orders.Load(), shop.Forged.Load())
	}
	// u0 says that it is u1: the log-in's second step fails, and says which and why
	err := p.LogIn(t.Context(), 0)
	if err == nil || !strings.Contains(err.Error(), "step 2: the answer has no css:#user") {
		t.Error(err)
	}
	outcome, err := p.Play(t.Context(), 0, 0, numbers)
	if outcome != tally.Failed || !strings.HasPrefix(err.Error(), "log in: step 2: ") {
		t.Errorf("%v, error %v: want that the second step of the log-in failed", outcome, err)
	}
}

// Who continues an operation after its think time gets it back at its step; who does not, waits.
func TestSteps_Pause(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		if r.URL.Path == "/3" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer server.Close()
	last := get("/3")
	second := get("/2")
	second.Think, last.Think = 30*time.Millisecond, 20*time.Millisecond
	p := player(t, server.URL, Settings{}, 1, &Action{Steps: []*Action{get("/1"), second, last, get("/4")}})
	if err := p.LogIn(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	notes := &tally.Notes{Resumes: true}
	ctx := tally.WithNotes(t.Context(), notes)
	for i, want := range []string{"/1", "/1 /2", "/1 /2 /3"} {
		outcome, err := p.Play(ctx, 0, 0, numbers)
		if got := strings.Join(asked, " "); got != want {
			t.Errorf("%s was asked, want %s", got, want)
		}
		if paused := notes.Pausing(); (outcome == tally.OK) != (i < 2) || (paused > 0) != (i < 2) {
			t.Errorf("%v, %v, pauses %v", outcome, err, paused)
		}
		notes.Continue(0)
	}
	asked = nil
	began := time.Now()
	_, err := p.Play(t.Context(), 0, 0, numbers)
	var u *request.Unexpected
	if !errors.As(err, &u) || !strings.HasPrefix(err.Error(), "step 3: status 418") || len(asked) != 3 ||
		time.Since(began) < 50*time.Millisecond {
		t.Errorf("%v, %q, after %v", err, asked, time.Since(began))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if outcome, _ := p.Play(ctx, 0, 0, numbers); outcome != tally.Failed {
		t.Error("a cancelled operation is played to its end")
	}
}

// What a user of a web application costs without connections: its variables, cookies and the address of the last page.
func TestUserTakesFewKilobytes(t *testing.T) {
	const users, most = 2000, 4 << 10
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, name := range []string{"sessionid", "csrftoken"} {
			http.SetCookie(w, &http.Cookie{Name: name, Value: strings.Repeat("x", 32), Path: "/", HttpOnly: true})
		}
	}))
	defer server.Close()
	login := get("/login")
	login.Request.Extract = map[string]request.Source{"csrf": source(t, "cookie:csrftoken")}
	p := player(t, server.URL, Settings{Login: login}, users)
	if err := p.LogIn(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	before := live()
	for user := range users {
		if err := p.LogIn(t.Context(), user); err != nil {
			t.Fatal(err)
		}
	}
	each := (live() - before) / users
	t.Logf("%d bytes each", each)
	if each > most || len(p.users[users-1]) != 4 {
		t.Errorf("%d bytes each, %d variables", each, len(p.users[users-1]))
	}
	runtime.KeepAlive(p)
}

// What the settings and actions need is also found in steps.
func TestWhatStepsNeed(t *testing.T) {
	sql, err := script.Parse("SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	a := &Action{Steps: []*Action{get("{{next}}"), get("http://a.test/x"), {Script: sql}}}
	if !NeedsDatabase(Settings{}, []*Action{a}) || NeedsBase(Settings{}, []*Action{a, nil}) ||
		len(Addresses(Settings{}, []*Action{a})) != 1 {
		t.Errorf("%v %v %q", NeedsDatabase(Settings{}, []*Action{a}), NeedsBase(Settings{}, []*Action{a}),
			Addresses(Settings{}, []*Action{a}))
	}
	if !NeedsBase(Settings{Login: &Action{Steps: []*Action{get("/x")}}}, nil) {
		t.Error("a path in a step of the log-in needs no address")
	}
}

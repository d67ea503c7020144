package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/password"
	"plimsoll/test/certificate"
	"plimsoll/test/thorough"
)

// elsewhere lets connections seem to come from, and arrive at, other machines. The last byte of a loopback address
// stays, so that a client chooses which machine it seems to be.
type elsewhere struct{ net.Listener }

func (e elsewhere) Accept() (net.Conn, error) {
	c, err := e.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return far{c}, nil
}

type far struct{ net.Conn }

func (f far) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(198, 51, 100, 1), Port: 443} }

func (f far) RemoteAddr() net.Addr {
	from := f.Conn.RemoteAddr().(*net.TCPAddr)
	return &net.TCPAddr{IP: net.IPv4(203, 0, 113, from.IP.To4()[3]), Port: from.Port}
}

func fromFar(l net.Listener) net.Listener { return elsewhere{l} }

// from is a client at 127.0.0.n.
func from(t *testing.T, n byte) *http.Client {
	transport := &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, n)}}).
		DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (b *bundle) logIn(t *testing.T, by *http.Client, text string) (status int, header http.Header, body string) {
	t.Helper()
	b.client = by
	login, _ := json.Marshal(map[string]string{"user": "known", "password": text})
	return b.call(t, "POST", "/v1/sessions", string(login))
}

// stopped is a clock at which no token is refilled.
func (b *bundle) stopClock() {
	now := time.Now()
	b.logins.now = func() time.Time { return now }
	b.mistakes.now = b.logins.now
}

// Somebody who opens sessions as fast as possible gets a few, and others still log in.
func TestOneAddressCannotTakeAllSessions(t *testing.T) {
	b := serving(t, Config{MaxSessions: 300, Limits: Limits{AddressSessions: 200, AddressLogins: 1 << 20}}, fromFar)
	greedy, modest := from(t, 2), from(t, 3)
	tries := thorough.Or(15_610, 2000) // as many as somebody once opened in 12 s
	opened := 0
	for range tries {
		switch status, header, body := b.logIn(t, greedy, ""); {
		case status == http.StatusCreated:
			opened++
		case status != http.StatusTooManyRequests || header.Get("Retry-After") != "60" ||
			!strings.Contains(body, `"code":"limited"`):
			t.Fatalf("%d, Retry-After %q, %s", status, header.Get("Retry-After"), body)
		}
	}
	if opened != 200 {
		t.Errorf("%d sessions opened, want 200", opened)
	}
	if status, _, body := b.logIn(t, modest, ""); status != http.StatusCreated {
		t.Errorf("somebody else: %d %s", status, body)
	}
}

func TestLogInsOfOneAddressAreLimitedByTime(t *testing.T) {
	for name, c := range map[string]struct {
		limits Limits
		on     func(net.Listener) net.Listener
		burst  int // 0: no limit
	}{
		"DefaultElsewhere": {Limits{}, fromFar, loginBurst * AddressLoginsDefault},
		"Given":            {Limits{AddressLogins: 1}, fromFar, loginBurst},
		"GivenOnLoopback":  {Limits{AddressLogins: 2}, func(l net.Listener) net.Listener { return l }, 2 * loginBurst},
		"NoneOnLoopback":   {Limits{}, func(l net.Listener) net.Listener { return l }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := serving(t, Config{Limits: c.limits}, c.on)
			b.stopClock()
			tries := c.burst
			if tries == 0 {
				tries = 2 * AddressSessionsDefault
			}
			greedy := from(t, 2)
			for n := range tries {
				if status, _, body := b.logIn(t, greedy, ""); status != http.StatusCreated {
					t.Fatalf("log-in %d: %d %s", n+1, status, body)
				}
			}
			status, header, _ := b.logIn(t, greedy, "")
			wait, _ := strconv.Atoi(header.Get("Retry-After"))
			if limited := status == http.StatusTooManyRequests; limited != (c.burst > 0) || limited && wait != 1 {
				t.Errorf("one more: %d, Retry-After %d", status, wait)
			}
			if status, _, _ := b.logIn(t, from(t, 3), ""); status != http.StatusCreated {
				t.Errorf("another address: %d", status)
			}
		})
	}
}

func TestPasswordsAreAskedFor(t *testing.T) {
	authority := certificate.New(t)
	cert, key := authority.Issue(t, "worker")
	secure, err := TLS(cert, key, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	b := serving(t, Config{Passwords: true, TLS: secure, Limits: Limits{UserSessions: 3}}, fromFar)
	b.stopClock()
	if err := password.Set(t.Context(), b.db.Database, []id.ID{knownID}, "correct horse"); err != nil {
		t.Fatal(err)
	}
	right := trusting(t, authority, 2)
	for range 3 {
		if status, _, body := b.logIn(t, right, "correct horse"); status != http.StatusCreated {
			t.Fatalf("right: %d %s", status, body)
		}
	}
	if status, _, body := b.logIn(t, right, "correct horse"); status != http.StatusTooManyRequests {
		t.Errorf("a fourth session of the user: %d %s", status, body)
	}
	guesser := trusting(t, authority, 3)
	for n := range mistakeBurst {
		text := []string{"correct house", "", strings.Repeat("x", 1000)}[n%3]
		status, header, body := b.logIn(t, guesser, text)
		if status != http.StatusUnauthorized || header.Get("WWW-Authenticate") != "Bearer" ||
			!strings.Contains(body, errWrongPassword.Error()) {
			t.Fatalf("wrong: %d %v %s", status, header, body)
		}
	}
	if status, header, body := b.logIn(t, guesser, "correct horse"); status != http.StatusTooManyRequests ||
		header.Get("Retry-After") != "5" || !strings.Contains(body, `"code":"wrong_passwords"`) {
		t.Errorf("right after too many wrong ones: %d, Retry-After %q", status, header.Get("Retry-After"))
	}
	b.client = trusting(t, authority, 4)
	if status, _, body := b.call(t, "POST", "/v1/sessions", `{"user":"stranger","password":"correct horse"}`); status !=
		http.StatusUnauthorized || !strings.Contains(body, errWrongPassword.Error()) {
		t.Errorf("nobody of that name: %d %s", status, body)
	}
	if status, _, body := b.logIn(t, b.client, "correct horse"); status != http.StatusTooManyRequests {
		t.Errorf("the user has three sessions: %d %s", status, body)
	}
	if strings.Contains(b.log.String(), "correct ho") {
		t.Errorf("the log shows a password: %s", b.log)
	}
}

func TestFiguresNeedTheirTokenElsewhere(t *testing.T) {
	const token = "token of the figures"
	for _, path := range []string{"/metrics", "/health/profile", "/health/running"} {
		for name, c := range map[string]struct {
			on           func(net.Listener) net.Listener
			known, given string
			status       int
		}{
			"Here":             {func(l net.Listener) net.Listener { return l }, token, "", http.StatusOK},
			"Elsewhere":        {fromFar, token, "", http.StatusUnauthorized},
			"WithToken":        {fromFar, token, token, http.StatusOK},
			"WithAnother":      {fromFar, token, "another", http.StatusUnauthorized},
			"NoneIsKnown":      {fromFar, "", "", http.StatusUnauthorized},
			"NoneIsKnownGiven": {fromFar, "", "x", http.StatusUnauthorized},
		} {
			t.Run(path+name, func(t *testing.T) {
				b := serving(t, Config{FiguresToken: c.known}, c.on)
				b.token = c.given
				if status, _, body := b.call(t, "GET", path, ""); status != c.status {
					t.Errorf("%d %.200s", status, body)
				}
				if status, _, _ := b.call(t, "GET", "/health/live", ""); status != http.StatusOK {
					t.Errorf("health: %d", status)
				}
			})
		}
	}
}

func TestClientsAreToldApart(t *testing.T) {
	for address, want := range map[string]client{
		"192.0.2.7:1":          {"192.0.2.7", false},
		"127.0.0.9:1":          {"127.0.0.9", true},
		"[::1]:1":              {"::/64", true},
		"[::ffff:127.0.0.1]:1": {"127.0.0.1", true},
		"[2001:db8::1]:1":      {"2001:db8::/64", false},
		"[2001:db8::2]:7":      {"2001:db8::/64", false},
		"[fe80::1%eth0]:1":     {"fe80::/64", false},
		"@":                    {"@", false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		if r.RemoteAddr = address; clientOf(r) != want {
			t.Errorf("%s: %+v, want %+v", address, clientOf(r), want)
		}
	}
}

// Whoever has very many addresses does not fill the memory.
func TestBucketsAreBounded(t *testing.T) {
	b := newBuckets(1, 1)
	now := time.Now()
	b.now = func() time.Time { return now }
	for n := range bucketsMax + 10 {
		b.take(fmt.Sprint(n))
	}
	if len(b.all) > bucketsMax+1 {
		t.Errorf("%d buckets", len(b.all))
	}
	if b.take("0") == 0 || b.take("one more") == 0 {
		t.Error("a token was given twice")
	}
	now = now.Add(2 * time.Second)
	if b.sweep(); len(b.all) != 0 || b.take("0") != 0 {
		t.Errorf("%d buckets after a while", len(b.all))
	}
}

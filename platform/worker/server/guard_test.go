package server

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestGuard(t *testing.T) {
	handler := (&Server{}).guarded(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {}))
	worker := httptest.NewServer(handler)
	defer worker.Close()
	_, port, err := net.SplitHostPort(worker.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		host, origin string
		status       int
	}{
		"Program":          {"127.0.0.1:" + port, "", http.StatusOK},
		"Localhost":        {"localhost:" + port, "", http.StatusOK},
		"TunnelsPort":      {"localhost:7070", "", http.StatusOK},
		"IPv6":             {"[::1]:" + port, "", http.StatusOK},
		"Rebound":          {"attacker.example:" + port, "", http.StatusMisdirectedRequest},
		"ReboundWithAName": {"127.0.0.1.attacker.example", "", http.StatusMisdirectedRequest},
		"OwnPage":          {"127.0.0.1:" + port, "http://127.0.0.1:" + port, http.StatusOK},
		"ForeignPage":      {"127.0.0.1:" + port, "https://attacker.example", http.StatusForbidden},
		"OtherPort":        {"127.0.0.1:" + port, "http://127.0.0.1:1", http.StatusForbidden},
		"NoOrigin":         {"127.0.0.1:" + port, "null", http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), "POST", worker.URL+"/v1/sessions", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = c.host
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != c.status {
				t.Errorf("%d, want %d", answer.StatusCode, c.status)
			}
		})
	}
}

package dashboard

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"plimsoll/ground/host/process"
)

// policy of all our pages: only their own files, nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guarded accepts requests that name this machine by a loopback name, come from our own page, and
// have the token.
//
// The name: a site that points its own name at 127.0.0.1 (DNS rebinding) is recognised
// by it. The origin: a page of another port of this machine is the same site for
// cookies, but another origin. Tunnels keep both, with a port of their own.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !isOwnHost(r.Host):
			http.Error(w, "Open the dashboard by a loopback name, such as 127.0.0.1 or localhost.",
				http.StatusMisdirectedRequest)
		case !sameOrigin(r):
			http.Error(w, "Requests from other pages are refused.", http.StatusForbidden)
		case s.exchange(w, r):
		case !s.hasToken(r):
			s.refuse(w)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isOwnHost accepts a name that only this machine has; the port may be a tunnel's.
func isOwnHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	return process.Loopback(name)
}

// sameOrigin holds for requests of our own page and for addresses that a person opens. A request that changes
// something must have an Origin.
func sameOrigin(r *http.Request) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	origin := r.Header.Get("Origin")
	if origin == "" {
		site := r.Header.Get("Sec-Fetch-Site")
		return reads && (site == "" || site == "same-origin" || site == "none" || r.URL.Path == "/")
	}
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && u.Host == r.Host
}

// exchange turns a token in the address into a cookie, so that the token does not stay in the browser's address bar and
// history.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request) bool {
	given := r.URL.Query().Get("token")
	if r.URL.Path != "/" || given == "" || !s.isToken(given) {
		return false
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookie(), Value: s.token, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	// A redirect would belong to a navigation that another program began, and a strict cookie is not sent on it; so the
	// page navigates by itself.
	w.Header().Set("Refresh", "0; url=/")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, `<!doctype html><html lang="en"><title>Plimsoll</title>`+
		`<p><a href="/">To the dashboard</a></p></html>`)
	return true
}

// cookie has its own name: cookies are shared by all ports of a machine.
func (s *Server) cookie() string {
	sum := sha256.Sum256([]byte(s.token))
	return "plimsoll_" + hex.EncodeToString(sum[:4])
}

// hasToken says whether a request has the token: as a cookie, or as a bearer token for programs.
func (s *Server) hasToken(r *http.Request) bool {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return s.isToken(bearer)
	}
	cookie, err := r.Cookie(s.cookie())
	return err == nil && s.isToken(cookie.Value)
}

// isToken compares digests in constant time.
func (s *Server) isToken(given string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

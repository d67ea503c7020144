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
)

// policy of every page of ours: its own files, and nothing written into it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guarded lets in who asks for this machine by its own name, comes from our own page, and
// has the token.
//
// The name: a site that points its own name at 127.0.0.1 (DNS rebinding) gives itself
// away by it. The origin: a page of another port of this machine is the same site for
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
		case !ours(r.Host):
			http.Error(w, "This is not the name of this machine's dashboard.", http.StatusMisdirectedRequest)
		case !sameOrigin(r):
			http.Error(w, "Another page may not ask this.", http.StatusForbidden)
		case s.exchange(w, r):
		case !s.knows(r):
			s.refuse(w)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// ours is a name that only this machine has; the port may be a tunnel's.
func ours(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// sameOrigin holds for what our page asks and for what a person opens. Whoever changes
// something must say where it comes from.
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

// exchange makes a cookie of a token in the address, so that the token does not stay in
// the browser's bar and history.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request) bool {
	given := r.URL.Query().Get("token")
	if r.URL.Path != "/" || given == "" || !s.is(given) {
		return false
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookie(), Value: s.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	// A redirect would be part of the navigation that another program began, on which a
	// strict cookie is not sent; the page goes on by itself.
	w.Header().Set("Refresh", "0; url=/")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, `<!doctype html><html lang="en"><title>Plimsoll</title><p><a href="/">To the dashboard</a></p></html>`)
	return true
}

// cookie has a name of its own: cookies are shared by all ports of a machine.
func (s *Server) cookie() string {
	sum := sha256.Sum256([]byte(s.token))
	return "plimsoll_" + hex.EncodeToString(sum[:4])
}

// knows holds for a request with the token: as a cookie, or as a bearer token for programs.
func (s *Server) knows(r *http.Request) bool {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return s.is(bearer)
	}
	cookie, err := r.Cookie(s.cookie())
	return err == nil && s.is(cookie.Value)
}

// is compares digests, in a time that tells neither length nor beginning.
func (s *Server) is(given string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

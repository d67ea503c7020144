package server

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"plimsoll/platform/worker/secret"
)

// guarded refuses requests that a foreign page sends through a user's browser. A page of another origin is recognised
// by its Origin header; a site that points its own name at 127.0.0.1 (DNS rebinding), by its Host header.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case onLoopback(r) && !ownName(r.Host):
			refusePage(w, http.StatusMisdirectedRequest, "use a loopback name or the address of this worker")
		case !sameOrigin(r):
			refusePage(w, http.StatusForbidden, "requests from pages of other origins are refused")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// guardedFigures answers clients on this machine, and others only if they have FiguresToken.
func (s *Server) guardedFigures(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !onLoopback(r) && !secret.Held(r, s.config.FiguresToken) {
			s.refuse(errFigures, "", "").ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func refusePage(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`{"error":{"code":"forbidden","message":"` + message + `"}}`))
}

// onLoopback reports whether the request arrived at a loopback address of this machine.
func onLoopback(r *http.Request) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// ownName reports whether no other site can have this name.
func ownName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return host == "" || host == "localhost" || net.ParseIP(strings.Trim(host, "[]")) != nil
}

// sameOrigin is true for programs, which send no Origin, and for our own pages.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

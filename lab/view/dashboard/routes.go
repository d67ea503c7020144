package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/web"
)

// orderMost bounds the size of a request body, in bytes.
const orderMost = 1024

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { serveFile(w, "live/page.html") })
	mux.HandleFunc("GET /web/{file...}", func(w http.ResponseWriter,
		r *http.Request) {
		serveFile(w, r.PathValue("file"))
	})
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /report", s.showReport)
	mux.HandleFunc("POST /users", s.order(func(o order) error { return s.controller.SetUsers(o.Users) }))
	mux.HandleFunc("POST /pause", s.order(func(order) error { return s.controller.Pause(true) }))
	mux.HandleFunc("POST /resume", s.order(func(order) error { return s.controller.Pause(false) }))
	mux.HandleFunc("POST /end", s.order(func(order) error { return s.controller.End() }))
	return mux
}

func serveFile(w http.ResponseWriter, name string) {
	text, kind, ok := web.Served(name)
	if !ok {
		http.Error(w, "No such file.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text)
}

// showReport serves the file as it is; its own policy says which scripts may run.
func (s *Server) showReport(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	path := s.report
	s.mu.Unlock()
	if path == "" {
		http.Error(w, "There is no report yet.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Security-Policy", "frame-ancestors 'none'")
	http.ServeFile(w, r, path)
}

// order is the body of a change.
type order struct {
	Users int `json:"users"`
}

// order carries out a change; the answer is empty, or the error.
func (s *Server) order(do func(order) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var o order
		if r.Header.Get("Content-Type") != "application/json" {
			answer(w, http.StatusUnsupportedMediaType, "the body must be application/json")
			return
		}
		body := json.NewDecoder(http.MaxBytesReader(w, r.Body, orderMost))
		body.DisallowUnknownFields()
		if err := body.Decode(&o); err != nil {
			answer(w, http.StatusBadRequest, "the body is not a valid command: "+err.Error())
			return
		}
		if s.controller == nil {
			answer(w, http.StatusConflict, "this run cannot be controlled")
			return
		}
		if err := do(o); err != nil {
			answer(w, statusOf(err), human.Redact(err.Error()))
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// statusOf distinguishes a wrong request from one at the wrong time.
func statusOf(err error) int {
	if problem.ClassOf(err) == problem.Usage {
		return http.StatusBadRequest
	}
	return http.StatusConflict
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": text})
}

// refuse says where to find the token.
func (s *Server) refuse(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprint(w, refusal)
}

const refusal = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plimsoll: no token</title>
</head>
<body>
<h1>This dashboard needs its token</h1>
<p>Open the address that <code>plimsoll run --ui</code> printed in its terminal, including the part after
<code>?token=</code>. Every run has a token of its own.</p>
</body>
</html>
`

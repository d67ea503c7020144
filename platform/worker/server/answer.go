package server

import (
	"net/http"
	"strings"
)

// answer is one response.
type answer struct {
	status int
	body   []byte
	header [][2]string // more header lines
}

// withHeader adds a line to the header.
func (a answer) withHeader(name, value string) answer {
	a.header = append(a.header, [2]string{name, value})
	return a
}

func (s *Server) write(w http.ResponseWriter, a answer) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set(WorkerHeader, "1")
	if len(a.body) > 0 {
		h.Set("Content-Type", jsonType)
	}
	for _, line := range a.header {
		h.Set(line[0], line[1])
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client may have gone
}

// WorkerHeader of an answer says that a worker gave it: a load may be marked there (POST /health/load).
const WorkerHeader = "Plimsoll-Worker"

const jsonType = "application/json"

// printable reports whether a header's value is printable ASCII without spaces.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < 0x21 || r > 0x7e }) < 0
}

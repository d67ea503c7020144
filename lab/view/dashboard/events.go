package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"plimsoll/lab/run/live"
)

const (
	// pagesMost is the maximum number of open pages; each costs the measured machine something.
	pagesMost = 16
	// eventGapDefault is the least time between two events of a page.
	eventGapDefault = 200 * time.Millisecond
	// alive is the interval of keep-alive messages.
	alive = 15 * time.Second
	// writeWithin is how long a page may take to read; a slower one is cut off and reconnects by itself.
	writeWithin = 10 * time.Second
	// reconnectMS is when a page that was cut off reconnects, in milliseconds.
	reconnectMS = 1000
)

// events streams what is new since the number that the page last saw.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.pages <- struct{}{}:
		defer func() { <-s.pages }()
	default:
		http.Error(w, "Too many pages are open.", http.StatusServiceUnavailable)
		return
	}
	seen, _ := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64) // none, or not ours: everything
	w.Header().Set("Content-Type", "text/event-stream")
	to := &stream{w: w, c: http.NewResponseController(w)}
	if to.write(fmt.Sprintf("retry: %d\n\n", reconnectMS)) != nil {
		return
	}
	for {
		delta, more := s.picture.Since(seen)
		if to.send(delta) != nil {
			return
		}
		seen = delta.N
		if !s.wait(r, to, more) {
			return
		}
	}
}

// wait for something new; false: the page is closed or the server ends.
func (s *Server) wait(r *http.Request, to *stream, more <-chan struct{}) bool {
	select {
	case <-time.After(s.eventGap):
	case <-r.Context().Done():
		return false
	case <-s.leaving:
		return s.last(more)
	}
	for {
		select {
		case <-more:
			return true
		case <-r.Context().Done():
			return false
		case <-s.leaving:
			return s.last(more)
		case <-time.After(alive):
			if to.write(": still here\n\n") != nil {
				return false
			}
		}
	}
}

// last says whether a page that is being closed still has something to see.
func (s *Server) last(more <-chan struct{}) bool {
	select {
	case <-more:
		return true
	default:
		return false
	}
}

// stream is the response to one page.
type stream struct {
	w http.ResponseWriter
	c *http.ResponseController
}

func (s *stream) send(d live.Delta) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("id: %d\ndata: %s\n\n", d.N, text))
}

func (s *stream) write(text string) error {
	if err := s.c.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.c.Flush()
}

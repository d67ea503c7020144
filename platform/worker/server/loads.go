package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"plimsoll/platform/books/document"
	"plimsoll/platform/worker/presence"
)

const (
	// loadLease is how long a load's mark stays without a renewal: its generator may have been killed.
	loadLease = 5 * time.Second
	// loadsMax bounds the connections of marks.
	loadsMax = 16
	// loadWithin bounds the work for one renewal.
	loadWithin = 5 * time.Second
	// loadNameMax is what the database keeps of a name.
	loadNameMax = 63
)

var errLoads = errors.New("too many loads at once")

// LoadReport is the body of POST /health/load.
type LoadReport struct {
	Load string `json:"load"` // name that other loads see
	Key  string `json:"key"`  // of this load alone
	Ends bool   `json:"ends,omitempty"`
}

// loads mark the database for load generators that reach it only through this worker.
//
//	POST /health/load ──▶ marked ──▶ renewed each second ──▶ ends, or no renewal for loadLease ──▶ the mark is gone
type loads struct {
	mutex  sync.Mutex
	marked map[string]*lease // by key
}

type lease struct {
	*presence.Mark
	renewed time.Time
}

// markLoad marks the database, or renews the mark, and tells who else uses it.
func (s *Server) markLoad(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), loadWithin)
	defer cancel()
	others, err := s.renewLoad(ctx, w, r)
	if err != nil {
		f, expected := classify(err)
		if !expected {
			s.log.Warn("mark a load", "error", err)
		}
		s.write(w, failed(f))
		return
	}
	body, _ := json.Marshal(others)
	s.write(w, answer{status: http.StatusOK, body: body})
}

func (s *Server) renewLoad(ctx context.Context, w http.ResponseWriter, r *http.Request) (others presence.OtherUsers,
	err error) {
	if err := checkJSON(r); err != nil {
		return others, err
	}
	body, err := readBody(w, r)
	if err != nil {
		return others, err
	}
	var report LoadReport
	if json.Unmarshal(body, &report) != nil || !text(report.Load, loadNameMax) || report.Load == "" ||
		!text(report.Key, loadNameMax) || report.Key == "" {
		return others, &document.Invalid{Field: "load", Reason: "a name and a key are expected"}
	}
	s.loads.mutex.Lock()
	defer s.loads.mutex.Unlock()
	l := s.loads.marked[report.Key]
	if report.Ends {
		s.loads.end(report.Key)
		return presence.OtherUsers{Loads: []string{}, AtWork: map[string]int{}}, nil
	}
	if l == nil {
		if len(s.loads.marked) >= loadsMax {
			return others, &limited{codeLimited, errLoads.Error(), loadLease}
		}
		if l, err = s.beginLoad(ctx, report); err != nil {
			return others, err
		}
	}
	l.renewed = time.Now()
	if others, err = l.Look(ctx); err != nil {
		s.loads.end(report.Key) // its connection may be lost: the next renewal makes another
	}
	return others, err
}

func (s *Server) beginLoad(ctx context.Context, report LoadReport) (*lease, error) {
	conn, err := s.db.Apart(ctx, report.Load)
	if err != nil {
		return nil, err
	}
	mark, err := presence.On(ctx, conn, s.db.Application())
	if err != nil {
		return nil, fmt.Errorf("mark a load: %w", err)
	}
	if s.loads.marked == nil {
		s.loads.marked = map[string]*lease{}
	}
	l := &lease{Mark: mark}
	s.loads.marked[report.Key] = l
	return l, nil
}

// end a mark; the caller has the mutex.
func (l *loads) end(key string) {
	if mark := l.marked[key]; mark != nil {
		ctx, cancel := context.WithTimeout(context.Background(), loadWithin)
		defer cancel()
		mark.Close(ctx)
		delete(l.marked, key)
	}
}

// endAll marks that have not been renewed since.
func (l *loads) endAll(since time.Time) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for key, mark := range l.marked {
		if mark.renewed.Before(since) {
			l.end(key)
		}
	}
}

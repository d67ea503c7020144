package server

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"plimsoll/ground/human"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/lock"
)

// Kinds of events. Each is one line of the event log, which does not list every request.
const (
	eventLogin  = "login"
	eventLogout = "logout"
	// eventLoginRefused names the user as the client gave it.
	eventLoginRefused = "login_refused"
	eventRefused      = "refused"
	eventRetried      = "retried"
	eventLockTimeout  = "lock_timeout"
	eventFailed       = "failed"
	eventSlow         = "slow"
	eventTrace        = "trace"
	eventStarts       = "worker_starts"
	eventDrains       = "worker_drains"
	eventEnds         = "worker_ends"
)

// logRequest writes the events of one request.
func (s *Server) logRequest(e *Endpoint, r *request, f *failure, p phases, cost database.Counters, t *trace) {
	if !s.events.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	about := []any{"operation", e.Operation, "ms", human.MS(p.body + p.queue + p.work)}
	if r.session != nil {
		about = append(about, "user", r.user.Code, "organisation", r.user.Organisation.String())
	}
	say := func(event string, more ...any) {
		s.events.Info(event, append(about[:len(about):len(about)], more...)...)
	}
	switch {
	case f != nil && f.Code == codeRefused:
		say(eventRefused, "control", f.Control.ID)
	case f != nil && f.Code == codeLocked:
		say(eventLockTimeout, "holders", f.holders, "waited_ms", human.MS(p.work))
	case f != nil && statusOf(f.Code) >= 500:
		say(eventFailed, "code", f.Code)
	}
	if cost.Retries > 0 {
		say(eventRetried, "retries", cost.Retries)
	}
	if s.config.Slow > 0 && p.body+p.queue+p.work >= s.config.Slow {
		say(eventSlow, "body_ms", human.MS(p.body), "queue_ms", human.MS(p.queue), "work_ms",
			human.MS(p.work), "statements", cost.Statements, "round_trips", cost.RoundTrips)
	}
	if t != nil {
		s.events.Info(eventTrace, "trace", t)
	}
}

// lockShown is what a client may know of the holders of a lock: names within its own organisation only.
type lockShown struct {
	Holders []holderShown `json:"holders"`
}

type holderShown struct {
	User      string  `json:"user,omitempty"`
	Operation string  `json:"operation,omitempty"`
	Worker    string  `json:"worker,omitempty"`
	State     string  `json:"state,omitempty"`
	HeldMS    float64 `json:"held_ms"`
}

// explain adds the lock's holders to a failure caused by a lock timeout.
func (s *Server) explain(f *failure, err error, organisation string) {
	var timeout *database.LockTimeout
	if f.Code != codeLocked || !errors.As(err, &timeout) {
		return
	}
	story, _ := s.watch.Story(timeout.Backend)
	f.Lock = &lockShown{Holders: []holderShown{}}
	for _, h := range story.Holders {
		shown := holderShown{HeldMS: human.MS(h.Held.Round(time.Millisecond)), State: h.State,
			Operation: h.Operation}
		f.holders = append(f.holders, named(h))
		if h.Organisation == organisation && h.Organisation != "" {
			shown.User, shown.Worker = h.User, h.Worker
		}
		f.Lock.Holders = append(f.Lock.Holders, shown)
	}
	if len(story.Holders) > 0 {
		f.Message = s.describeHolder(f.Lock.Holders[0])
	}
}

// describeHolder describes a holder to the user.
func (s *Server) describeHolder(h holderShown) string {
	holder, work := "another session", "something else"
	if h.User != "" {
		holder = h.User
	}
	if h.Operation != "" {
		work = h.Operation
	}
	held := (time.Duration(h.HeldMS) * time.Millisecond).Round(time.Second)
	return holder + " has locked what this operation needs for " + held.String() + " with " + work + "; try again"
}

// named is a holder as written to the event log.
func named(h lock.Holder) map[string]any {
	return map[string]any{
		"backend": h.Backend, "worker": h.Worker, "user": h.User, "operation": h.Operation,
		"organisation": h.Organisation,
		"state":        h.State, "held_ms": human.MS(h.Held),
	}
}

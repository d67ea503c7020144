package line

import (
	"fmt"
	"strings"

	"plimsoll/lab/apdex"
)

// Limit is what keeps the system from carrying more, as far as the evidence goes.
type Limit struct {
	Resource string   `json:"resource"` // NotKnown, or in words
	Evidence []string `json:"evidence"` // for it and around it
}

// NotKnown is a limit that the evidence does not name.
const NotKnown = "not known"

// From where on a figure speaks for a limit.
const (
	machineBusy  = 0.85 // of all cores
	ownShare     = 0.40 // of what the machine does, or of the sessions at work
	refusedShare = 0.05 // of the operations
	connections  = 0.90 // of a pool
)

// limitOf names the resource from the trial that failed closest above the line. The
// order is that of causes: who has no load cannot judge, who has no processor waits
// everywhere.
func limitOf(t Trial, pool int) Limit {
	l := Limit{Resource: NotKnown, Evidence: evidence(t)}
	name := func(format string, args ...any) Limit {
		l.Resource = fmt.Sprintf(format, args...)
		return l
	}
	wait := heaviest(t.Waits)
	switch {
	case t.Operations > 0 && float64(t.Overload) > refusedShare*float64(t.Operations):
		return name("the queue of the application servers: they refused work as too much")
	case known(t.CPU.Machine) >= machineBusy:
		return name("%s", busiest(t))
	case pool > 0 && t.Waits.Active >= connections*float64(pool) && t.InFlight > pool:
		return name("the %d connections to the database: all are at work while users wait for one", pool)
	case wait.Sessions > ownShare*t.Waits.Active && wait.Sessions >= 1:
		return name("%s", inWords(wait))
	}
	return l
}

func known(share *float64) float64 {
	if share == nil {
		return 0
	}
	return *share
}

// busiest names who uses the processors.
func busiest(t Trial) string {
	all := known(t.CPU.Machine)
	parts := []struct {
		name  string
		share *float64
	}{{"database", t.CPU.Database}, {"application servers", t.CPU.Workers}, {"generator", t.CPU.Generator}}
	best, sum := parts[0], 0.0
	for _, p := range parts {
		sum += known(p.share)
		if known(p.share) > known(best.share) {
			best = p
		}
	}
	switch {
	case all-sum > ownShare*all:
		return fmt.Sprintf("the processors of this machine, %.0f %% of which other processes use", 100*(all-sum))
	case known(best.share) > ownShare*all:
		return fmt.Sprintf("the processors, most of all for the %s", best.name)
	}
	return "the processors of this machine, which generator, application servers and database share"
}

// heaviest adds up the waits of one kind: locks of all sorts are one thing, and so is the
// flush of the log whoever waits for it.
func heaviest(w Waits) (most Wait) {
	sums := map[string]Wait{}
	for _, e := range w.Events {
		kind := kindOf(e)
		if kind == "" {
			continue
		}
		sum := sums[kind]
		if sum.Sessions == 0 {
			sum = Wait{Type: kind, Event: e.Event}
		}
		sum.Sessions += e.Sessions
		if sums[kind] = sum; sum.Sessions > most.Sessions {
			most = sum
		}
	}
	return most
}

// kindOf a wait; empty for the processor and for waiting on the client, which is no limit
// of the database's.
func kindOf(e Wait) string {
	switch {
	case strings.HasPrefix(strings.ToUpper(e.Event), "WAL"), e.Event == "CommitDelay":
		return "wal"
	case e.Type == "Lock":
		return "lock"
	case e.Type == "LWLock" || e.Type == "BufferPin":
		return "latch"
	case e.Type == "IO":
		return "io"
	case e.Type == "Timeout":
		return "sleep"
	}
	return ""
}

func inWords(w Wait) string {
	switch w.Type {
	case "wal":
		return "the flush of the write-ahead log"
	case "lock":
		return fmt.Sprintf("locks (mostly %s)", w.Event)
	case "latch":
		return fmt.Sprintf("a lock inside the server (mostly %s)", w.Event)
	case "sleep":
		return fmt.Sprintf("time the server was told to wait (%s)", w.Event)
	}
	return fmt.Sprintf("reading and writing of data (mostly %s)", w.Event)
}

// evidence is what was measured, whether it names a limit or not.
func evidence(t Trial) (lines []string) {
	lines = append(lines, fmt.Sprintf("at %d users: %s", t.Users, scoreAndRate(t)))
	lines = append(lines, fmt.Sprintf("processors, share of all: machine %s, database %s, application servers %s, generator %s, stolen %s",
		percent(t.CPU.Machine), percent(t.CPU.Database), percent(t.CPU.Workers), percent(t.CPU.Generator), percent(t.CPU.Steal)))
	if t.Waits.Samples == 0 {
		lines = append(lines, "waits of the database: unavailable")
	} else {
		lines = append(lines, fmt.Sprintf("sessions of the database at work: %.1f on average, %s", t.Waits.Active, waitsText(t.Waits)))
	}
	if t.Overload > 0 {
		lines = append(lines, fmt.Sprintf("refused as too much: %d of %d operations", t.Overload, t.Operations))
	}
	return lines
}

func scoreAndRate(t Trial) string {
	score := "no score"
	if t.Apdex != nil {
		score = "Apdex " + apdex.Text(*t.Apdex)
	}
	text := fmt.Sprintf("%s, %.1f operations/s", score, t.OpsPerS)
	if t.Why != "" {
		text += "; " + t.Why
	}
	return text
}

func percent(share *float64) string {
	if share == nil {
		return "unavailable"
	}
	return fmt.Sprintf("%.0f %%", 100**share)
}

func waitsText(w Waits) string {
	var parts []string
	for _, e := range w.Events[:min(4, len(w.Events))] {
		name := "without a wait"
		if e.Type != "" {
			name = e.Type + " " + e.Event
		}
		parts = append(parts, fmt.Sprintf("%.1f %s", e.Sessions, name))
	}
	return strings.Join(parts, ", ")
}

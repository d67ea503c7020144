package line

import (
	"fmt"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
)

// Limit is the resource that keeps the system from carrying more, as far as the evidence shows.
type Limit struct {
	Resource string   `json:"resource"` // NotKnown, or a few words
	Evidence []string `json:"evidence"` // for this limit, and other measurements
}

// NotKnown: the evidence names no limit.
const NotKnown = "not known"

// Thresholds from which a figure points to a limit.
const (
	machineBusy  = 0.85 // of all cores
	ownShare     = 0.40 // of the machine's work, or of the active sessions
	refusedShare = 0.05 // of the operations
	findingShare = 0.25 // of the operations' time: what takes less is not what keeps them from being faster
	connections  = 0.90 // of a pool
)

// limitOf names the resource from the failed trial closest above the line, causes first: without load nothing can be
// judged, and with all processors busy everything waits. But processors limit only a system that uses them: one that
// sleeps while others use them waits for something else.
func limitOf(t Trial, pool int, q *queue) Limit {
	l := Limit{Resource: NotKnown, Evidence: evidence(t, q)}
	name := func(format string, args ...any) Limit {
		l.Resource = fmt.Sprintf(format, args...)
		return l
	}
	if len(t.Findings) > 0 {
		f := t.Findings[0]
		l.Evidence = append(l.Evidence, f.Evidence...)
	}
	busy := result.ValueOrZero(t.CPU.Machine) >= machineBusy
	wait := heaviest(t.Waits)
	waits := wait.Sessions > ownShare*t.Waits.Active && wait.Sessions >= 1
	switch {
	case t.Operations > 0 && float64(t.Overload) > refusedShare*float64(t.Operations):
		return name("the queue of the application servers: they rejected requests (overload)")
	case len(t.Findings) > 0:
		return name("%s (%s: %.0f %% of the operations' time)", t.Findings[0].Title, t.Findings[0].Name,
			100*result.ValueOrZero(t.Findings[0].Price))
	case busy && t.measured() && !t.idle():
		return name("%s", busiest(t))
	case pool > 0 && t.Waits.Active >= connections*float64(pool) && t.InFlight > pool:
		return name("the %d connections to the database: all busy while users wait for one", pool)
	case waits && (!busy || wait.Type == "sleep"):
		return name("%s", inWords(wait))
	case q.isLong() && (t.idle() || !busy && t.CPU.Machine != nil):
		return name("a queue with idle processors: %.0f operations are served at once while %.0f users wait for their "+
			"turn", max(1, q.served), q.waiting)
	case busy && t.measured():
		return name("%s", busiest(t))
	}
	return l
}

// measured says whether the system's processor time is known.
func (t Trial) measured() bool { return t.CPU.Database != nil || t.CPU.Workers != nil }

// idle says whether the system itself uses few processors, whatever others use.
func (t Trial) idle() bool {
	own := result.ValueOrZero(t.CPU.Database) + result.ValueOrZero(t.CPU.Workers)
	return t.measured() && own < ownShare*max(result.ValueOrZero(t.CPU.Machine), machineBusy) && t.CPU.Machine != nil
}

// busiest names the main user of the processors.
func busiest(t Trial) string {
	all := result.ValueOrZero(t.CPU.Machine)
	parts := []struct {
		name  string
		share *float64
	}{{"database", t.CPU.Database}, {"application servers", t.CPU.Workers}, {"generator", t.CPU.Generator}}
	best, sum := parts[0], 0.0
	for _, p := range parts {
		sum += result.ValueOrZero(p.share)
		if result.ValueOrZero(p.share) > result.ValueOrZero(best.share) {
			best = p
		}
	}
	switch {
	case all-sum > ownShare*all:
		return fmt.Sprintf("the processors of this machine, %.0f %% of which other processes use", 100*(all-sum))
	case result.ValueOrZero(best.share) > ownShare*all:
		return fmt.Sprintf("the processors, mainly for the %s", best.name)
	}
	return "the processors of this machine, which generator, application servers and database share"
}

// heaviest sums the waits of one kind: all kinds of locks together, and the log flush whoever waits for it.
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

// kindOf classifies a wait event; empty for what is no limit of the database: the processor, waiting on the client.
func kindOf(e Wait) string {
	switch class := (waits.Event{Type: e.Type, Name: e.Event}).Class(); class {
	case waits.WAL:
		return "wal"
	case waits.Standby, waits.Lock, waits.Latch, waits.IO, waits.Sleep:
		return string(class)
	}
	return ""
}

func inWords(w Wait) string {
	switch w.Type {
	case "wal":
		return "the flush of the write-ahead log"
	case string(waits.Standby):
		return "commits that wait for a synchronous standby"
	case "lock":
		return fmt.Sprintf("locks (mostly %s)", w.Event)
	case "latch":
		return fmt.Sprintf("a lock inside the server (mostly %s)", w.Event)
	case "sleep":
		return fmt.Sprintf("deliberate delays of the server (%s)", w.Event)
	}
	return fmt.Sprintf("reading and writing of data (mostly %s)", w.Event)
}

// evidence lists what was measured, whether it names a limit or not.
func evidence(t Trial, q *queue) (lines []string) {
	lines = append(lines, fmt.Sprintf("at %d users: %s", t.Users, scoreAndRate(t)))
	lines = append(lines, fmt.Sprintf("processors, share of all: machine %s, database %s, application servers %s, "+
		"generator %s, stolen %s",
		percent(t.CPU.Machine), percent(t.CPU.Database), percent(t.CPU.Workers), percent(t.CPU.Generator),
		percent(t.CPU.Steal)))
	if t.Waits.Samples == 0 {
		lines = append(lines, "waits of the database: unavailable")
	} else {
		lines = append(lines, fmt.Sprintf("active sessions of the database: %.1f on average, %s", t.Waits.Active,
			waitsText(t.Waits)))
	}
	if q != nil {
		lines = append(lines, q.evidence())
	}
	if t.Overload > 0 {
		lines = append(lines, fmt.Sprintf("rejected (overload): %d of %d operations", t.Overload, t.Operations))
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

func percent(share *float64) string { return human.Known(share, "unavailable", human.Percent) }

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

package diagnose

import (
	"cmp"
	"slices"

	"plimsoll/ground/postgres/waits"
)

// Ledger is where the sessions' time went while they were active or in a transaction. Its lines add up to all of it;
// what no source explains has its own line.
type Ledger struct {
	// ObservedS is the time that the samples cover; UnobservedS is the time that they miss because the sampler or the
	// server stood still.
	ObservedS   float64 `json:"observed_s"`
	UnobservedS float64 `json:"unobserved_s"`
	Samples     int     `json:"samples"`
	TotalS      float64 `json:"total_s"`          // of all sessions
	Sessions    float64 `json:"sessions_at_work"` // on average
	Most        int     `json:"sessions_most"`
	Lines       []Line  `json:"lines"`
	// Processor says how running sessions were split, or why they could not be.
	Processor string `json:"processor"`
}

// Line is one class of waits.
type Line struct {
	Class  string  `json:"class"`
	Name   string  `json:"name"`
	S      float64 `json:"s"`
	Share  float64 `json:"share"`
	Events []Event `json:"events,omitempty"`
}

// Event is one wait event and what waited in it.
type Event struct {
	Name string `json:"name"`
	// WaitsFor says what it means; empty: it is no wait, or not known.
	WaitsFor     string  `json:"waits_for,omitempty"`
	S            float64 `json:"s"`
	Share        float64 `json:"share"`
	Statements   []Part  `json:"statements,omitempty"`
	Applications []Part  `json:"applications,omitempty"`
	Objects      []Part  `json:"objects,omitempty"`
	Operations   []Part  `json:"operations,omitempty"` // if a timeline knows them
	Timed        *Timed  `json:"timed,omitempty"`      // by the server itself, if it times waits
}

// Part is a share of the time of its parent.
type Part struct {
	Name  string  `json:"name"`
	S     float64 `json:"s"`
	Share float64 `json:"share"`
}

// Lines that are not classes of waits.
const (
	OnCPU       = "cpu" // on a processor
	forCPU      = "run queue"
	Unsplit     = "running" // on a processor or waiting for one: without the scheduler's figures
	unexplained = "unexplained"
)

// lineNames are the titles shown.
var lineNames = map[string]string{
	OnCPU: "on a processor", forCPU: "waiting for a processor", Unsplit: "running, or waiting for a processor",
	unexplained: "unexplained", string(waits.Client): "client or network", string(waits.Lock): "locks of rows and " +
		"tables",
	string(waits.Latch): "locks inside the server", string(waits.WAL): "write-ahead " +
		"log", string(waits.IO): "reading and writing",
	string(waits.Standby): "synchronous standbys",
	string(waits.IPC):     "other server processes", string(waits.Sleep): "sleeping on purpose",
	string(waits.Extension): "extensions", string(waits.Other): "waits that this program does not know",
}

// partsKept is the number of parts kept at each level.
const partsKept = 5

// scheduled is what the scheduler says about the sessions' processes; nil if it cannot be read.
type scheduled struct{ ran, waited float64 }

// queued is the part of the time of processes that are ready to run in which they have no processor.
func (s *scheduled) queued() float64 {
	if s == nil || s.waited <= 0 {
		return 0
	}
	return s.waited / (s.ran + s.waited)
}

// ledger splits the time. Sessions without a wait are on a processor as long as the scheduler says, then in its queue;
// the rest is unexplained: a page fault, the hypervisor, the time between two events.
func (b *book) ledger(cpu *scheduled, why string) Ledger {
	total := b.total()
	l := Ledger{ObservedS: b.seconds, UnobservedS: b.unobserved, Samples: b.looks, TotalS: total, Most: b.most,
		Lines: []Line{}, Processor: why}
	if b.seconds > 0 {
		l.Sessions = total / b.seconds
	}
	for class, events := range b.byClass() {
		if class == waits.Running {
			l.addRunning(events, cpu, total)
			continue
		}
		l.add(string(class), sumOf(events), total, events)
	}
	slices.SortFunc(l.Lines, func(a, b Line) int {
		if last := cmp.Compare(rank(a), rank(b)); last != 0 {
			return last
		}
		return compareDown(a.S, b.S, a.Class, b.Class)
	})
	return l
}

// rank sorts the lines and puts the unexplained one last.
func rank(l Line) int {
	if l.Class == unexplained {
		return 1
	}
	return 0
}

func (b *book) byClass() map[waits.Class][]Event {
	classes := map[waits.Class][]Event{}
	for key, w := range b.events {
		name := key.event.String()
		if key.gap {
			name = "between statements of a transaction"
		}
		classes[key.class] = append(classes[key.class], Event{Name: name, S: w.seconds,
			Statements: parts(w.statements, partsKept), Applications: parts(w.applications, partsKept),
			Operations: parts(w.operations, partsKept)})
	}
	for class, events := range classes {
		slices.SortFunc(events, func(a, b Event) int { return compareDown(a.S, b.S, a.Name, b.Name) })
		if class == waits.Lock {
			b.addObjects(events)
		}
	}
	return classes
}

// addObjects adds to the lock events what the stories know.
func (b *book) addObjects(events []Event) {
	objects := amounts{}
	for _, s := range b.sortedStories() {
		objects.add(s.Object, s.LostS)
	}
	if len(events) > 0 {
		events[0].Objects = parts(objects, partsKept)
	}
}

func (l *Ledger) addRunning(events []Event, cpu *scheduled, total float64) {
	all := sumOf(events)
	if cpu == nil {
		l.add(Unsplit, all, total, events)
		return
	}
	ran := min(all, cpu.ran)
	queued := min(all-ran, cpu.waited)
	l.add(OnCPU, ran, total, events)
	l.add(forCPU, queued, total, nil)
	l.add(unexplained, all-ran-queued, total, nil)
}

func (l *Ledger) add(class string, seconds, total float64, events []Event) {
	if seconds <= 0 || total <= 0 {
		return
	}
	for i := range events {
		events[i].Share = events[i].S / total
	}
	name := nonEmpty(lineNames[class], class)
	l.Lines = append(l.Lines, Line{Class: class, Name: name, S: seconds, Share: seconds / total, Events: events})
}

// share of a line; 0 if nothing of the kind was seen, since every sample looked for it.
func (l Ledger) share(class string) float64 {
	for _, line := range l.Lines {
		if line.Class == class {
			return line.Share
		}
	}
	return 0
}

// line of a class; nil: none.
func (l Ledger) line(class string) *Line {
	for i := range l.Lines {
		if l.Lines[i].Class == class {
			return &l.Lines[i]
		}
	}
	return nil
}

// running is the share of sessions without a wait, however it was split.
func (l Ledger) running() float64 {
	return l.share(OnCPU) + l.share(forCPU) + l.share(Unsplit) + l.share(unexplained)
}

func sumOf(events []Event) (seconds float64) {
	for _, e := range events {
		seconds += e.S
	}
	return seconds
}

// parts returns the largest parts with their shares.
func parts(a amounts, most int) (all []Part) {
	sum := 0.0
	for _, s := range a {
		sum += s
	}
	for name, s := range a {
		if s > 0 {
			all = append(all, Part{name, s, s / sum})
		}
	}
	slices.SortFunc(all, func(a, b Part) int { return compareDown(a.S, b.S, a.Name, b.Name) })
	return all[:min(most, len(all))]
}

func compareDown(a, b float64, nameA, nameB string) int {
	return cmp.Or(cmp.Compare(b, a), cmp.Compare(nameA, nameB))
}

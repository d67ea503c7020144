package diagnose

import (
	"fmt"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/event"
)

// addMeanings says of each event of the ledger what it waits for.
func (m *measured) addMeanings() {
	for i := range m.ledger.Lines {
		for j := range m.ledger.Lines[i].Events {
			e := &m.ledger.Lines[i].Events[j]
			if kind, name, is := strings.Cut(e.Name, ":"); is {
				meaning, _ := event.Of(waits.Event{Type: kind, Name: name})
				e.WaitsFor = meaning.Waits
			}
		}
	}
}

// eventsIn classes, by how long sessions waited in them without statements that a problem explains.
func (m *measured) eventsIn(classes []waits.Class, keep func(e waits.Event) bool) []Part {
	times := amounts{}
	for key, w := range m.book.events {
		if key.gap || !has(classes, key.class) || keep != nil && !keep(key.event) {
			continue
		}
		for sql, seconds := range w.statements {
			if !m.known(sql, key.class) {
				times.add(key.event.String(), seconds)
			}
		}
	}
	return parts(times, partsKept)
}

func has(classes []waits.Class, class waits.Class) bool {
	for _, c := range classes {
		if c == class {
			return true
		}
	}
	return false
}

const lookUp = "look up the wait event in PostgreSQL's documentation (Monitoring Database Activity)"

// tell a finding about a class of waits by its events: each has a cause, a question and a cure of its own.
func (m *measured) tell(f *Finding, all []Part) {
	const most = 3
	f.Next = nil
	for i, e := range all[:min(most, len(all))] {
		share := e.S / max(m.ledger.TotalS, 1e-9)
		if i > 0 && share < noteFrom.Value {
			break
		}
		kind, name, _ := strings.Cut(e.Name, ":")
		meaning, known := event.Of(waits.Event{Type: kind, Name: name})
		if i == 0 {
			f.Title += ": " + e.Name
		}
		if !known {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s, %s of the time, is not known to this program", e.Name,
				human.Percent(share)))
			f.Next = append(f.Next, lookUp)
			continue
		}
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s, %s of the time: they wait for %s", e.Name,
			human.Percent(share), meaning.Waits))
		f.Next = append(f.Next, e.Name+": "+meaning.Ask, e.Name+": "+meaning.Cure)
	}
}

// ofEvents is a finding about classes of waits, told by their events.
func (m *measured) ofEvents(price float64, title, mechanism string, classes []waits.Class,
	excluded ...string) *Finding {
	f := &Finding{Price: new(price), Title: title, Mechanism: mechanism, Excluded: append([]string{}, excluded...)}
	for _, class := range classes {
		f.Evidence = append(f.Evidence, m.top(class)...)
	}
	m.tell(f, m.eventsIn(classes, nil))
	return f
}

// ofExtensions: the code of an extension waits for something by itself.
var ofExtensions = cause{
	name:    "extension-waits",
	healthy: "",
	classes: []waits.Class{waits.Extension},
	find: func(m *measured) (*Finding, string) {
		classes := []waits.Class{waits.Extension}
		return m.ofEvents(m.unexplainedShare(waits.Extension), "Sessions wait within an extension",
			"An extension waits by its own code: for a foreign server, a program, a queue or a lock of its own. "+
				"PostgreSQL does not know for what.", classes, "these are not waits of PostgreSQL itself"), ""
	},
}

// notKnown: waits of a type that a newer server may have.
var notKnown = cause{
	name:    "unknown-waits",
	healthy: "",
	classes: []waits.Class{waits.Other},
	find: func(m *measured) (*Finding, string) {
		return m.ofEvents(m.unexplainedShare(waits.Other), "Sessions wait for what this program does not know",
			"The server names a type of wait that is newer than this program.", []waits.Class{waits.Other}), ""
	},
}

// insertsLog says whether an event is the way into the log's memory, which no faster flush helps.
func insertsLog(e waits.Event) bool {
	return e.Type == "LWLock" && (e.Name == "WALInsert" || e.Name == "WALBufMapping")
}

// inserting is the share of the time that sessions wait to put records into the log's memory.
func (m *measured) inserting() (share float64) {
	for _, e := range m.eventsIn(inLog, insertsLog) {
		share += e.S / max(m.ledger.TotalS, 1e-9)
	}
	return share
}

// logInsertion: many sessions write the log at once.
var logInsertion = cause{
	name:    "log-insertion",
	healthy: "",
	classes: inLog,
	find: func(m *measured) (*Finding, string) {
		share := m.inserting()
		if share < noteFrom.Value {
			return nil, ""
		}
		f := &Finding{Price: new(share), Title: "Sessions wait to put their changes into the log's memory",
			Mechanism: "Records go into the buffers of the log in turn. Many sessions that write much wait for each " +
				"other there, before any commit and whatever a flush takes.",
			Evidence: m.logAmounts(), Excluded: []string{"the log's disk: this wait comes before writing and flushing"}}
		m.tell(f, m.eventsIn(inLog, insertsLog))
		return f, ""
	},
}

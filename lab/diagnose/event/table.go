package event

import (
	"fmt"
	"strings"

	"plimsoll/ground/human"
)

const tableHead = `# Wait events, what they mean and what helps

Generated from the texts in ` + "`lab/diagnose/event`" + ` by ` +
	"`go test ./lab/diagnose/event -rewrite`" + `.
A test asks real servers from 17 on (pg_wait_events), so that none is forgotten.
` + "`plimsoll diagnose`" + ` says of each event that takes a part of the time what is written here. ` +
	`Older servers write some
names with other capitals. An event that is not in this list is said to be unknown.
`

// Table of all events for the documents, by type and subject.
func Table() string {
	var b strings.Builder
	b.WriteString(tableHead)
	types := []string{"Client", "Lock", "LWLock", "BufferPin", "IPC", "Timeout", "IO", "Extension", "Activity"}
	for _, kind := range types {
		fmt.Fprintf(&b, "\n## %s\n", kind)
		for _, subject := range subjects(kind) {
			first := subject[0]
			fmt.Fprintf(&b, "\n### %s: %s\n\n", kind, first.Subject)
			b.WriteString(folded("Ask: "+first.Ask) + "\n\n" + folded("Helps: "+first.Cure) + "\n\n")
			b.WriteString("| event | sessions wait for | versions |\n|---|---|---|\n")
			for _, m := range subject {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", m.Name, m.Waits, m.since())
			}
		}
	}
	return b.String()
}

// subjects of a type in the order of their names, with their events.
func subjects(kind string) (all [][]Meaning) {
	place := map[string]int{}
	for _, m := range All() {
		if m.Type != kind {
			continue
		}
		i, known := place[m.Subject]
		if !known {
			i = len(all)
			place[m.Subject], all = i, append(all, nil)
		}
		all[i] = append(all[i], m)
	}
	return all
}

// lineMost of a document.
const lineMost = 120

// folded text of a paragraph.
func folded(text string) string { return strings.Join(human.Wrap(text, lineMost), "\n") }

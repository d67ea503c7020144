// Package event owns what PostgreSQL's wait events mean, from 14 on: what a session waits for, what to ask, what helps.
// The texts lie beside it: a subject with its question (?) and its cure (!), and below the events of that subject.
package event

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"plimsoll/ground/postgres/waits"
)

// Meaning of one event.
type Meaning struct {
	Type, Name string
	// From and Until are the major versions that have it; 0: all, or all that follow.
	From, Until int
	Subject     string
	Waits       string // what it waits for: it completes "sessions wait for …"
	Ask, Cure   string
}

//go:embed *.txt
var files embed.FS

// All meanings, by type and name.
var All = sync.OnceValue(func() (all []Meaning) {
	names, err := files.ReadDir(".")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		text, err := files.ReadFile(name.Name())
		if err != nil {
			panic(err)
		}
		all = append(all, parse(name.Name(), string(text))...)
	}
	slices.SortFunc(all, func(a, b Meaning) int { return strings.Compare(a.key(), b.key()) })
	return all
})

// parse a file. What it holds is compiled in, so that a wrong line is a mistake of the program.
func parse(file, text string) (all []Meaning) {
	var subject Meaning
	for i, line := range strings.Split(text, "\n") {
		head, rest, _ := strings.Cut(line, " ")
		switch head {
		case "":
		case "==":
			subject = Meaning{Subject: rest}
		case "?":
			subject.Ask = rest
		case "!":
			subject.Cure = rest
		default:
			m := subject
			name, waits, told := strings.Cut(rest, ": ")
			m.Type, m.Waits = head, waits
			name, versions, _ := strings.Cut(name, " ")
			m.Name = name
			if !told || m.Ask == "" || m.Cure == "" || !m.versions(versions) {
				panic(fmt.Sprintf("%s, line %d: %s", file, i+1, line))
			}
			all = append(all, m)
		}
	}
	return all
}

// versions are written as [17], from then on, [-15], until then, or [17-17].
func (m *Meaning) versions(text string) bool {
	if text == "" {
		return true
	}
	from, until, _ := strings.Cut(strings.Trim(text, "[]"), "-")
	for _, one := range []struct {
		text string
		to   *int
	}{{from, &m.From}, {until, &m.Until}} {
		if one.text == "" {
			continue
		}
		n, err := strconv.Atoi(one.text)
		if err != nil {
			return false
		}
		*one.to = n
	}
	return true
}

// key of an event: from 17 on their names are written with fewer capitals, as WALSync and WalSync.
func (m Meaning) key() string { return strings.ToLower(m.Type + ":" + m.Name) }

var byKey = sync.OnceValue(func() map[string]Meaning {
	all := map[string]Meaning{}
	for _, m := range All() {
		all[m.key()] = m
	}
	return all
})

// Of an event; not known: a newer server has it. Extensions name waits of their own from 17 on, which mean what the
// extension says.
func Of(e waits.Event) (m Meaning, known bool) {
	if m, known = byKey()[Meaning{Type: e.Type, Name: e.Name}.key()]; known {
		return m, true
	}
	switch e.Type {
	case "Extension", "InjectionPoint":
		m = byKey()["extension:extension"]
		m.Type, m.Name, m.Waits = e.Type, e.Name, "what an extension calls "+e.Name
		return m, true
	case "Buffer": // of 19, in place of BufferPin
		m, known = byKey()["bufferpin:bufferpin"]
		m.Type, m.Name = e.Type, e.Name
	}
	return m, known
}

// In says whether a major version has it.
func (m Meaning) In(version int) bool {
	return version >= m.From && (m.Until == 0 || version <= m.Until)
}

// range of versions in words; empty: all.
func (m Meaning) since() string {
	switch {
	case m.From == 0 && m.Until == 0:
		return ""
	case m.Until == 0:
		return fmt.Sprintf("from %d on", m.From)
	case m.From == 0:
		return fmt.Sprintf("until %d", m.Until)
	case m.From == m.Until:
		return fmt.Sprintf("%d alone", m.From)
	}
	return fmt.Sprintf("%d to %d", m.From, m.Until)
}
